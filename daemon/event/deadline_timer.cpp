#include "event/deadline_timer.hpp"

#include <utility>

namespace bridge {

DeadlineTimer::DeadlineTimer(EventLoop& loop, std::function<void()> expired)
    : loop_(loop), action_(std::move(expired)) {}

DeadlineTimer::~DeadlineTimer() { loop_.remove_timer(*this); }

void DeadlineTimer::set(SteadyTime deadline) {
  deadline_ = deadline;
  if (!is_queued() || deadline < due()) loop_.set_timer(*this, deadline);
}

void DeadlineTimer::set_at_latest(SteadyTime deadline) {
  if (!deadline_ || deadline < *deadline_) set(deadline);
}

void DeadlineTimer::clear() {
  deadline_.reset();
  loop_.remove_timer(*this);
}

void DeadlineTimer::expired() {
  if (!deadline_) return;
  if (*deadline_ > loop_.now()) {
    loop_.set_timer(*this, *deadline_);
    return;
  }
  deadline_.reset();
  action_();
}

}  // namespace bridge
