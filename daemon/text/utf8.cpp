#include "text/utf8.hpp"

#include <cstdint>
#include <cstring>

#include "text/characters.hpp"

namespace bridge {
namespace {

/// The number of ASCII bytes at the front, or up to seven fewer.
std::size_t ascii_run(std::string_view text) {
  constexpr std::uint64_t not_ascii = 0x8080808080808080;
  std::size_t at = 0;
  for (std::uint64_t eight = 0; at + sizeof eight <= text.size(); at += sizeof eight) {
    std::memcpy(&eight, text.data() + at, sizeof eight);
    if ((eight & not_ascii) != 0) break;
  }
  return at;
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (;;) {
    text.remove_prefix(ascii_run(text));
    if (text.empty()) return true;
    const CodePoint point = first_code_point(text);
    if (point.state != CodePoint::State::valid) return false;
    text.remove_prefix(point.length);
  }
}

}  // namespace bridge
