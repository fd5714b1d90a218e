#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "text/hidden_characters.hpp"

namespace client {

/// One step through text that should be UTF-8.
struct CodePoint {
  enum class State {
    valid,
    invalid,    ///< `length` is 1: that byte alone is wrong
    truncated,  ///< the text ends within a sequence that is right so far
  };
  State state = State::invalid;
  std::uint32_t value = 0;
  std::size_t length = 1;
};

/// The code point at the front. Overlong forms, surrogates and values above U+10FFFF are invalid.
/// REQUIRES: not empty.
CodePoint first_code_point(std::string_view text);

/// Columns that a terminal uses for it: 0 for combining marks, 2 for East Asian wide and emoji.
/// An approximation by ranges, without the locale (setting one up costs more than a whole run).
int column_width(std::uint32_t code_point);
std::size_t display_width(std::string_view text);

/// The longest start of `text` that fits into so many columns.
std::string_view fit_columns(std::string_view text, std::size_t columns);

/// Breaks text at spaces so that no line is wider than `width` columns; longer words are cut.
/// Each line but the first begins with `indent` spaces, and the first is taken to begin at that
/// column too. A width of 0 means no limit. Line breaks in the text stay.
std::string wrap(std::string_view text, std::size_t indent, std::size_t width);

/// Makes text from a server harmless for a terminal: control characters (C0, DEL, C1, also as
/// UTF-8), what turns the direction of text or is not seen at all (hidden_characters.hpp) and bytes
/// that are no UTF-8 become visible escapes: \u001b, \u202e, \xff. Line feed and tab stay. In JSON
/// text the escapes of characters are JSON again.
///
/// Works on a stream: a sequence that is cut by the end of one piece is kept for the next.
class VisibleText {
 public:
  std::string feed(std::string_view piece);
  /// What was kept; call at the end of the stream.
  std::string finish();

 private:
  std::string kept_;  // at most 3 bytes
  unicode::HiddenCharacters hidden_;
};

/// The same for a text in one piece.
std::string make_visible(std::string_view text);

/// The same, and on one line: line feed and tab become \n and \t.
std::string make_visible_line(std::string_view text);

}  // namespace client
