#pragma once

#include <cstddef>
#include <string_view>

namespace bridge {

constexpr bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

/// The beginning of UTF-8 text, at most so many bytes of it, without the beginning of a character
/// that does not fit. Of bytes that are no UTF-8 no more than three are given up for that. Pure,
/// header-only.
constexpr std::string_view whole_characters(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  constexpr std::size_t longest_character = 4;
  std::size_t end = bytes;
  while (end > 0 && bytes - end < longest_character && continues_character(text[end])) --end;
  return text.substr(0, continues_character(text[end]) ? bytes : end);
}

}  // namespace bridge
