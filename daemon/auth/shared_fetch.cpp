#include "auth/shared_fetch.hpp"

#include <utility>

namespace bridge {
namespace {

constexpr std::chrono::seconds between_refusals{1};

}  // namespace

SharedFetch::SharedFetch(EventLoop& loop, std::function<void()> begin)
    : loop_(loop), begin_(std::move(begin)), waiters_(loop), later_(loop, [this] { start(); }) {}

void SharedFetch::join(TokenSource::Done done) {
  waiters_.add(std::move(done));
  if (running_ || later_.is_set()) return;
  const auto now = loop_.now();
  if (!pace_.may_try(now)) {
    waiters_.answer(last_failure_);
  } else if (because_refused_ && now < next_after_refusal_) {
    later_.set(next_after_refusal_);
  } else {
    start();
  }
}

void SharedFetch::give(TokenSource::Done done, const std::string& token) {
  waiters_.add(std::move(done));
  if (!running_) waiters_.answer(TokenAnswer{token, std::nullopt});
}

void SharedFetch::start_ahead() {
  if (running_ || later_.is_set() || !pace_.may_try(loop_.now())) return;
  start();
}

void SharedFetch::start() {
  if (std::exchange(because_refused_, false)) {
    next_after_refusal_ = loop_.now() + between_refusals;
  }
  running_ = true;
  begin_();
}

void SharedFetch::finish(const TokenAnswer& answer) {
  running_ = false;
  if (answer.failure) {
    pace_.failed(loop_.now());
    last_failure_ = answer;
  } else {
    pace_.succeeded();
  }
  waiters_.answer(answer);
}

}  // namespace bridge
