#pragma once

#include <string>
#include <string_view>

namespace bridge {

/// RFC 4648, section 4: with padding.
std::string base64(std::string_view bytes);
/// RFC 4648, section 5, without padding, as JWS wants it.
std::string base64url(std::string_view bytes);

}  // namespace bridge
