#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "base/byte_budget.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// Notifications and answers that wait: for a token, or because many of them are on their way.
///
/// They take none of the slots of requests, and each needs a connection: without a bound an
/// upstream that floods the bridge with pings, or a client with cancellations, would open
/// thousands. Pure; owned by HttpUpstream. Full: the message is not taken, and its sender is told
/// `overloaded`.
class DeliveryQueue {
 public:
  static constexpr std::size_t max_under_way = 32;
  static constexpr std::size_t max_bytes = 8u << 20;

  explicit DeliveryQueue(ByteBudget& budget) : share_(budget) {}

  bool empty() const { return waiting_.empty(); }
  /// Whether one more may start now.
  bool may_start() const { return under_way_ < max_under_way; }
  void started() { ++under_way_; }
  void ended() { --under_way_; }

  /// False if there is no room; the message is then untouched.
  bool push(Outgoing&& message) {
    const std::size_t charge = charge_of(message);
    if (!waiting_.empty() && share_.held() + charge > max_bytes) return false;
    share_.add(charge);
    waiting_.push_back(std::move(message));
    return true;
  }

  /// The next one that may start; empty if there is none.
  std::optional<Outgoing> pop() {
    if (waiting_.empty() || !may_start()) return std::nullopt;
    Outgoing message = std::move(waiting_.front());
    waiting_.pop_front();
    share_.remove(charge_of(message));
    return message;
  }

  void forget(UpstreamId id) {
    const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                    [id](const Outgoing& one) { return one.id == id; });
    if (found == waiting_.end()) return;
    share_.remove(charge_of(*found));
    waiting_.erase(found);
  }

  void clear() { take_all(); }

  std::deque<Outgoing> take_all() {
    share_.set(0);
    return std::exchange(waiting_, {});
  }

 private:
  static std::size_t charge_of(const Outgoing& message) {
    return message.body.size() + sizeof(Outgoing);
  }

  std::deque<Outgoing> waiting_;
  std::size_t under_way_ = 0;
  ByteBudget::Share share_;
};

}  // namespace bridge
