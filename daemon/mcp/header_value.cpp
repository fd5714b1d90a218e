#include "mcp/header_value.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <system_error>

#include "text/base64.hpp"
#include "text/header_text.hpp"

namespace bridge {
namespace {

constexpr std::string_view prefix = "=?base64?";
constexpr std::string_view suffix = "?=";

bool looks_encoded(std::string_view text) {
  return text.size() >= prefix.size() + suffix.size() && text.starts_with(prefix) &&
         text.ends_with(suffix);
}

/// RFC 4648, section 4: what the encoder gives for these bytes, and nothing else.
std::optional<std::string> decode_strictly(std::string_view text) {
  std::optional<std::string> bytes = decode_base64(text);
  if (bytes && base64(*bytes) != text) return std::nullopt;
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
  return decode_strictly(value);
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
