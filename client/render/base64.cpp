#include "render/base64.hpp"

#include <cstdint>

namespace client {
namespace {

constexpr int not_a_digit = -1;

int digit_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  if (c == '/' || c == '_') return 63;
  return not_a_digit;
}

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 3);
  std::uint32_t bits = 0;
  int digits = 0;
  bool padded = false;
  for (const char c : text) {
    if (c == '\r' || c == '\n') continue;
    if (c == '=') {
      padded = true;
      continue;
    }
    const int value = digit_value(c);
    if (value == not_a_digit || padded) return std::nullopt;
    bits = (bits << 6) | static_cast<std::uint32_t>(value);
    if (++digits < 4) continue;
    bytes.push_back(static_cast<char>(bits >> 16));
    bytes.push_back(static_cast<char>(bits >> 8));
    bytes.push_back(static_cast<char>(bits));
    bits = 0;
    digits = 0;
  }
  if (digits == 1) return std::nullopt;
  if (digits == 2) bytes.push_back(static_cast<char>(bits >> 4));
  if (digits == 3) {
    bytes.push_back(static_cast<char>(bits >> 10));
    bytes.push_back(static_cast<char>(bits >> 2));
  }
  return bytes;
}

}  // namespace client
