#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "event/event_loop.hpp"

namespace bridge {

/// A timer that is cheap to move later: it keeps the deadline in a variable and its place in the
/// loop's queue, until that has come.
///
/// The callback runs on the loop, in a turn, once a deadline; it may set the next one, and may
/// destroy the timer. Destroying the timer cancels it. The loop's thread only.
class DeadlineTimer final : private QueuedTimer {
 public:
  DeadlineTimer(EventLoop& loop, std::function<void()> expired);
  ~DeadlineTimer() override;

  void set(SteadyTime deadline);
  void set_after(std::chrono::milliseconds delay) { set(loop_.now() + delay); }
  /// Like set(), but never moves an earlier deadline.
  void set_at_latest(SteadyTime deadline);
  void clear();
  bool is_set() const { return deadline_.has_value(); }

 private:
  void expired() override;

  EventLoop& loop_;
  std::function<void()> action_;
  std::optional<SteadyTime> deadline_;
};

}  // namespace bridge
