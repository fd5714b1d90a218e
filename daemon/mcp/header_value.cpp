#include "mcp/header_value.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <system_error>

#include "base/base64.hpp"
#include "text/header_text.hpp"

namespace bridge {
namespace {

constexpr std::string_view prefix = "=?base64?";
constexpr std::string_view suffix = "?=";

bool looks_encoded(std::string_view text) {
  return text.size() >= prefix.size() + suffix.size() && text.starts_with(prefix) &&
         text.ends_with(suffix);
}

/// The six bits of a character of Base64; nothing if it is none.
std::optional<std::uint32_t> six_bits(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<std::uint32_t>(c - 'A');
  if (c >= 'a' && c <= 'z') return static_cast<std::uint32_t>(c - 'a' + 26);
  if (c >= '0' && c <= '9') return static_cast<std::uint32_t>(c - '0' + 52);
  if (c == '+') return 62;
  if (c == '/') return 63;
  return std::nullopt;
}

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && text.ends_with('=')) {
    text.remove_suffix(1);
    ++padding;
  }
  std::string bytes;
  bytes.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : text) {
    const auto six = six_bits(c);
    if (!six) return std::nullopt;
    bits = (bits << 6 | *six) & 0xFFFFu;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<char>(bits >> count & 0xFFu));
  }
  return bytes;
}

}  // namespace

std::string encode_header_value(std::string_view text) {
  if (fits_header(text, text.size(), Blanks::inside) && !looks_encoded(text)) {
    return std::string(text);
  }
  std::string value(prefix);
  value += base64(text);
  value += suffix;
  return value;
}

std::optional<std::string> decode_header_value(std::string_view value) {
  const bool is_clean = std::all_of(value.begin(), value.end(),
                                    [](char c) { return (c >= 0x20 && c < 0x7F) || c == '\t'; });
  if (!is_clean) return std::nullopt;
  if (!looks_encoded(value)) return std::string(value);
  value.remove_prefix(prefix.size());
  value.remove_suffix(suffix.size());
  return decode_base64(value);
}

std::optional<std::string> integer_text(std::string_view number) {
  constexpr double most = 9007199254740991.0;
  double value = 0;
  const char* const end = number.data() + number.size();
  const auto [last, error] = std::from_chars(number.data(), end, value);
  if (number.empty() || error != std::errc() || last != end) return std::nullopt;
  if (!(std::fabs(value) <= most) || std::trunc(value) != value) return std::nullopt;
  return std::to_string(static_cast<std::int64_t>(value));
}

}  // namespace bridge
