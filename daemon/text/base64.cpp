#include "text/base64.hpp"

#include <cstdint>

namespace bridge {
namespace {

std::string base64_with(std::string_view bytes, const char* alphabet, bool padded) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::string_view group = bytes.substr(at, 3);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bits = bits << 8 | (i < group.size() ? static_cast<unsigned char>(group[i]) : 0u);
    }
    for (std::size_t i = 0; i <= group.size(); ++i) out += alphabet[bits >> (18 - 6 * i) & 63u];
    if (padded) out.append(3 - group.size(), '=');
  }
  return out;
}

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

std::string base64(std::string_view bytes) {
  return base64_with(bytes, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
                     true);
}

std::string base64url(std::string_view bytes) {
  return base64_with(bytes, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
                     false);
}

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

}  // namespace bridge
