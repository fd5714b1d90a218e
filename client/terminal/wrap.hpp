#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace client {

/// Breaks text at spaces so that no line is wider than `width` columns; longer words are cut.
/// Each line but the first begins with `indent` spaces, and the first is taken to begin at that
/// column too. A width of 0 means no limit. Line breaks in the text stay.
std::string wrap(std::string_view text, std::size_t indent, std::size_t width);

}  // namespace client
