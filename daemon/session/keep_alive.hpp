#pragma once

#include <chrono>

#include "base/log.hpp"
#include "event/event_loop.hpp"
#include "session/session_sender.hpp"

namespace bridge {

/// The session's pings: one when nothing was sent for a while, so that an idle session is kept and
/// a lost one is noticed, and one whenever the session asks for it (BEHAVIOUR, "Session:
/// keep-alive"). At most one at a time. What its answer or its end means is the session's affair.
///
/// Owned by the session; the loop's thread only. One without an answer after 15 s is given up, and
/// the connections are made anew.
class KeepAlive {
 public:
  /// `interval` 0: off.
  KeepAlive(EventLoop& loop, SessionSender& sender, Upstream& upstream, Log& log,
            std::chrono::milliseconds interval);

  /// The session is open: watches for silence.
  void watch();
  /// It is not open: watches no more. A ping under way is still awaited.
  void stop() { timer_.clear(); }
  /// The session is lost: nor is a ping.
  void cancel();
  void set_interval(std::chrono::milliseconds interval) { interval_ = interval; }

  /// Sends a ping, unless there is one under way.
  void ping();
  /// The same; it is given up if it is not answered, and sent again.
  void ping_at_once();
  bool is_pinging() const { return ping_ != UpstreamId{}; }
  bool is_ping(UpstreamId id) const { return is_pinging() && id == ping_; }
  void ping_ended() { ping_ = UpstreamId{}; }

 private:
  void expired();

  EventLoop& loop_;
  SessionSender& sender_;
  Upstream& upstream_;
  Log& log_;
  std::chrono::milliseconds interval_;
  UpstreamId ping_{};  ///< the one under way
  SteadyTime sent_{};
  DeadlineTimer timer_;
};

}  // namespace bridge
