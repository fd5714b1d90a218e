#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace client {

/// The bytes of Base64 text, also of the URL alphabet, with or without padding; line breaks in it
/// are skipped. Nothing if it is no Base64.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace client
