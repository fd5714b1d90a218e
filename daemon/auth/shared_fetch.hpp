#pragma once

#include <functional>

#include "auth/fetch_pace.hpp"
#include "auth/token_waiters.hpp"
#include "event/deadline_timer.hpp"

namespace bridge {

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
