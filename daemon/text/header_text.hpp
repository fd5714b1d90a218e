#pragma once

#include <cstddef>
#include <string_view>

namespace bridge {

/// How long each of the things may be that a peer says and that are sent on in a header.
namespace header_limit {
constexpr std::size_t protocol_version = 64;
constexpr std::size_t session_id = 1024;
constexpr std::size_t event_id = 1024;
constexpr std::size_t scope = 4096;
constexpr std::size_t url = 8192;
constexpr std::size_t token = 64u << 10;
}  // namespace header_limit

/// Whether blanks may stand between the visible characters.
enum class Blanks { none, inside };

/// The one gate for what a peer has said and a header is to carry (also a request line): visible
/// ASCII (0x21 to 0x7E), at least one character and at most `limit`. So no line end, NUL or other
/// control character can split a request or end a string early (RFC 9110, section 5.5; for the
/// session id MCP 2025-11-25, "Session Management"). Pure.
constexpr bool fits_header(std::string_view said, std::size_t limit, Blanks blanks = Blanks::none) {
  if (said.empty() || said.size() > limit || said.front() == ' ' || said.back() == ' ')
    return false;
  for (const char c : said) {
    const bool is_visible = c > 0x20 && c < 0x7F;
    if (!is_visible && (c != ' ' || blanks == Blanks::none)) return false;
  }
  return true;
}

}  // namespace bridge
