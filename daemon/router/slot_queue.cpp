#include "router/slot_queue.hpp"

namespace bridge {

bool UserSlots::admits(Caller& caller) {
  if (!permissions_.is_on()) return true;
  const PolicyRule* const rule = permissions_.rule_for(caller, caller.waiting.front().job.get());
  if (rule == nullptr || !rule->inflight) return true;
  SlotQueue& queue =
      queues_.try_emplace(caller.user, *rule->inflight, &Caller::waits_for_user_slot).first->second;
  queue.set_slots(*rule->inflight);
  return queue.admits(caller, in_flight_.calls().slots_used_by(caller.user));
}

Caller* UserSlots::next(const User& user) {
  const auto found = queues_.find(user);
  if (found == queues_.end()) return nullptr;
  Caller* const caller = found->second.next(in_flight_.calls().slots_used_by(user));
  if (caller == nullptr && found->second.empty()) queues_.erase(found);
  return caller;
}

}  // namespace bridge
