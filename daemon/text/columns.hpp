#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bridge {

/// The columns that a terminal uses for it: 0 for combining marks, 2 for East Asian wide and emoji.
/// An approximation by ranges, without the locale (setting one up costs more than a whole run).
int column_width(std::uint32_t code_point);
std::size_t display_width(std::string_view text);

/// The longest start of `text` that fits in `columns`.
std::string_view fit_columns(std::string_view text, std::size_t columns);

/// Breaks text at spaces so that no line is wider than `width` columns; longer words are cut. Each
/// line but the first is indented by `indent` spaces, and the first is assumed to start at that
/// column too. A width of 0 means no limit. Line breaks in the text are kept.
std::string wrap(std::string_view text, std::size_t indent, std::size_t width);

}  // namespace bridge
