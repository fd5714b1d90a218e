#include "event/event_loop.hpp"

#include <algorithm>
#include <utility>

namespace bridge {

EventLoop::EventLoop(const Clock* clock)
    : clock_(clock != nullptr ? clock : &system_clock_), runs_timers_(clock == nullptr) {}

void EventLoop::run() {
  while (!stopped_ && can_happen()) step(std::nullopt);
}

void EventLoop::stop() { stopped_ = true; }

void EventLoop::settle() {
  stopped_ = false;
  std::size_t done = 0;
  for (std::size_t now = 1; now > 0 && done < 1000 && !stopped_; done += now)
    now = step(std::chrono::nanoseconds(0));
  stopped_ = false;
}

std::size_t EventLoop::run_once(std::chrono::nanoseconds time) { return step(time); }

bool EventLoop::can_happen() const {
  return turn_is_posted_ || poller_.is_awaited() || (runs_timers_ && timers_.next());
}

std::optional<std::chrono::nanoseconds> EventLoop::until_next_due() const {
  const auto next = runs_timers_ ? timers_.next() : std::nullopt;
  if (!next) return std::nullopt;
  return std::max(*next - clock_->now(), SteadyTime::duration(0));
}

/// Waits, for no longer than `limit`, tells what has come, and runs what is due. Returns how much.
std::size_t EventLoop::step(std::optional<std::chrono::nanoseconds> limit) {
  std::size_t done = 0;
  if (std::exchange(turn_is_posted_, false)) {
    const Turn turn(*this);
    ++done;
  }
  if (done > 0) limit = std::chrono::nanoseconds(0);
  if (const auto due = until_next_due()) limit = limit ? std::min(*limit, *due) : *due;
  if (!stopped_ && poller_.wait(limit)) {
    in_round_ = true;
    round_began_ = now();
    while (!stopped_ && poller_.tell_next()) ++done;
    end_round();
    round_began_.reset();
  }
  if (!stopped_ && until_next_due() == std::chrono::nanoseconds(0) && run_due()) ++done;
  return done;
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

EventLoop::DeferredList& EventLoop::list_of(const Deferred& deferred) {
  return deferred.in_round_ ? end_of_round_ : end_of_turn_;
}

void EventLoop::append(Deferred& deferred) {
  deferred.in_round_ = in_round_ && deferred.until_ == Deferred::Until::end_of_round;
  DeferredList& list = list_of(deferred);
  deferred.previous_ = list.last;
  deferred.next_ = nullptr;
  (list.last != nullptr ? list.last->next_ : list.first) = &deferred;
  list.last = &deferred;
  if (depth_ == 0 && !deferred.in_round_) begin_turn_soon();
}

void EventLoop::unlink(Deferred& deferred) {
  DeferredList& list = list_of(deferred);
  (deferred.previous_ != nullptr ? deferred.previous_->next_ : list.first) = deferred.next_;
  (deferred.next_ != nullptr ? deferred.next_->previous_ : list.last) = deferred.previous_;
}

/// What is asked for from here on has no other end to wait for than the turn's.
void EventLoop::end_round() {
  in_round_ = false;
  if (end_of_round_.first == nullptr) return;
  const Turn turn(*this);
  while (end_of_round_.first != nullptr) {
    Deferred& next = *end_of_round_.first;
    next.cancel();
    next.schedule();
  }
}

/// Somebody has deferred something outside of any turn, at the start for example.
void EventLoop::begin_turn_soon() { turn_is_posted_ = true; }

void EventLoop::run_deferred() {
  while (end_of_turn_.first != nullptr) {
    Deferred& next = *end_of_turn_.first;
    next.cancel();
    next.action_();
  }
}

void EventLoop::disown(const void* object) {
  const auto found = std::find_if(owned_.begin(), owned_.end(),
                                  [object](const auto& one) { return one.get() == object; });
  if (found == owned_.end()) return;
  over_.push_back(std::move(*found));
  owned_.erase(found);
  if (depth_ == 0) begin_turn_soon();
}

void EventLoop::end_turn() {
  run_deferred();
  while (!over_.empty()) {
    ending_.swap(over_);
    ending_.clear();
    run_deferred();
  }
  if (after_turn_) after_turn_();
}

Deferred::Deferred(EventLoop& loop, std::function<void()> action, Until until)
    : loop_(loop), action_(std::move(action)), until_(until) {}

Deferred::~Deferred() { cancel(); }

void Deferred::schedule() {
  if (std::exchange(scheduled_, true)) return;
  loop_.append(*this);
}

void Deferred::cancel() {
  if (std::exchange(scheduled_, false)) loop_.unlink(*this);
}

}  // namespace bridge
