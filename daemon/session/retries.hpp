#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "event/event_loop.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// A message that waits to be sent again: the server has not acted on it, or it only reads.
struct HeldMessage {
  Outgoing message;
  Failure failure;        ///< what to answer if its time runs out
  SteadyTime not_before;  ///< the upstream asked not to be called before
  SteadyTime deadline;
};

/// Messages waiting to be sent again, in the order they were given back. Pure. Bounded by the
/// requests in flight, which is where they come from.
class HeldMessages {
 public:
  void hold(HeldMessage held) { held_.push_back(std::move(held)); }

  /// Those that may be sent now.
  std::vector<HeldMessage> take_ready(SteadyTime now) {
    return take_if([now](const HeldMessage& held) { return held.not_before <= now; });
  }
  /// Those whose time is over.
  std::vector<HeldMessage> take_expired(SteadyTime now) {
    return take_if([now](const HeldMessage& held) { return held.deadline <= now; });
  }
  /// Those that wait for a login may be sent now, and have their whole time for what else comes.
  void end_waits_for_login(SteadyTime now) {
    for (HeldMessage& held : held_) {
      if (!held.message.notes.login_until) continue;
      held.message.notes.login_until.reset();
      held.message.notes.hold_until.reset();
      held.not_before = now;
    }
  }
  std::vector<HeldMessage> take_all() { return std::exchange(held_, {}); }

  bool remove(UpstreamId id) {
    return std::erase_if(held_, [id](const HeldMessage& held) { return held.message.id == id; }) >
           0;
  }

  /// When the next message expires, or may be sent if `sendable`.
  std::optional<SteadyTime> next_time(bool sendable) const {
    std::optional<SteadyTime> next;
    for (const HeldMessage& held : held_) {
      const SteadyTime time = sendable ? std::min(held.not_before, held.deadline) : held.deadline;
      if (!next || time < *next) next = time;
    }
    return next;
  }

  bool empty() const { return held_.empty(); }
  std::size_t size() const { return held_.size(); }

 private:
  template <class Predicate>
  std::vector<HeldMessage> take_if(Predicate&& predicate) {
    std::vector<HeldMessage> taken;
    std::erase_if(held_, [&](HeldMessage& held) {
      if (!predicate(std::as_const(held))) return false;
      taken.push_back(std::move(held));
      return true;
    });
    return taken;
  }

  std::vector<HeldMessage> held_;
};

/// Where the session stands when a message comes back.
struct RetrySituation {
  bool is_open = true;
  std::uint32_t session = 1;  ///< the number of the current one
  SteadyTime now{};
  std::chrono::milliseconds connect_wait{10000};
  std::chrono::milliseconds login_wait{0};
};

/// Whether a message that failed before its response began is retried (BEHAVIOUR, "Session: retried
/// requests").
struct RetryDecision {
  enum class Action : std::uint8_t {
    send_now,
    hold,     ///< sent again after `delay`, once there is a session and the upstream is reached
    ask,      ///< a ping is to tell whether the session is there
    give_up,  ///< it ends with `failure`
  };
  /// What the failure says of more than this message.
  enum class News : std::uint8_t { none, session_lost, unreachable };

  Action action = Action::give_up;
  News news = News::none;
  Failure failure{};  ///< when held: what it ends with if its time runs out
  std::chrono::milliseconds delay{0};
  /// It is held for a login: until then at most.
  std::optional<SteadyTime> login_until{};
  // The message's notes from now on.
  std::uint8_t rejections = 0;
  std::uint8_t repeats = 0;
};

/// Pure. REQUIRES: the ending has a failure, and the message is given back with it.
RetryDecision decide_retry(const Ending& ending, const RetrySituation& situation);

/// Whether a message whose connection broke is sent again: it only reads, and has not been sent too
/// often.
bool may_repeat_after(const Failure& failure, const Outgoing& message);

/// Whether it failed only because a person has to log in. A scope that is wanted beside those that
/// were granted (403) is another thing: the login is as good as it was.
bool wants_login(const Failure& failure);

/// Whether no connection came about, so that nothing can have arrived.
bool is_unreachable(const Failure& failure);

/// What is done again later: the messages that are held, and the next try to open the session or to
/// reach the upstream (BEHAVIOUR, "Session: tries and back-off"). The one timer of both is set
/// again with every change.
///
/// Owned by the session; the loop's thread only. Memory: that of HeldMessages.
class Retries {
 public:
  /// Implemented by the session. None of them may destroy Retries; any may call it.
  class Events {
   public:
    /// Whether held messages can be sent.
    virtual bool is_open() const = 0;
    virtual void send_held(Outgoing message) = 0;
    /// The message ends with this failure.
    virtual void end_message(UpstreamId id, Failure failure) = 0;
    /// The next try is due.
    virtual void try_again() = 0;

   protected:
    ~Events() = default;
  };

  /// A waiting request brings the next try this near to the last one.
  static constexpr std::chrono::milliseconds impatient{500};

  Retries(EventLoop& loop, Events& events)
      : loop_(loop), events_(events), timer_(loop, [this] { timer_fired(); }) {}

  // Messages.
  /// Sends it again after `delay`, once the session is open; at its `notes.hold_until` it ends with
  /// `failure`.
  void hold(Outgoing message, Failure failure, std::chrono::milliseconds delay);
  /// Forgets a message; false if it is not held.
  bool remove(UpstreamId id) { return held_.remove(id); }
  bool holds_messages() const { return !held_.empty(); }
  /// A person has logged in: what waits for that is sent as soon as there is a session.
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
  /// The last one has failed: the next one comes after a delay, which is short if `has_waiters`,
  /// and at least `retry_after`, which the upstream has asked for.
  void try_failed(bool has_waiters, std::optional<std::chrono::milliseconds> retry_after = {});
  /// The next one comes as soon as a waiting request may bring it about.
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
