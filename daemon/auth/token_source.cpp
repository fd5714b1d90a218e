#include "auth/token_source.hpp"

#include <utility>

namespace bridge {

TokenWaiters::TokenWaiters(EventLoop& loop)
    : tell_(loop, [this] { tell(); }), alive_(std::make_shared<int>()) {}

void TokenWaiters::answer(const TokenAnswer& answer) {
  for (TokenSource::Done& done : std::exchange(waiting_, {}))
    answered_.push_back({std::move(done), answer});
  if (!answered_.empty()) tell_.schedule();
}

void TokenWaiters::tell() {
  const std::weak_ptr alive = alive_;
  while (!alive.expired() && !answered_.empty()) {
    const Answered next = std::move(answered_.front());
    answered_.pop_front();
    next.done(next.answer);
  }
}

TokenAnswer no_token(std::string message) {
  Failure failure;
  failure.kind = ErrorKind::auth;
  failure.delivered = Delivered::no;
  failure.message = std::move(message);
  return TokenAnswer{{}, std::move(failure)};
}

}  // namespace bridge
