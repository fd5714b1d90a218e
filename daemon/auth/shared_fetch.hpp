#pragma once

#include <algorithm>
#include <chrono>
#include <functional>

#include "auth/token_source.hpp"
#include "event/event_loop.hpp"

namespace bridge {

/// How soon something that fails may be tried again: after 1 s, then twice as long each time, up to
/// 30 s. Pure: the time is given.
class FetchPace {
 public:
  using Time = std::chrono::steady_clock::time_point;

  bool may_try(Time now) const { return now >= next_; }
  void failed(Time now) {
    delay_ = delay_.count() == 0 ? first : std::min(delay_ * 2, longest);
    next_ = now + delay_;
  }
  void succeeded() {
    delay_ = std::chrono::seconds(0);
    next_ = Time{};
  }

 private:
  static constexpr std::chrono::seconds first{1};
  static constexpr std::chrono::seconds longest{30};
  std::chrono::seconds delay_{0};
  Time next_{};
};

/// One fetch of a token for all who wait, and not too many of them: while a failing one may not be
/// repeated yet, who asks gets the last failure at once; a token that is refused as soon as it is
/// there is fetched anew once a second at most.
/// BEHAVIOUR, "Authorization: token sources".
///
/// The loop's thread only; a part of a TokenSource. Memory: who waits, and the last failure.
class SharedFetch {
 public:
  /// `begin` starts the work, which ends by a call of finish(), be it at once.
  SharedFetch(EventLoop& loop, std::function<void()> begin);

  void join(TokenSource::Done done);
  /// There is a token already; a fetch that is under way is waited for all the same.
  void give(TokenSource::Done done, const std::string& token);
  /// Starts one that nobody waits for, if it may be.
  void start_ahead();
  bool is_running() const { return running_; }

  /// The next fetch is because the upstream has refused a token.
  void token_refused() { because_refused_ = true; }
  void finish(const TokenAnswer& answer);
  /// What has failed is forgotten: somebody has changed the settings.
  void forgive() { pace_.succeeded(); }

 private:
  void start();

  EventLoop& loop_;
  std::function<void()> begin_;
  TokenWaiters waiters_;
  FetchPace pace_;
  TokenAnswer last_failure_;
  DeadlineTimer later_;
  SteadyTime next_after_refusal_{};
  bool because_refused_ = false;
  bool running_ = false;
};

}  // namespace bridge
