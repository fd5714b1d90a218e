#pragma once

#include <algorithm>
#include <chrono>

#include "base/clock.hpp"
#include "event/event_loop.hpp"

namespace bridge {

/// A clock that only a test advances.
class SimulatedClock final : public Clock {
 public:
  SteadyTime now() const override { return now_; }
  WallTime wall_time() const override {
    return WallTime{} + std::chrono::duration_cast<WallTime::duration>(now_.time_since_epoch());
  }
  void advance(SteadyTime::duration time) { now_ += time; }
  void set(SteadyTime now) { now_ = now; }

 private:
  SteadyTime now_ = SteadyTime{} + std::chrono::hours(1);
};

/// Advances the time; each timer sees the time it was set for.
inline void let_pass(SimulatedClock& clock, EventLoop& loop, std::chrono::milliseconds time) {
  const SteadyTime end = clock.now() + time;
  while (const auto due = loop.next_due()) {
    if (*due > end) break;
    clock.set(std::max(*due, clock.now()));
    loop.run_due();
  }
  clock.set(end);
}

}  // namespace bridge
