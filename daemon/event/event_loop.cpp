#include "event/event_loop.hpp"

#include <algorithm>
#include <utility>

#include "event/kernel.hpp"

namespace bridge {

void TimerQueue::place(QueuedTimer& timer, std::size_t at) {
  heap_[at] = &timer;
  timer.place_ = at;
}

void TimerQueue::rise(std::size_t at) {
  QueuedTimer& timer = *heap_[at];
  while (at > 0) {
    const std::size_t parent = (at - 1) / 2;
    if (heap_[parent]->due_ <= timer.due_) break;
    place(*heap_[parent], at);
    at = parent;
  }
  place(timer, at);
}

void TimerQueue::sink(std::size_t at) {
  QueuedTimer& timer = *heap_[at];
  for (std::size_t child = 2 * at + 1; child < heap_.size(); child = 2 * at + 1) {
    if (child + 1 < heap_.size() && heap_[child + 1]->due_ < heap_[child]->due_) ++child;
    if (timer.due_ <= heap_[child]->due_) break;
    place(*heap_[child], at);
    at = child;
  }
  place(timer, at);
}

void TimerQueue::set(QueuedTimer& timer, SteadyTime due) {
  timer.due_ = due;
  if (!timer.is_queued()) {
    heap_.push_back(&timer);
    timer.place_ = heap_.size() - 1;
  }
  rise(timer.place_);
  sink(timer.place_);
}

void TimerQueue::remove(QueuedTimer& timer) {
  if (!timer.is_queued()) return;
  const std::size_t at = timer.place_;
  timer.place_ = QueuedTimer::nowhere;
  QueuedTimer& last = *heap_.back();
  heap_.pop_back();
  if (&last == &timer) return;
  place(last, at);
  rise(at);
  sink(last.place_);
}

std::optional<SteadyTime> TimerQueue::next() const {
  return heap_.empty() ? std::nullopt : std::optional(heap_.front()->due_);
}

bool TimerQueue::run_one(SteadyTime now) {
  if (heap_.empty() || heap_.front()->due_ > now) return false;
  QueuedTimer& timer = *heap_.front();
  remove(timer);
  timer.expired();
  return true;
}

EventLoop::EventLoop(const Clock* clock)
    : clock_(clock != nullptr ? clock : &system_clock_),
      runs_timers_(clock == nullptr),
      kernel_(std::make_unique<Kernel>()) {}

EventLoop::~EventLoop() = default;

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
  return turn_is_posted_ || kernel_->waiting > 0 || (runs_timers_ && timers_.next());
}

/// Waits for at most `limit`, runs the handlers of the events and the due timers. Returns how many
/// ran.
std::size_t EventLoop::step(std::optional<std::chrono::nanoseconds> limit) {
  std::size_t done = 0;
  if (std::exchange(turn_is_posted_, false)) {
    const Turn turn(*this);
    ++done;
    limit = std::chrono::nanoseconds(0);
  }
  if (!stopped_) done += run_round(limit);
  if (runs_timers_ && !alarm_ && timers_.next()) {  // it has expired
    if (!stopped_) run_due();
    set_alarm();  // also when stopped: the loop may run again
  }
  return done;
}

/// Waits for the first event and runs its handler, then the handlers of what is ready by then.
std::size_t EventLoop::run_round(std::optional<std::chrono::nanoseconds> limit) {
  // Bounded, since a peer may keep sending: callbacks that are deferred until the end of the round
  // and due timers come in between.
  constexpr std::size_t most_events = 64;

  Kernel& kernel = *kernel_;
  kernel.restart();  // it stops when nothing is pending
  in_round_ = true;
  std::size_t ran = 0;
  if (!limit) {
    ran = kernel.run_one();
  } else if (*limit > std::chrono::nanoseconds(0)) {
    ran = kernel.run_one_for(*limit);
  } else {
    ran = kernel.poll_one();
  }
  while (ran > 0 && ran < most_events && !stopped_ && kernel.poll_one() > 0) ++ran;
  end_round();
  return ran;
}

void EventLoop::set_timer(QueuedTimer& timer, SteadyTime due) {
  timers_.set(timer, due);
  set_alarm();
}

// The kernel's timer is set again only for an earlier time: a timer that was moved or removed costs
// at most one wake-up.
void EventLoop::set_alarm() {
  const auto next = timers_.next();
  if (!runs_timers_ || !next || (alarm_ && *alarm_ <= *next)) return;
  alarm_ = *next;
  kernel_->alarm.expires_at(*next);
  kernel_->alarm.async_wait([this](const std::error_code& error) {
    if (!error) alarm_.reset();
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

SteadyTime EventLoop::round_began() const {
  if (round_began_) return *round_began_;
  const SteadyTime asked = now();
  if (in_round_) round_began_ = asked;
  return asked;
}

/// What is deferred from here on runs at the end of the turn: the round is over.
void EventLoop::end_round() {
  in_round_ = false;
  if (end_of_round_.first != nullptr) {
    const Turn turn(*this);
    while (end_of_round_.first != nullptr) {
      Deferred& next = *end_of_round_.first;
      next.cancel();
      next.schedule();
    }
  }
  round_began_.reset();
}

/// A callback was deferred outside of any turn, at the start for example.
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
