#include "auth/shared_fetch.hpp"

#include <utility>

namespace bridge {
namespace {

constexpr std::chrono::seconds between_refusals{1};

}  // namespace

SharedFetch::SharedFetch(asio::io_context& loop, Turn& turn, std::function<void()> begin)
    : begin_(std::move(begin)), waiters_(loop, turn), later_(loop, turn, [this] { start(); }) {}

void SharedFetch::join(TokenSource::Done done) {
  waiters_.add(std::move(done));
  if (running_ || later_.is_set()) return;
  const auto now = std::chrono::steady_clock::now();
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
  if (running_ || later_.is_set() || !pace_.may_try(std::chrono::steady_clock::now())) return;
  start();
}

void SharedFetch::start() {
  if (std::exchange(because_refused_, false)) {
    next_after_refusal_ = std::chrono::steady_clock::now() + between_refusals;
  }
  running_ = true;
  begin_();
}

void SharedFetch::finish(TokenAnswer answer) {
  running_ = false;
  if (answer.failure) {
    pace_.failed(std::chrono::steady_clock::now());
    last_failure_ = answer;
  } else {
    pace_.succeeded();
  }
  waiters_.answer(std::move(answer));
}

}  // namespace bridge
