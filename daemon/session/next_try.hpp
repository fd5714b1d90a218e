#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/backoff.hpp"
#include "base/clock.hpp"

namespace bridge {

/// When the next try comes, to open the session or to reach the upstream (BEHAVIOUR, "Session:
/// tries and back-off"). Pure, but for its random generator; it sets no timer.
class NextTry {
 public:
  /// Somebody who waits brings the next try this near to the last one.
  static constexpr std::chrono::milliseconds impatient{500};

  /// A try begins.
  void begin(SteadyTime now) {
    due_.reset();
    last_ = now;
  }
  /// A try has failed: how long the upstream is left alone. `retry_after` is what it has asked for.
  std::chrono::milliseconds failed(SteadyTime now, bool somebody_waits,
                                   std::optional<std::chrono::milliseconds> retry_after = {}) {
    std::chrono::milliseconds delay = somebody_waits ? backoff_.soon() : backoff_.next();
    if (retry_after) {
      delay = std::max(delay, std::min(*retry_after, Backoff::longest));
      not_before_ = now + delay;
    }
    return delay;
  }
  /// A session was lost: true if another is opened at once; a second time in a row it is not.
  bool may_be_at_once() {
    if (backoff_.tries() != 0) return false;
    backoff_.next();
    return true;
  }
  /// Whether a try has failed since the upstream last served.
  bool has_failed() const { return backoff_.has_begun(); }
  /// The upstream serves, or has decided: the next failure is the first one.
  void forget_failures() { backoff_.reset(); }

  void set(SteadyTime due) { due_ = due; }
  void set_at_latest(SteadyTime due) {
    if (!due_ || due < *due_) due_ = due;
  }
  void retry_soon(SteadyTime now) {
    set_at_latest(std::max({last_ + impatient, not_before_, now}));
  }
  void clear() { due_.reset(); }

  std::optional<SteadyTime> due() const { return due_; }
  /// Whether it is due now; then it is taken.
  bool take_due(SteadyTime now) {
    if (!due_ || *due_ > now) return false;
    due_.reset();
    return true;
  }

 private:
  Backoff backoff_;
  std::optional<SteadyTime> due_;
  SteadyTime last_{};
  SteadyTime not_before_{};  ///< the upstream asked not to be called before
};

}  // namespace bridge
