#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "auth/token_source.hpp"
#include "event/event_loop.hpp"

namespace bridge {

/// Who waits for a token. They are called at the end of the turn, never from within a call here,
/// and not at all once this is destroyed; the last of them may destroy it.
///
/// The loop's thread only; a part of a TokenSource. Memory: who waits, and of who is to be told the
/// answer.
class TokenWaiters {
 public:
  explicit TokenWaiters(EventLoop& loop);

  void add(TokenSource::Done done) { waiting_.push_back(std::move(done)); }
  bool empty() const { return waiting_.empty(); }

  /// Answers all who wait now.
  void answer(const TokenAnswer& answer);

 private:
  struct Answered {
    TokenSource::Done done;
    TokenAnswer answer;
  };

  void tell();

  std::vector<TokenSource::Done> waiting_;
  std::deque<Answered> answered_;
  Deferred tell_;
  std::shared_ptr<int> alive_;
};

/// A failure before anything was sent to the upstream.
TokenAnswer no_token(std::string message);

}  // namespace bridge
