#pragma once

#include <deque>
#include <list>
#include <optional>
#include <string>
#include <utility>

#include "base/byte_budget.hpp"
#include "base/ids.hpp"
#include "event/deadline_timer.hpp"

namespace bridge {

/// What clients that have left had still to say: their complete notifications count, and go one
/// after the other as they would have (BEHAVIOUR, "Cancellation and leaving: a client leaves").
/// Pure. Bounded like the clients' own queues, which is where they come from, and held against
/// --max-buffered.
class DepartedNotifications {
 public:
  /// What one client has left behind.
  struct OrphanedQueue {
    explicit OrphanedQueue(ByteBudget& budget) : share(budget) {}

    std::deque<std::string> bodies;
    std::optional<UpstreamId> under_way;
    SteadyTime left_at;
    ByteBudget::Share share;
  };

  explicit DepartedNotifications(ByteBudget& budget) : budget_(budget) {}

  OrphanedQueue& add(std::deque<std::string> bodies, std::optional<UpstreamId> under_way,
                     SteadyTime now) {
    OrphanedQueue& queue = queues_.emplace_back(budget_);
    for (const std::string& body : bodies) queue.share.add(body.size());
    queue.bodies = std::move(bodies);
    queue.under_way = under_way;
    queue.left_at = now;
    return queue;
  }

  /// The queue whose notification has been handed over; null if it is nobody's.
  OrphanedQueue* find(UpstreamId under_way) {
    for (OrphanedQueue& queue : queues_) {
      if (queue.under_way == under_way) return &queue;
    }
    return nullptr;
  }

  /// The next body of this queue; nothing at its end, and then the queue is gone.
  std::optional<std::string> next(OrphanedQueue& queue) {
    queue.under_way.reset();
    if (queue.bodies.empty()) {
      queues_.remove_if([&](const OrphanedQueue& one) { return &one == &queue; });
      return std::nullopt;
    }
    std::string body = std::move(queue.bodies.front());
    queue.bodies.pop_front();
    queue.share.remove(body.size());
    return body;
  }

  template <class Visit>
  void each_resting(Visit&& visit) {
    for (auto at = queues_.begin(); at != queues_.end();) {
      OrphanedQueue& queue = *at++;
      if (!queue.under_way) visit(queue);
    }
  }

  /// Drops what has waited for a session since `then` or before; returns how many notifications.
  std::size_t expire(SteadyTime then) {
    std::size_t dropped = 0;
    queues_.remove_if([&](const OrphanedQueue& queue) {
      const bool old = !queue.under_way && queue.left_at <= then;
      if (old) dropped += queue.bodies.size();
      return old;
    });
    return dropped;
  }

  bool empty() const { return queues_.empty(); }

 private:
  ByteBudget& budget_;
  std::list<OrphanedQueue> queues_;
};

}  // namespace bridge
