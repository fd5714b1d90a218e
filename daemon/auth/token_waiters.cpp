#include "auth/token_waiters.hpp"

#include <asio/post.hpp>
#include <utility>

namespace bridge {

TokenWaiters::TokenWaiters(asio::io_context& loop, Turn& turn)
    : loop_(loop), turn_(turn), alive_(std::make_shared<int>()) {}

void TokenWaiters::answer(TokenAnswer answer) {
  if (waiting_.empty()) return;
  asio::post(loop_, [alive = std::weak_ptr(alive_), &turn = turn_,
                     waiting = std::exchange(waiting_, {}), answer = std::move(answer)] {
    if (alive.expired()) return;
    Turn::Scope scope(turn);
    for (const TokenSource::Done& done : waiting) {
      if (alive.expired()) return;
      done(answer);
    }
  });
}

TokenAnswer no_token(std::string message) {
  Failure failure;
  failure.kind = ErrorKind::auth;
  failure.delivered = Delivered::no;
  failure.message = std::move(message);
  return TokenAnswer{{}, std::move(failure)};
}

}  // namespace bridge
