#include "event/timer_queue.hpp"

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

}  // namespace bridge
