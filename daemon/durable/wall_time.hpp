#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

#include "base/clock.hpp"

namespace bridge {

/// Times as they stand in the log: microseconds since 1970.
inline std::uint64_t microseconds_of(WallTime time) {
  const auto passed =
      std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
  return static_cast<std::uint64_t>(std::max<std::int64_t>(passed, 0));
}

/// Kept within what a clock can show, whatever the record says.
inline WallTime wall_time_of(std::uint64_t microseconds) {
  constexpr std::uint64_t latest = std::numeric_limits<std::int64_t>::max() / 1000;
  return WallTime(std::chrono::duration_cast<WallTime::duration>(
      std::chrono::microseconds(static_cast<std::int64_t>(std::min(microseconds, latest)))));
}

}  // namespace bridge
