#pragma once

#include <cstdlib>

#include "terminal/console.hpp"
#include "terminal/styled.hpp"

namespace client {

/// The look of the console's output as it is now: a window's size changes. `whole_screen`: no more
/// rows than it has.
inline Look look_of(const Console& console, bool whole_screen = false) {
  return choose_look(console.output_is_terminal(), console.output_width(),
                     whole_screen ? console.output_height() : 0,
                     [](const char* name) -> const char* { return std::getenv(name); });
}

}  // namespace client
