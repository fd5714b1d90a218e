#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

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

}  // namespace client
