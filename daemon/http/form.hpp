#pragma once

#include <string>
#include <string_view>

namespace bridge {

/// For application/x-www-form-urlencoded. A space becomes %20, which decoders of forms and of URLs
/// read alike; only those of forms read a plus sign so.
std::string form_encoded(std::string_view text);

/// Appends `name=value` to a form; an empty value is left out.
void append_field(std::string& form, std::string_view name, std::string_view value);

/// The Authorization value of client_secret_basic: both parts are form-encoded first (RFC 6749,
/// section 2.3.1).
std::string basic_credentials(std::string_view client_id, std::string_view secret);

}  // namespace bridge
