#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace bridge {

/// A point of the monotonic clock: what deadlines and durations are reckoned with.
using SteadyTime = std::chrono::steady_clock::time_point;
/// A point of the calendar, which may jump: for what is shown, and --ring-ttl.
using WallTime = std::chrono::system_clock::time_point;

/// A point of the monotonic clock for another image of the program in the same process, which has
/// the same clock.
constexpr std::uint64_t ticks_of(SteadyTime time) {
  return static_cast<std::uint64_t>(time.time_since_epoch().count());
}
constexpr SteadyTime steady_time_of(std::uint64_t ticks) {
  return SteadyTime(SteadyTime::duration(static_cast<SteadyTime::rep>(ticks)));
}

/// Where the time comes from: the machine's clock in the daemon, one that a test advances in a
/// test. Owned by whoever makes the EventLoop, and outlives it.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual SteadyTime now() const = 0;
  virtual WallTime wall_time() const = 0;
};

/// The machine's clocks. No state.
class SystemClock final : public Clock {
 public:
  SteadyTime now() const override { return std::chrono::steady_clock::now(); }
  WallTime wall_time() const override { return std::chrono::system_clock::now(); }
};

/// As RFC 3339 has it, in UTC, with milliseconds.
std::string timestamp(WallTime time);

}  // namespace bridge
