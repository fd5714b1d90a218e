#include "text/utf8.hpp"

#include <cstdint>
#include <cstring>

namespace bridge {
namespace {

struct Lead {
  std::size_t length;           ///< of the character; 0: no character begins so
  unsigned char lowest = 0x80;  ///< what its second byte may be: no overlong form, no surrogate
  unsigned char highest = 0xBF;
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1};
  if (byte < 0xC2) return {0};
  if (byte < 0xE0) return {2};
  if (byte == 0xE0) return {3, 0xA0};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3};
  if (byte == 0xF0) return {4, 0x90};
  if (byte < 0xF4) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0};
}

/// How many bytes of ASCII it begins with, or fewer by up to seven.
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
  const auto byte = [text](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  for (std::size_t at = 0; at < text.size();) {
    at += ascii_run(text.substr(at));
    if (at == text.size()) break;
    const Lead lead = lead_of(byte(at));
    if (lead.length == 0 || lead.length > text.size() - at) return false;
    if (lead.length > 1 && (byte(at + 1) < lead.lowest || byte(at + 1) > lead.highest))
      return false;
    for (std::size_t next = 2; next < lead.length; ++next) {
      if ((byte(at + next) & 0xC0) != 0x80) return false;
    }
    at += lead.length;
  }
  return true;
}

}  // namespace bridge
