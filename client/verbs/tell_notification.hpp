#pragma once

#include <string_view>

#include "terminal/console.hpp"

namespace client {

/// A notification on stderr, which is not what was asked for: in words on a terminal, elsewhere the
/// line as it came.
void tell_notification(Console& console, std::string_view line);

}  // namespace client
