#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bridge {

/// RFC 4648, section 4: with padding.
std::string base64(std::string_view bytes);
/// RFC 4648, section 5, without padding, as in JWS.
std::string base64url(std::string_view bytes);

/// Decodes Base64, also of the URL alphabet, with or without padding; line breaks in it are
/// skipped. nullopt if the text is not Base64.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace bridge
