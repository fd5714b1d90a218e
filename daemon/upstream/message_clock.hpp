#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "base/clock.hpp"

namespace bridge {

/// How long a message may take.
struct MessageTimeouts {
  std::chrono::milliseconds silence;  ///< --request-timeout: time without a byte; 0: none
  std::chrono::milliseconds in_all;   ///< --request-max; 0: none
  /// The longest extension by pauses: what the bridge itself does not read is not late, but nothing
  /// waits forever for a client that reads nothing (--client-stall).
  std::chrono::milliseconds pause{};
  std::chrono::milliseconds delivery{};  ///< for a notification or response in total; 0: none
};

/// The deadlines of one message under way. Pure. A pause extends a deadline by at most
/// MessageTimeouts::pause and never suspends it (BEHAVIOUR, "Deadlines").
class MessageClock {
 public:
  void start_clock(SteadyTime now) { started_ = last_activity_ = now; }
  /// It was started by the previous process. Silence during the upgrade does not count.
  void restore(SteadyTime started, SteadyTime::duration excused, SteadyTime now) {
    started_ = started;
    excused_ = excused;
    last_activity_ = now;
  }
  /// When it was started, without time on hold.
  SteadyTime started(SteadyTime now) const {
    return started_ + (held_at_ ? now - *held_at_ : SteadyTime::duration{});
  }
  SteadyTime last_activity() const { return last_activity_; }
  /// The total of all pauses, including the current one.
  SteadyTime::duration excused(SteadyTime now) const {
    return excused_ + (paused_at_ ? now - *paused_at_ : SteadyTime::duration{});
  }
  /// A byte came on its stream.
  void note_activity(SteadyTime now) { last_activity_ = now; }

  void pause(SteadyTime now) {
    if (!paused_at_) paused_at_ = now;
  }
  void proceed(SteadyTime now) {
    if (!paused_at_) return;
    excused_ += now - *std::exchange(paused_at_, std::nullopt);
    last_activity_ = now;
  }
  bool is_paused() const { return paused_at_.has_value(); }

  /// Stops the clock until release(): a question about it is open, which has its own deadline.
  void hold(SteadyTime now) {
    if (!held_at_) held_at_ = now;
  }
  void release(SteadyTime now) {
    if (!held_at_) return;
    started_ = started(now);
    held_at_.reset();
    last_activity_ = now;
  }
  bool is_held() const { return held_at_.has_value(); }

  /// SteadyTime::max() only while on hold, or without limits in the options. `elsewhere`: the last
  /// activity of the other stream that its answer is awaited on, which is never paused.
  SteadyTime deadline(const MessageTimeouts& timeouts,
                      std::optional<SteadyTime> elsewhere = {}) const {
    SteadyTime due = SteadyTime::max();
    if (held_at_) return due;
    if (timeouts.delivery.count() > 0) due = started_ + timeouts.delivery;
    if (timeouts.silence.count() > 0) {
      due =
          std::min(due, elsewhere ? std::max(last_activity_, *elsewhere) + timeouts.silence
                                  : last_activity_ + timeouts.silence + silence_excused(timeouts));
    }
    if (timeouts.in_all.count() > 0) due = std::min(due, latest_end(timeouts));
    return due;
  }

  /// Whether --request-max is the limit that was reached.
  bool took_too_long(SteadyTime now, const MessageTimeouts& timeouts) const {
    return !held_at_ && timeouts.in_all.count() > 0 && now >= latest_end(timeouts);
  }

 private:
  SteadyTime::duration silence_excused(const MessageTimeouts& timeouts) const {
    return paused_at_ ? SteadyTime::duration(timeouts.pause) : SteadyTime::duration{};
  }
  SteadyTime latest_end(const MessageTimeouts& timeouts) const {
    const SteadyTime::duration most = timeouts.pause;
    return started_ + timeouts.in_all + (paused_at_ ? most : std::min(excused_, most));
  }

  SteadyTime started_;
  SteadyTime last_activity_;
  std::optional<SteadyTime> paused_at_;
  std::optional<SteadyTime> held_at_;
  SteadyTime::duration excused_{};  ///< by earlier pauses
};

}  // namespace bridge
