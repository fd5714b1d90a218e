#pragma once

#include <asio/io_context.hpp>
#include <memory>
#include <vector>

#include "auth/token_source.hpp"
#include "loop/turn.hpp"

namespace bridge {

/// Who waits for a token. They are called from the loop, never from within a call here, and not at
/// all once this is destroyed; the last of them may destroy it.
class TokenWaiters {
 public:
  TokenWaiters(asio::io_context& loop, Turn& turn);

  void add(TokenSource::Done done) { waiting_.push_back(std::move(done)); }
  bool empty() const { return waiting_.empty(); }

  /// Answers all who wait now.
  void answer(TokenAnswer answer);

 private:
  asio::io_context& loop_;
  Turn& turn_;
  std::vector<TokenSource::Done> waiting_;
  std::shared_ptr<int> alive_;
};

/// A failure before anything was sent to the upstream.
TokenAnswer no_token(std::string message);

}  // namespace bridge
