#include "text/characters.hpp"

namespace bridge {
namespace {

struct Lead {
  std::size_t length;
  std::uint32_t bits;
  std::uint32_t smallest;  // a smaller value is an overlong form
};

Lead classify_lead(unsigned char byte) {
  if (byte < 0x80) return {1, byte, 0};
  if ((byte & 0xE0) == 0xC0) return {2, byte & 0x1FU, 0x80};
  if ((byte & 0xF0) == 0xE0) return {3, byte & 0x0FU, 0x800};
  if ((byte & 0xF8) == 0xF0) return {4, byte & 0x07U, 0x10000};
  return {0, 0, 0};
}

}  // namespace

void append_utf8(std::string& out, std::uint32_t code) {
  const auto byte = [&out](std::uint32_t value) { out.push_back(static_cast<char>(value)); };
  if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) code = 0xFFFD;
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0 | (code >> 6));
    byte(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    byte(0xE0 | (code >> 12));
    byte(0x80 | ((code >> 6) & 0x3F));
    byte(0x80 | (code & 0x3F));
  } else {
    byte(0xF0 | (code >> 18));
    byte(0x80 | ((code >> 12) & 0x3F));
    byte(0x80 | ((code >> 6) & 0x3F));
    byte(0x80 | (code & 0x3F));
  }
}

CodePoint first_code_point(std::string_view text) {
  constexpr CodePoint wrong{CodePoint::State::invalid, 0, 1};
  const auto [length, bits, smallest] = classify_lead(static_cast<unsigned char>(text[0]));
  if (length == 0) return wrong;
  std::uint32_t value = bits;
  for (std::size_t at = 1; at < length; ++at) {
    // The second byte reveals most invalid sequences; a truncated one must still be possible.
    if (at == 2 && (value << (6 * (length - 2))) + ((1U << (6 * (length - 2))) - 1) < smallest) {
      return wrong;
    }
    if (at == text.size()) return {CodePoint::State::truncated, 0, text.size()};
    const auto byte = static_cast<unsigned char>(text[at]);
    if ((byte & 0xC0) != 0x80) return wrong;
    value = (value << 6) | (byte & 0x3FU);
  }
  if (value < smallest || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return wrong;
  return {CodePoint::State::valid, value, length};
}

}  // namespace bridge
