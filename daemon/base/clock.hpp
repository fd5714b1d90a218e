#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>
#include <string>

namespace bridge {

/// A point of the monotonic clock: for deadlines and durations.
using SteadyTime = std::chrono::steady_clock::time_point;
/// A point of the calendar, which may jump: for display, and --ring-ttl.
using WallTime = std::chrono::system_clock::time_point;

/// A time as a number, for another process on the same machine in the same boot.
template <class Time>
constexpr std::uint64_t ticks_of(Time time) {
  return static_cast<std::uint64_t>(time.time_since_epoch().count());
}
constexpr SteadyTime steady_time_of(std::uint64_t ticks) {
  return SteadyTime(SteadyTime::duration(static_cast<SteadyTime::rep>(ticks)));
}

/// Source of the time: the machine's clock in the daemon, a clock that the test advances in a test.
/// Owned by the owner of the EventLoop, and outlives it.
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

/// In the format of RFC 3339, in UTC, with milliseconds.
std::string timestamp(WallTime time);

/// Delays between retries: 500 ms while a client waits, doubling from there to 30 s while none
/// does; each reduced by up to a quarter at random, so that many bridges do not come back in step.
/// Pure except for its generator.
class Backoff {
 public:
  static constexpr std::chrono::milliseconds first{500};
  static constexpr std::chrono::milliseconds longest{30000};

  explicit Backoff(std::uint32_t seed = std::random_device{}()) : random_(seed) {}

  /// The delay before the next retry while no client waits.
  std::chrono::milliseconds next() {
    const auto delay = std::min(longest, first * (std::int64_t{1} << std::min(tries_, 10)));
    ++tries_;
    has_begun_ = true;
    return jittered(delay);
  }
  /// The delay before the next retry while a client waits. Does not count for next().
  std::chrono::milliseconds soon() {
    has_begun_ = true;
    return jittered(first);
  }

  void reset() {
    tries_ = 0;
    has_begun_ = false;
  }
  /// Whether a delay was requested since the last reset.
  bool has_begun() const { return has_begun_; }
  int tries() const { return tries_; }

 private:
  std::chrono::milliseconds jittered(std::chrono::milliseconds delay) {
    std::uniform_int_distribution<std::int64_t> jitter(0, delay.count() / 4);
    return delay - std::chrono::milliseconds(jitter(random_));
  }

  std::minstd_rand random_;
  int tries_ = 0;
  bool has_begun_ = false;
};

}  // namespace bridge
