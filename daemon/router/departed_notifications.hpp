#pragma once

#include <deque>
#include <list>
#include <optional>
#include <string>
#include <utility>

#include "loop/byte_budget.hpp"
#include "loop/deadline_timer.hpp"
#include "protocol/ids.hpp"

namespace bridge {

/// What clients that have left had still to say: their complete notifications count, and go one
/// after the other as they would have (product section 4). Pure. Bounded like the clients' own
/// queues, which is where they come from, and held against --max-buffered.
class DepartedNotifications {
 public:
  struct Estate {
    explicit Estate(ByteBudget& budget) : share(budget) {}

    std::deque<std::string> bodies;
    std::optional<UpstreamId> under_way;
    SteadyTime left_at;
    ByteBudget::Share share;
  };

  explicit DepartedNotifications(ByteBudget& budget) : budget_(budget) {}

  Estate& add(std::deque<std::string> bodies, std::optional<UpstreamId> under_way, SteadyTime now) {
    Estate& estate = estates_.emplace_back(budget_);
    for (const std::string& body : bodies) estate.share.add(body.size());
    estate.bodies = std::move(bodies);
    estate.under_way = under_way;
    estate.left_at = now;
    return estate;
  }

  /// The estate whose notification has been handed over; null if it is nobody's.
  Estate* find(UpstreamId under_way) {
    for (Estate& estate : estates_) {
      if (estate.under_way == under_way) return &estate;
    }
    return nullptr;
  }

  /// The next body of this estate; nothing at its end, and then the estate is gone.
  std::optional<std::string> next(Estate& estate) {
    estate.under_way.reset();
    if (estate.bodies.empty()) {
      estates_.remove_if([&](const Estate& one) { return &one == &estate; });
      return std::nullopt;
    }
    std::string body = std::move(estate.bodies.front());
    estate.bodies.pop_front();
    estate.share.remove(body.size());
    return body;
  }

  template <class Visit>
  void each_resting(Visit&& visit) {
    for (auto at = estates_.begin(); at != estates_.end();) {
      Estate& estate = *at++;
      if (!estate.under_way) visit(estate);
    }
  }

  /// Drops what has waited for a session since `then` or before; returns how many notifications.
  std::size_t expire(SteadyTime then) {
    std::size_t dropped = 0;
    estates_.remove_if([&](const Estate& estate) {
      const bool old = !estate.under_way && estate.left_at <= then;
      if (old) dropped += estate.bodies.size();
      return old;
    });
    return dropped;
  }

  bool empty() const { return estates_.empty(); }

 private:
  ByteBudget& budget_;
  std::list<Estate> estates_;
};

}  // namespace bridge
