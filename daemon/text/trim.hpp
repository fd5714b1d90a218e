#pragma once

#include <cstddef>
#include <string_view>

namespace bridge {

/// The white space in a line of an HTTP head (RFC 9110, section 5.6.3).
inline constexpr std::string_view http_blanks = " \t";

/// The text without these characters, none of them beyond the space, at its ends. Pure.
constexpr std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\n") {
  // Not find_first_not_of(), which calls memchr(3) for each character of each line of a head.
  const auto is_blank = [blanks](char c) {
    if (static_cast<unsigned char>(c) > ' ') return false;
    for (const char blank : blanks)
      if (c == blank) return true;
    return false;
  };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace bridge
