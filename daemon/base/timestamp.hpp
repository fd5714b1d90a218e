#pragma once

#include <string>

#include "base/clock.hpp"

namespace bridge {

/// As RFC 3339 has it, in UTC, with milliseconds.
std::string timestamp(WallTime time);

}  // namespace bridge
