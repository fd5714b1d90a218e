#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "text/ascii.hpp"

namespace bridge {

/// Whether these bytes are one of JSON's three words.
inline bool is_json_word(std::string_view text) {
  const auto begins = [text](const char(&word)[5]) {
    return std::memcmp(text.data(), word, 4) == 0;
  };
  if (text.size() == 4) return begins("true") || begins("null");
  return text.size() == 5 && begins("fals") && text[4] == 'e';
}

/// Of a block (text/json_block.hpp) where the words end that begin there, behind their last byte;
/// those that are none end nowhere. REQUIRES: of each five bytes stand in the block.
inline std::uint64_t ends_of_json_words(const char* bytes, std::uint64_t begins) {
  std::uint64_t ends = 0;
  for (; begins != 0; begins &= begins - 1) {
    const auto at = static_cast<std::size_t>(std::countr_zero(begins));
    std::array<char, 5> text;
    std::memcpy(text.data(), bytes + at, text.size());
    const auto is = [&text](const char(&word)[5]) {
      return std::memcmp(text.data(), word, 4) == 0 ? std::uint64_t{1} : 0;
    };
    const std::uint64_t is_false = is("fals") & (text[4] == 'e' ? 1 : 0);
    ends |= ((is("true") | is("null")) << 4 | is_false << 5) << at;
  }
  return ends;
}

/// The digits that begin there end here.
inline const char* after_digits(const char* at, const char* end) {
  while (at != end && is_digit(*at)) ++at;
  return at;
}

/// Whether these bytes are a JSON number, or one of the three words (RFC 8259, sections 3 and 6).
/// REQUIRES: there is one.
inline bool is_json_scalar(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  if (*at == 't' || *at == 'f' || *at == 'n') return is_json_word(text);
  if (*at == '-') ++at;
  if (at == end || !is_digit(*at)) return false;
  at = *at == '0' ? at + 1 : after_digits(at, end);
  if (at != end && *at == '.') {
    const char* const digits = at + 1;
    if ((at = after_digits(digits, end)) == digits) return false;
  }
  if (at != end && (*at == 'e' || *at == 'E')) {
    const char* digits = at + 1;
    if (digits != end && (*digits == '+' || *digits == '-')) ++digits;
    if ((at = after_digits(digits, end)) == digits) return false;
  }
  return at == end;
}

}  // namespace bridge
