#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "base/backoff.hpp"
#include "event/event_loop.hpp"
#include "session/held_messages.hpp"

namespace bridge {

/// What is done again later: the messages that are held, and the next try to open the session or to
/// reach the upstream (BEHAVIOUR, "Session: tries and back-off"). The one timer of both is set anew
/// with every change.
///
/// Owned by the session; the loop's thread only. Memory: that of HeldMessages.
class Retries {
 public:
  /// Implemented by the session. None of them may destroy Retries; any may call it.
  class Events {
   public:
    /// The session is open.
    virtual bool can_send_held() const = 0;
    virtual void send_held(Outgoing message) = 0;
    /// The message ends with this failure.
    virtual void end_message(UpstreamId id, Failure failure) = 0;
    /// The next try is due.
    virtual void try_again() = 0;

   protected:
    ~Events() = default;
  };

  /// Somebody who waits brings the next try this near to the last one.
  static constexpr std::chrono::milliseconds impatient{500};

  Retries(EventLoop& loop, Events& events);

  // Messages.
  /// Sends it again after `delay`, once the session is open; at its `notes.hold_until` it ends with
  /// `failure`.
  void hold(Outgoing message, Failure failure, std::chrono::milliseconds delay);
  /// Forgets a message; false if it is not held.
  bool remove(UpstreamId id) { return held_.remove(id); }
  bool holds_messages() const { return !held_.empty(); }
  /// Somebody has logged in: what waits for that is sent as soon as there is a session.
  void logged_in();
  /// Sends those whose delay is over.
  void send_ready();
  /// Ends all of them with this failure.
  void end_all(const Failure& failure);
  /// Gives all of them away.
  std::vector<HeldMessage> take_all();
  /// Holds a message that was held elsewhere, for as long as it still had.
  void take_over(HeldMessage held);

  // The next try.
  void begin_try();
  /// The last one has failed: the next one comes after a delay, which is short if `somebody_waits`,
  /// and at least `retry_after`, which the upstream has asked for.
  void try_failed(bool somebody_waits, std::optional<std::chrono::milliseconds> retry_after = {});
  /// The next one comes as soon as somebody who waits may bring it about.
  void try_soon();
  /// It comes in this turn, if one was to come at all.
  void try_now();
  /// None comes.
  void clear_try();
  bool has_next_try() const { return next_try_.has_value(); }

  /// A session was lost: true if another is opened at once; a second time in a row it is not.
  bool may_be_at_once();
  /// Whether a try has failed since the upstream last served.
  bool has_failed() const { return backoff_.has_begun(); }
  /// The session has ended: nothing is done again.
  void stop() { timer_.clear(); }
  /// The upstream serves, or has decided: the next failure is the first one.
  void forget_failures() { backoff_.reset(); }

 private:
  void timer_fired();
  void schedule();

  EventLoop& loop_;
  Events& events_;
  HeldMessages held_;
  Backoff backoff_;
  std::optional<SteadyTime> next_try_;
  SteadyTime last_try_{};
  SteadyTime not_before_{};  ///< the upstream asked not to be called before
  DeadlineTimer timer_;
};

}  // namespace bridge
