#include "text/visible_text.hpp"

#include <algorithm>
#include <cstdint>

#include "text/characters.hpp"
#include "text/hidden_characters.hpp"
#include "text/utf8.hpp"

namespace bridge {
namespace {

constexpr std::size_t longest_character = 4;

/// The bytes of the character at the beginning; none if there is none.
std::string_view first_character(std::string_view text) {
  std::size_t length = 1;
  while (length < std::min(text.size(), longest_character) && continues_character(text[length]))
    ++length;
  const std::string_view character = text.substr(0, length);
  return is_utf8(character) ? character : std::string_view();
}

/// REQUIRES: one character of UTF-8.
std::uint32_t code_point_of(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character.front());
  std::uint32_t value = character.size() == 1 ? lead : lead & (0x7FU >> character.size());
  for (const char byte : character.substr(1)) {
    value = (value << 6) | (static_cast<unsigned char>(byte) & 0x3FU);
  }
  return value;
}

bool is_plain(char c) { return c >= 0x20 && c < 0x7F; }

void append_byte(std::string& out, char byte) {
  constexpr char digits[] = "0123456789abcdef";
  const auto value = static_cast<unsigned char>(byte);
  out += "\\x";
  out.push_back(digits[value >> 4]);
  out.push_back(digits[value & 0xF]);
}

}  // namespace

void append_visible(std::string& out, std::string_view text) {
  if (std::all_of(text.begin(), text.end(), is_plain)) {
    out += text;
    return;
  }
  unicode::HiddenCharacters hidden;
  while (!text.empty()) {
    const std::string_view character = first_character(text);
    const std::uint32_t code_point = character.empty() ? 0 : code_point_of(character);
    if (!hidden.hides(code_point)) {
      out += character;
    } else if (character.empty()) {
      append_byte(out, text.front());
    } else {
      unicode::append_escape(out, code_point);
    }
    text.remove_prefix(std::max<std::size_t>(character.size(), 1));
  }
}

}  // namespace bridge
