#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <utility>

#include "router/client.hpp"
#include "router/permissions.hpp"
#include "router/requests_in_flight.hpp"

namespace bridge {

/// Assigns the --max-inflight slots for requests at the upstream: at once while a slot is free and
/// no caller is queued, otherwise one slot each in order of asking. Pure.
class SlotQueue {
 public:
  /// `waits`: the member that marks a queued caller.
  explicit SlotQueue(std::size_t slots, bool Caller::*waits = &Caller::waits_for_slot)
      : slots_(slots), waits_(waits) {}

  void set_slots(std::size_t slots) { slots_ = slots; }

  /// Whether `caller` may take a slot now, with `used` taken; otherwise it is queued. A queued
  /// caller may also take one if a slot is free: the queue is served as soon as a slot is freed, so
  /// callers before it have had theirs.
  bool admits(Caller& caller, std::size_t used) {
    if (std::exchange(its_turn_, nullptr) == &caller) return true;
    if (used < slots_ && (queue_.empty() || caller.*waits_)) return true;
    if (!(caller.*waits_)) queue_.push_back(&caller);
    caller.*waits_ = true;
    return false;
  }
  /// Removes and returns the next queued caller, if there is a slot for it, which admits() then
  /// gives it once.
  Caller* next(std::size_t used) {
    turn_is_over();
    if (used >= slots_ || queue_.empty()) return nullptr;
    Caller* const caller = queue_.front();
    queue_.pop_front();
    caller->*waits_ = false;
    its_turn_ = caller;
    return caller;
  }
  void turn_is_over() { its_turn_ = nullptr; }
  bool empty() const { return queue_.empty(); }
  void caller_left(const Caller& caller) {
    std::erase(queue_, &caller);
    if (its_turn_ == &caller) its_turn_ = nullptr;
  }

 private:
  std::size_t slots_;
  bool Caller::*waits_;
  std::deque<Caller*> queue_;         ///< without duplicates
  const Caller* its_turn_ = nullptr;  ///< may take the slot that is free now
};

/// Assigns the slots of users whose rules limit their requests in flight (`inflight`), in turn to
/// the callers of a user. A part of ClientFrames; the loop's thread only.
class UserSlots {
 public:
  UserSlots(const Permissions& permissions, const RequestsInFlight& in_flight)
      : permissions_(permissions), in_flight_(in_flight) {}

  /// Whether the caller's first frame may start; otherwise the caller is queued.
  bool admits(Caller& caller);
  /// The next queued caller of this user, which admits() then once; null: none, or no free slot.
  Caller* next(const User& user);
  void turn_is_over(const User& user) {
    if (const auto found = queues_.find(user); found != queues_.end()) found->second.turn_is_over();
  }
  void caller_left(const Caller& caller) {
    for (auto& [user, queue] : queues_) queue.caller_left(caller);  // its user may have changed
  }
  void clear() { queues_.clear(); }

 private:
  const Permissions& permissions_;
  const RequestsInFlight& in_flight_;
  std::map<User, SlotQueue> queues_;
};

}  // namespace bridge
