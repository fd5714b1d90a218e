#include "loop/deadline_timer.hpp"

#include <utility>

namespace bridge {

DeadlineTimer::DeadlineTimer(asio::io_context& loop, Turn& turn, std::function<void()> expired)
    : timer_(loop),
      turn_(turn),
      expired_(std::move(expired)),
      self_(std::make_shared<DeadlineTimer*>(this)) {}

void DeadlineTimer::set(SteadyTime deadline) {
  deadline_ = deadline;
  if (!armed_ || deadline < *armed_) arm();
}

void DeadlineTimer::set_after(std::chrono::milliseconds delay) {
  set(std::chrono::steady_clock::now() + delay);
}

void DeadlineTimer::set_at_latest(SteadyTime deadline) {
  if (!deadline_ || deadline < *deadline_) set(deadline);
}

void DeadlineTimer::clear() {
  deadline_.reset();
  if (!armed_) return;
  armed_.reset();
  timer_.cancel();
}

void DeadlineTimer::arm() {
  armed_ = deadline_;
  timer_.expires_at(*deadline_);
  timer_.async_wait([self = std::weak_ptr(self_)](const std::error_code& error) {
    const auto timer = self.lock();
    if (timer && !error) (*timer)->fired();
  });
}

void DeadlineTimer::fired() {
  armed_.reset();
  if (!deadline_) return;
  if (*deadline_ > std::chrono::steady_clock::now()) {
    arm();
    return;
  }
  deadline_.reset();
  Turn::Scope scope(turn_);
  expired_();
}

}  // namespace bridge
