#include "auth/access_token.hpp"

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
  later_.clear();
  if (answer.failure) {
    pace_.failed(loop_.now());
    last_failure_ = answer;
  } else {
    pace_.succeeded();
  }
  waiters_.answer(answer);
}

bool AccessToken::is_there() {
  const auto token = source_->current();
  if (token) use(*token);
  return token.has_value();
}

void AccessToken::use(const std::string& token) {
  if (token == text_) return;
  text_ = token;
  ++generation_;
}

void AccessToken::fetch() {
  if (std::exchange(fetching_, true)) return;
  source_->fetch([this](const TokenAnswer& answer) { answered(answer); });
}

void AccessToken::with(Ready ready) {
  if (is_there()) {
    ready(std::nullopt);
  } else {
    waiting_.push_back(std::move(ready));
    fetch();
  }
}

void AccessToken::answered(const TokenAnswer& answer) {
  fetching_ = false;
  if (answer.failure) {
    ++failures_;
  } else {
    use(answer.token);
  }
  const std::vector<Ready> waiting = std::exchange(waiting_, {});
  arrived_(answer.failure);
  for (const Ready& ready : waiting) ready(answer.failure);
}

bool AccessToken::refused(int generation, const TokenChallenge& challenge) {
  if (generation == generation_ && !source_->refused(text_, challenge)) return false;
  if (!is_there()) fetch();
  return true;
}

std::vector<std::string> AccessToken::secrets() const {
  std::vector<std::string> secrets = source_->secrets();
  secrets.push_back(text_);
  return secrets;
}

}  // namespace bridge
