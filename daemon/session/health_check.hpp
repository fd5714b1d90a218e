#pragma once

#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "event/event_loop.hpp"
#include "session/session_record.hpp"
#include "session/session_sender.hpp"

namespace bridge {

/// Asks whether the session is there, by one ping at a time: when nothing was sent for a while, so
/// that an idle session is kept and a lost one is noticed; when a refusal may mean a lost session
/// (a doubt); and whenever the session wants to know (BEHAVIOUR, "Session: keep-alive",
/// "Session: suspected loss"). What the end of a ping means is the session's to decide.
///
/// Owned by the session; the loop's thread only. Memory: the refusals in doubt, bounded by the
/// requests in flight. A ping without an answer for 15 s is abandoned and the connections are
/// replaced; with refusals in doubt it has --connect-wait, 1 s at least, and then they stand.
class HealthCheck {
 public:
  /// `unanswered`: the ping that was to clear up the doubts was not answered in time.
  HealthCheck(EventLoop& loop, SessionSender& sender, Upstream& upstream, Log& log,
              const SessionOptions& options, std::function<void()> unanswered);

  /// The session is open: watches for silence, in a legacy one.
  void watch();
  /// It is not open: a ping under way is still awaited, but for silence nothing is watched.
  void stop();
  /// The session is lost: no ping is awaited.
  void cancel();

  /// Sends a ping, unless there is one under way.
  void ping();
  /// The same; it is sent again if it is not answered.
  void ping_until_answered();
  /// Whether it was sent to clear up doubts.
  bool ping_ended();

  /// A refusal that may mean a lost session. REQUIRES: the message is given back in the ending.
  void doubt(Ending ending) { suspected_.push_back(std::move(ending)); }
  bool has_suspected() const { return !suspected_.empty(); }
  /// A ping that is sent after this clears up the doubts.
  void clear_up();
  /// The refusal of a message is no longer in doubt; false if it was not.
  bool remove(UpstreamId id);
  std::vector<Ending> take_suspected() { return std::exchange(suspected_, {}); }
  /// Sends the ping again if its connection broke, which says nothing of the session. False if that
  /// is not how it ended.
  bool repeat(Ending& ending);

 private:
  bool is_pinging() const { return ping_ != UpstreamId{}; }
  void expired();

  EventLoop& loop_;
  SessionSender& sender_;
  Upstream& upstream_;
  Log& log_;
  const SessionOptions& options_;
  const std::function<void()> unanswered_;
  std::vector<Ending> suspected_;
  UpstreamId ping_{};       ///< the one under way
  bool clears_up_ = false;  ///< it was sent for the doubts
  SteadyTime sent_{};
  DeadlineTimer timer_;
};

}  // namespace bridge
