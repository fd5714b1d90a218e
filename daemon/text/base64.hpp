#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bridge {

/// RFC 4648, section 4: with padding.
std::string base64(std::string_view bytes);
/// RFC 4648, section 5, without padding, as JWS wants it.
std::string base64url(std::string_view bytes);

/// The bytes of Base64 text, also of the URL alphabet, with or without padding; line breaks in it
/// are skipped. Nothing if it is no Base64.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace bridge
