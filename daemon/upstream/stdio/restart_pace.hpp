#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "base/backoff.hpp"
#include "event/deadline_timer.hpp"

namespace bridge {

/// When a local server's next run may begin, and when it begins by itself (BEHAVIOUR, "Local
/// server").
///
/// After a good run, of 30 s or more, one may be asked for at once. One that ends again and again
/// is not made to do so faster than every 500 ms, however many ask; with --spawn start it is begun
/// again by itself after 500 ms, then twice as long each time, up to 30 s.
///
/// The loop's thread only; a part of ChildUpstream.
class RestartPace {
 public:
  /// `lazy`: a run begins only when one is asked for. `due`: it is time to begin one.
  RestartPace(EventLoop& loop, bool lazy, std::function<void()> due)
      : loop_(loop), lazy_(lazy), timer_(loop, std::move(due)) {}

  bool may_begin() const { return loop_.now() >= earliest_; }
  /// One was asked for that may not begin yet.
  void asked() { timer_.set_at_latest(earliest_); }
  void begun() {
    timer_.clear();
    begun_ = loop_.now();
  }
  void could_not_begin() {
    timer_.clear();
    if (!lazy_) timer_.set_after(backoff_.next());
  }
  void ended() {
    earliest_ = loop_.now();
    if (earliest_ - begun_ >= good_life) {
      backoff_.reset();
    } else {
      earliest_ += Backoff::first;
    }
    // The jitter is for those that share a server; nobody shares this one.
    if (!lazy_) timer_.set_after(std::max(backoff_.next(), Backoff::first));
  }
  /// No run begins by itself any more.
  void stop() { timer_.clear(); }

 private:
  static constexpr std::chrono::seconds good_life{30};

  EventLoop& loop_;
  const bool lazy_;
  SteadyTime begun_{};
  SteadyTime earliest_{};
  Backoff backoff_;
  DeadlineTimer timer_;
};

}  // namespace bridge
