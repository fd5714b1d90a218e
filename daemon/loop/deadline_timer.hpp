#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "loop/turn.hpp"

namespace bridge {

using SteadyTime = std::chrono::steady_clock::time_point;

/// A timer that is cheap to move later: it keeps the deadline in a variable and touches the
/// kernel's timer only when the deadline becomes earlier than what is armed, or is cleared. A
/// deadline that moved later costs at most one idle wake-up.
///
/// The callback runs on the loop, once a deadline; it may set the next one. Destroying the timer
/// cancels it.
class DeadlineTimer {
 public:
  DeadlineTimer(asio::io_context& loop, Turn& turn, std::function<void()> expired);
  ~DeadlineTimer() = default;
  DeadlineTimer(const DeadlineTimer&) = delete;
  DeadlineTimer& operator=(const DeadlineTimer&) = delete;

  void set(SteadyTime deadline);
  void set_after(std::chrono::milliseconds delay);
  /// Like set(), but never moves an earlier deadline.
  void set_at_latest(SteadyTime deadline);
  void clear();
  bool is_set() const { return deadline_.has_value(); }

 private:
  void arm();
  void fired();

  asio::steady_timer timer_;
  Turn& turn_;
  std::function<void()> expired_;
  std::optional<SteadyTime> deadline_;
  std::optional<SteadyTime> armed_;
  /// A handler that was already due when the timer was destroyed finds this gone.
  std::shared_ptr<DeadlineTimer*> self_;
};

}  // namespace bridge
