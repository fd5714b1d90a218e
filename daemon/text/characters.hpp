#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bridge {

// Letters and digits in the sense of protocols: independent of the locale, ASCII only.

constexpr char ascii_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

constexpr bool is_letter(char c) { return ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z'; }

/// Whether it is safe in file names.
constexpr bool is_plain_in_names(char c) {
  return is_letter(c) || is_digit(c) || c == '.' || c == '_' || c == '-';
}

inline std::string ascii_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = ascii_lower(c);
  return lower;
}

constexpr bool equal_ignoring_case(std::string_view left, std::string_view right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](char a, char b) { return a == b || ascii_lower(a) == ascii_lower(b); });
}

/// The characters of a token in a header field (RFC 9110, section 5.6.2).
inline constexpr std::string_view token_characters =
    "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Appends the two hexadecimal digits of a byte.
inline void append_hex(std::string& out, unsigned char byte,
                       std::string_view digits = "0123456789abcdef") {
  out.push_back(digits[byte >> 4]);
  out.push_back(digits[byte & 15]);
}
/// The digits of all bytes.
template <class Bytes>
std::string hex_of(const Bytes& bytes) {
  std::string text;
  for (const unsigned char byte : bytes) append_hex(text, byte);
  return text;
}

/// RFC 3986, "Percent-Encoding": of all but the unreserved characters and those in `kept`.
inline std::string percent_encoded(std::string_view text, std::string_view kept = {},
                                   std::string_view digits = "0123456789ABCDEF") {
  std::string encoded;
  for (const char c : text) {
    const bool is_unreserved =
        is_letter(c) || is_digit(c) || std::string_view("-._~").find(c) != std::string_view::npos;
    if (is_unreserved || kept.find(c) != kept.npos) {
      encoded.push_back(c);
    } else {
      append_hex(encoded += '%', static_cast<unsigned char>(c), digits);
    }
  }
  return encoded;
}

/// Appends the UTF-8 form of a code point; one that is not a scalar value becomes U+FFFD.
void append_utf8(std::string& out, std::uint32_t code);

/// One step through text that should be UTF-8.
struct CodePoint {
  enum class State {
    valid,
    invalid,    ///< `length` is 1: only that byte is wrong
    truncated,  ///< the text ends within a sequence that is valid so far
  };
  State state = State::invalid;
  std::uint32_t value = 0;
  std::size_t length = 1;
};

/// The code point at the front. Overlong forms, surrogates and values above U+10FFFF are invalid.
/// REQUIRES: not empty.
CodePoint first_code_point(std::string_view text);

constexpr bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

/// The start of UTF-8 text, at most `bytes` bytes, without the start of a character
/// that does not fit. Of bytes that are not UTF-8 at most three are dropped for that. Pure,
/// header-only.
constexpr std::string_view whole_characters(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  constexpr std::size_t longest_character = 4;
  std::size_t end = bytes;
  while (end > 0 && bytes - end < longest_character && continues_character(text[end])) --end;
  return text.substr(0, continues_character(text[end]) ? bytes : end);
}

/// At most `bytes` bytes of the text, with a mark if it is longer.
inline std::string cut_off(std::string_view text, std::size_t bytes) {
  return std::string(whole_characters(text, bytes)) + (text.size() > bytes ? "..." : "");
}

/// Put before UTF-8 by some editors; not a part of the text.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Whether it is a hexadecimal name, which needs no escapes in a response.
inline bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 &&
         name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace bridge
