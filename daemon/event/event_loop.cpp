#include "event/event_loop.hpp"

#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <utility>

namespace bridge {

struct EventLoop::Kernel {
  asio::io_context context{1};
  asio::steady_timer wake_up{context};
};

EventLoop::EventLoop(const Clock* clock)
    : clock_(clock != nullptr ? clock : &system_clock_),
      kernel_(std::make_unique<Kernel>()),
      uses_kernel_timer_(clock == nullptr) {}

EventLoop::~EventLoop() = default;

void EventLoop::run() { kernel_->context.run(); }

void EventLoop::stop() { kernel_->context.stop(); }

void EventLoop::settle() {
  kernel_->context.restart();
  for (int done = 0; done < 1000 && kernel_->context.poll_one() > 0; ++done) {
  }
  kernel_->context.restart();
}

asio::io_context& EventLoop::context() { return kernel_->context; }

// The kernel's timer is touched only for a time that is earlier than what it is set for; a timer
// that was moved or removed costs at most one wake-up for nothing.
void EventLoop::set_timer(QueuedTimer& timer, SteadyTime due) {
  timers_.set(timer, due);
  if (!armed_ || due < *armed_) wait_for_timers();
}

void EventLoop::wait_for_timers() {
  const auto next = timers_.next();
  if (!next || !uses_kernel_timer_) return;
  armed_ = *next;
  kernel_->wake_up.expires_at(*next);
  kernel_->wake_up.async_wait([this](const std::error_code& error) {
    if (error) return;
    armed_.reset();
    run_due();
    if (!armed_) wait_for_timers();
  });
}

bool EventLoop::run_due() {
  const SteadyTime now = clock_->now();
  bool any = false;
  for (bool more = true; more;) {
    const Turn turn(*this);
    more = timers_.run_one(now);
    any = any || more;
  }
  return any;
}

void EventLoop::append(Deferred& deferred) {
  deferred.previous_ = last_;
  deferred.next_ = nullptr;
  (last_ != nullptr ? last_->next_ : first_) = &deferred;
  last_ = &deferred;
  if (depth_ == 0) begin_turn_soon();
}

void EventLoop::unlink(Deferred& deferred) {
  (deferred.previous_ != nullptr ? deferred.previous_->next_ : first_) = deferred.next_;
  (deferred.next_ != nullptr ? deferred.next_->previous_ : last_) = deferred.previous_;
}

/// Somebody has deferred something outside of any turn, at the start for example.
void EventLoop::begin_turn_soon() {
  if (std::exchange(turn_is_posted_, true)) return;
  asio::post(kernel_->context, [this] {
    turn_is_posted_ = false;
    const Turn turn(*this);
  });
}

void EventLoop::run_deferred() {
  while (first_ != nullptr) {
    Deferred& next = *first_;
    next.cancel();
    next.action_();
  }
}

void EventLoop::end_turn() {
  run_deferred();
  while (!over_.empty()) {
    std::exchange(over_, {}).clear();
    run_deferred();
  }
  if (after_turn_) after_turn_();
}

Deferred::Deferred(EventLoop& loop, std::function<void()> action)
    : loop_(loop), action_(std::move(action)) {}

Deferred::~Deferred() { cancel(); }

void Deferred::schedule() {
  if (std::exchange(scheduled_, true)) return;
  loop_.append(*this);
}

void Deferred::cancel() {
  if (std::exchange(scheduled_, false)) loop_.unlink(*this);
}

}  // namespace bridge
