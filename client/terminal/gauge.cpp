#include "terminal/gauge.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace client {
namespace {

constexpr std::size_t eighths_of_a_cell = 8;
constexpr std::array<std::string_view, eighths_of_a_cell> partial = {"",  "▏", "▎", "▍",
                                                                     "▌", "▋", "▊", "▉"};

/// How many of `steps` are filled.
std::size_t filled(double fraction, std::size_t steps) {
  if (!(fraction > 0)) return 0;
  if (fraction >= 1) return steps;
  const auto rounded = static_cast<std::size_t>(std::lround(fraction * static_cast<double>(steps)));
  return std::clamp<std::size_t>(rounded, 1, steps - 1);
}

}  // namespace

std::string draw_gauge(double fraction, std::size_t cells, bool unicode) {
  if (cells == 0) return {};
  if (!unicode) {
    const std::size_t full = filled(fraction, cells);
    return "[" + std::string(full, '#') + std::string(cells - full, '-') + "]";
  }
  const std::size_t eighths = filled(fraction, cells * eighths_of_a_cell);
  const std::size_t full = eighths / eighths_of_a_cell;
  const std::string_view part = partial[eighths % eighths_of_a_cell];
  std::string bar;
  for (std::size_t cell = 0; cell < full; ++cell) bar += "█";
  bar += part;
  for (std::size_t cell = full + (part.empty() ? 0 : 1); cell < cells; ++cell) bar += "░";
  return bar;
}

}  // namespace client
