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

class SessionLoss;

/// A message to be sent again: the server has not acted on it, or it only reads.
struct HeldMessage {
  Outgoing message;
  Failure failure;        ///< the answer if its time runs out
  SteadyTime not_before;  ///< earliest time, requested by the upstream
  SteadyTime deadline;
};

/// Messages to be sent again, in the order they were given back. Pure. Bounded by the requests in
/// flight.
class HeldMessages {
 public:
  void hold(HeldMessage held) { held_.push_back(std::move(held)); }

  /// Removes and returns those that may be sent now.
  std::vector<HeldMessage> take_ready(SteadyTime now) {
    return take_if([now](const HeldMessage& held) { return held.not_before <= now; });
  }
  /// Removes and returns those whose time is over.
  std::vector<HeldMessage> take_expired(SteadyTime now) {
    return take_if([now](const HeldMessage& held) { return held.deadline <= now; });
  }
  /// A login has ended: messages that waited for it may be sent, with their full time for other
  /// delays.
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

/// The state of the session when a message comes back.
struct RetrySituation {
  bool is_open = true;
  std::uint32_t session = 1;  ///< its number
  SteadyTime now{};
  std::chrono::milliseconds connect_wait{10000};
  std::chrono::milliseconds login_wait{0};
};

/// Whether a message that failed without a response that counts is retried (BEHAVIOUR, "Session:
/// retried requests").
struct RetryDecision {
  enum class Action : std::uint8_t {
    send_now,
    hold,     ///< sent again after `delay`, once the session is open and the upstream reachable
    ask,      ///< a ping decides whether the session exists
    give_up,  ///< ends with `failure`
  };
  /// What the failure means beyond this message.
  enum class News : std::uint8_t { none, session_lost, unreachable };

  Action action = Action::give_up;
  News news = News::none;
  Failure failure{};  ///< if held: its answer if its time runs out
  std::chrono::milliseconds delay{0};
  /// If held for a login: the latest time.
  std::optional<SteadyTime> login_until{};
  // New value of the message's notes.
  std::uint8_t rejections = 0;
  std::uint8_t repeats = 0;
};

/// Pure. REQUIRES: the ending has a failure and gives the message back.
RetryDecision decide_retry(const Ending& ending, const RetrySituation& situation);

/// Whether a message whose connection broke is sent again: it only reads, and was not sent too
/// often.
bool may_repeat_after(const Failure& failure, const Outgoing& message);

/// Whether the only cause is a missing login. Not for a further scope that the server wants (403):
/// the login is still valid.
bool wants_login(const Failure& failure);

/// Whether no connection was established, so that nothing can have arrived.
bool is_unreachable(const Failure& failure);

/// Schedules retries: held messages, and the next attempt to open the session or to reach the
/// upstream (BEHAVIOUR, "Session: tries and back-off"), with one timer.
///
/// Owned by the session; the loop's thread only. Memory: that of HeldMessages.
class Retries {
 public:
  /// The shortest time between attempts while a request waits. A request that waits less than that
  /// gets its attempt: half its wait counts then, though not under `hasty`.
  static constexpr std::chrono::milliseconds impatient{500};
  static constexpr std::chrono::milliseconds hasty{50};

  /// The reference outlives it: --connect-wait may change.
  Retries(EventLoop& loop, SessionLoss& loss, const std::chrono::milliseconds& connect_wait)
      : loop_(loop),
        loss_(loss),
        connect_wait_(connect_wait),
        timer_(loop, [this] { timer_fired(); }) {}

  // Held messages.
  /// Sends it again after `delay`, once the session is open; at its `notes.hold_until` it ends with
  /// `failure`.
  void hold(Outgoing message, Failure failure, std::chrono::milliseconds delay);
  /// Forgets a message; false if it is not held.
  bool remove(UpstreamId id) { return held_.remove(id); }
  bool holds_messages() const { return !held_.empty(); }
  /// A person has logged in: messages that waited for that are sent as soon as there is a session.
  void logged_in();
  /// Sends messages whose delay is over.
  void send_ready();
  /// Ends all with this failure.
  void end_all(const Failure& failure);
  /// Removes and returns all.
  std::vector<HeldMessage> take_all();
  /// Holds a message of another side for its remaining time.
  void take_over(HeldMessage held);

  // The next attempt.
  void begin_try();
  /// An attempt has failed: schedules the next one, soon if anything waits for it, not before
  /// `retry_after` (requested by the upstream).
  void try_failed(std::optional<std::chrono::milliseconds> retry_after = {});
  /// The upstream refuses: schedules the next attempt in a minute.
  void try_later();
  /// Schedules it as early as for a waiting request.
  void try_soon();
  /// Makes a scheduled attempt in this turn.
  void try_now();
  /// Cancels it.
  void clear_try();
  bool has_next_try() const { return next_try_.has_value(); }

  /// A session was lost: returns whether it is reopened at once, which is false for consecutive
  /// losses.
  bool may_reopen_at_once();
  /// Whether an attempt has failed since the upstream last served.
  bool has_failed() const { return backoff_.has_begun(); }
  /// The session has ended: nothing is retried.
  void stop() { timer_.clear(); }
  /// The upstream serves, or has decided: the next failure counts as the first.
  void forget_failures() { backoff_.reset(); }
  /// The same, and no attempt is needed.
  void settled() {
    forget_failures();
    clear_try();
  }

 private:
  void timer_fired();
  void schedule();

  EventLoop& loop_;
  SessionLoss& loss_;
  const std::chrono::milliseconds& connect_wait_;
  HeldMessages held_;
  Backoff backoff_;
  std::optional<SteadyTime> next_try_;
  SteadyTime last_try_{};
  SteadyTime not_before_{};  ///< earliest time, requested by the upstream
  DeadlineTimer timer_;
};

}  // namespace bridge
