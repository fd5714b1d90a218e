#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "base/log.hpp"
#include "event/event_loop.hpp"
#include "session/session_sender.hpp"

namespace bridge {

/// Refusals that may mean a lost session, each with its message, and the one ping that asks for all
/// of them whether the session is there (BEHAVIOUR, "Session: suspected loss"). The session
/// decides what becomes of them when the ping has ended, and takes them out.
///
/// Owned by the session; the loop's thread only. Bounded by the requests in flight, which is where
/// the messages come from. None waits longer than for the ping: ask()'s timeout, 1 s at least.
class Doubts {
 public:
  /// `unanswered`: the ping was not answered in time; it is given up.
  Doubts(EventLoop& loop, SessionSender& sender, Upstream& upstream,
         std::function<void()> unanswered);

  /// REQUIRES: the message is given back in the ending.
  void add(Ending ending) { doubts_.push_back(std::move(ending)); }
  /// Forgets a message; false if it is none of them.
  bool remove(UpstreamId id);
  bool empty() const { return doubts_.empty(); }

  /// Asks, unless that is under way.
  void ask(std::chrono::milliseconds timeout);
  bool is_question(UpstreamId id) const { return is_asking() && id == question_; }
  /// The ping has ended so. If its connection broke, that says nothing of the session: it is sent
  /// again, as a ping only reads, and true is returned.
  bool ask_again(Ending& ending);

  /// Ends the asking, and gives all of them away.
  std::vector<Ending> take_all();
  /// Stops waiting for the ping.
  void cancel();

 private:
  bool is_asking() const { return question_ != UpstreamId{}; }

  SessionSender& sender_;
  Upstream& upstream_;
  std::vector<Ending> doubts_;
  UpstreamId question_{};  ///< the ping under way
  DeadlineTimer timer_;
};

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
