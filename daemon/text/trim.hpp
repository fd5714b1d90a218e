#pragma once

#include <cstddef>
#include <string_view>

namespace bridge {

/// The white space in a line of an HTTP head (RFC 9110, section 5.6.3).
inline constexpr std::string_view http_blanks = " \t";

/// The text without these characters at its ends. Pure.
constexpr std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\n") {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

}  // namespace bridge
