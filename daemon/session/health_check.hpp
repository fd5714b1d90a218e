#pragma once

#include <chrono>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "event/event_loop.hpp"
#include "session/session_record.hpp"
#include "session/session_sender.hpp"

namespace bridge {

class SessionDoubt;

/// Checks by pings, one at a time, whether the session exists: after silence, to keep it alive and
/// to notice a loss; after a refusal that may mean a loss (a doubt); and on request (BEHAVIOUR,
/// "Session: keep-alive", "Session: suspected loss"). The session decides what the end of a ping
/// means.
///
/// A check of doubts begins with a ping and lasts until check_ended(), 5 s at most. The next one
/// may begin 2 s later; 30 s later if it changed nothing, so that a server that refuses everything
/// gets few of them.
///
/// Owned by the session; the loop's thread only. Memory: the refusals in doubt, bounded by the
/// requests in flight.
class HealthCheck {
 public:
  HealthCheck(EventLoop& loop, SessionSender& sender, Upstream& upstream, Log& log,
              const SessionOptions& options, const SessionRecord& record, SessionDoubt& doubt);

  /// The session is open: a legacy one is watched for silence; if its server refuses messages, it
  /// is asked once a minute at least.
  void watch();
  /// The session is not open: a pending ping is still awaited, silence is no longer watched.
  void stop();
  /// The session is lost: no ping is awaited.
  void cancel();

  /// Sends a ping unless one is pending.
  void ping();
  /// The same, but repeated until answered.
  void ping_until_answered();
  /// Returns whether the ping was about doubts.
  bool ping_ended();
  SteadyTime check_ends() const { return check_ends_; }

  /// A refusal that may mean a lost session. REQUIRES: the ending gives the message back.
  void suspect(Ending ending) { suspected_.push_back(std::move(ending)); }
  bool has_suspected() const { return !suspected_.empty(); }
  /// Whether a check is under way.
  bool is_checking() const { return is_checking_; }
  /// Whether one may begin now.
  bool may_check() const { return !is_checking_ && loop_.now() >= next_check_; }
  /// Sends a ping that decides the doubts. False: one has ended a short time ago.
  bool check_suspected();
  /// A check without its ping, which was refused already.
  void begin_check();
  void check_ended(bool has_changed_something);
  /// Removes the message's refusal from the doubts; false if it is not one.
  bool remove(UpstreamId id);
  std::vector<Ending> take_suspected() { return std::exchange(suspected_, {}); }
  /// Repeats the ping if its connection broke, which does not concern the session. False if it
  /// ended otherwise.
  bool repeat(Ending& ending);

 private:
  std::chrono::milliseconds interval_of_pings() const;
  bool is_pinging() const { return ping_ != UpstreamId{}; }
  void expired();

  EventLoop& loop_;
  SessionSender& sender_;
  Upstream& upstream_;
  Log& log_;
  const SessionOptions& options_;
  const SessionRecord& record_;
  SessionDoubt& doubt_;
  std::vector<Ending> suspected_;
  UpstreamId ping_{};              ///< pending
  bool checks_suspected_ = false;  ///< sent about doubts
  bool is_checking_ = false;
  SteadyTime check_ends_{};
  SteadyTime next_check_{};
  SteadyTime sent_{};
  DeadlineTimer timer_;
};

}  // namespace bridge
