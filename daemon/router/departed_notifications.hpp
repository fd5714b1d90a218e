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
    OrphanedQueue& orphaned = estates_.emplace_back(budget_);
    for (const std::string& body : bodies) orphaned.share.add(body.size());
    orphaned.bodies = std::move(bodies);
    orphaned.under_way = under_way;
    orphaned.left_at = now;
    return orphaned;
  }

  /// The orphaned whose notification has been handed over; null if it is nobody's.
  OrphanedQueue* find(UpstreamId under_way) {
    for (OrphanedQueue& orphaned : estates_) {
      if (orphaned.under_way == under_way) return &orphaned;
    }
    return nullptr;
  }

  /// The next body of this orphaned; nothing at its end, and then the orphaned is gone.
  std::optional<std::string> next(OrphanedQueue& orphaned) {
    orphaned.under_way.reset();
    if (orphaned.bodies.empty()) {
      estates_.remove_if([&](const OrphanedQueue& one) { return &one == &orphaned; });
      return std::nullopt;
    }
    std::string body = std::move(orphaned.bodies.front());
    orphaned.bodies.pop_front();
    orphaned.share.remove(body.size());
    return body;
  }

  template <class Visit>
  void each_resting(Visit&& visit) {
    for (auto at = estates_.begin(); at != estates_.end();) {
      OrphanedQueue& orphaned = *at++;
      if (!orphaned.under_way) visit(orphaned);
    }
  }

  /// Drops what has waited for a session since `then` or before; returns how many notifications.
  std::size_t expire(SteadyTime then) {
    std::size_t dropped = 0;
    estates_.remove_if([&](const OrphanedQueue& orphaned) {
      const bool old = !orphaned.under_way && orphaned.left_at <= then;
      if (old) dropped += orphaned.bodies.size();
      return old;
    });
    return dropped;
  }

  bool empty() const { return estates_.empty(); }

 private:
  ByteBudget& budget_;
  std::list<OrphanedQueue> estates_;
};

}  // namespace bridge
