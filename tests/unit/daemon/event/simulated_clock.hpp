#pragma once

#include "base/clock.hpp"

namespace bridge {

/// A clock that stands still until a test advances it.
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

}  // namespace bridge
