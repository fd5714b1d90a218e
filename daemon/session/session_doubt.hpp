#pragma once

#include <optional>

#include "event/event_loop.hpp"
#include "json/frame.hpp"
#include "session/health_check.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

class EraSession;

/// Decides whether a session still exists after refusals that may mean its loss, for all of them at
/// once (BEHAVIOUR, "Session: suspected loss"). First by a ping; if that is refused too, by an
/// `initialize` outside of the session, which continues unless that succeeds.
///
/// Owned by the session, which it tells to go on or to reopen; the loop's thread only. HealthCheck
/// holds the refusals and the times.
class SessionDoubt {
 public:
  SessionDoubt(EventLoop& loop, EraSession& session, HealthCheck& health);

  /// A refusal that names no cause is a doubt if the one before it, of another message or another
  /// GET of the server stream, named none either.
  SessionVerdict judge_unclear(UpstreamId id, SessionVerdict verdict);
  void forget_unclear() { unclear_.reset(); }
  /// The refusal waits for the decision. REQUIRES: the ending gives the message back.
  void suspect(Ending ending);
  /// Whether the server answers that it does not know the session that the request named.
  bool denies_session(const Frame& response) const;
  /// Keeps a response that denies the session, until a check has shown whether it is missing: then
  /// its request is sent again. False: clients get it now.
  bool holds_response(UpstreamId id, const Frame& response);
  /// Checks once, for all refusals in doubt, whether the session exists.
  void check_session();
  /// It is decided: the messages are sent again in another session, or the refusals stand.
  void resolve_suspected(bool lost);

  // Of pings.
  void ping_answered(const Frame& frame);
  void ping_ended(Ending ending);
  /// From HealthCheck: that about doubts has no answer.
  void ping_unanswered();

  /// Whether an `initialize` outside of the session decides.
  bool tries_another() const { return other_session_.has_value(); }
  /// The same, and the session in doubt was open.
  bool tries_another_while_open() const { return other_session_ && other_session_->was_open; }
  // REQUIRES: tries_another().
  /// The `initialize` failed in passing, as of a server that is starting: that decides nothing.
  void another_session_failed();
  /// It takes the place of the one that is lost.
  void another_session_opened();
  /// The server refuses everything, or cannot be reached: as far as is known, the session exists.
  void another_session_refused();
  /// The session has ended.
  void stop() { check_time_.clear(); }

 private:
  struct OtherSession {
    bool was_open;     ///< the session in doubt; else it was being resumed
    Failure refusal;   ///< of the ping
    int failures = 0;  ///< of `initialize`, none of which was a refusal
  };

  void try_another_session(Failure refusal);
  void check_time_over();

  EventLoop& loop_;
  EraSession& session_;
  HealthCheck& health_;
  std::optional<OtherSession> other_session_;
  DeadlineTimer check_time_;           ///< while `other_session_` is being opened
  std::optional<UpstreamId> unclear_;  ///< the last message that was refused so, since a success
};

}  // namespace bridge
