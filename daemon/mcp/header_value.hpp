#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bridge {

// How a value of a message's body stands in a header (MCP 2026-07-28, Streamable HTTP, "Value
// Encoding"). Pure.

/// The value as it is if it is visible ASCII with blanks only inside and does not look like an
/// encoded one; else, and if it is empty, its bytes in the Base64 form `=?base64?…?=`. Never a
/// control character, whatever the text.
std::string encode_header_value(std::string_view text);

/// What a header's value stands for; nothing if it has other characters than visible ASCII, blanks
/// and tabs, or is no Base64 (RFC 4648, section 4, padded) though it begins and ends so.
std::optional<std::string> decode_header_value(std::string_view value);

/// A JSON number that is an integer within what JavaScript counts exactly (-2^53+1 to 2^53-1), as
/// decimal digits: `42`, `42.0` and `4.2e1` are one. Nothing for any other text.
std::optional<std::string> integer_text(std::string_view number);

}  // namespace bridge
