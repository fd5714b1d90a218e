#pragma once

#include <chrono>

namespace bridge {

/// When a daemon that nobody uses ends by itself: --idle-exit and --idle-keep.
struct IdleOptions {
  std::chrono::milliseconds exit{0};  ///< 0: never
  /// For so long notifications that nobody has taken, and jobs that have ended and that nobody has
  /// collected, count as under way.
  std::chrono::milliseconds keep{std::chrono::hours(24)};
};

}  // namespace bridge
