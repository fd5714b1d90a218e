#include "fault_queue.hpp"

#include "message.hpp"

namespace demo {

std::uint64_t FaultQueue::add(Fault fault) {
  const std::lock_guard lock(mutex_);
  const auto times = fault.times;
  entries_.push_back({std::move(fault), {++last_id_, 0, times}});
  any_ = true;
  return last_id_;
}

std::optional<std::string> FaultQueue::take(std::string_view http_method, std::string_view method) {
  if (!any_) return std::nullopt;
  const std::lock_guard lock(mutex_);
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    const auto& fault = entry->fault;
    if (!fault.http_method.empty() && fault.http_method != http_method) continue;
    if (!is_wanted_method(fault.method, method)) continue;
    if (++entry->state.seen < fault.nth) continue;
    auto action = fault.action;
    if (entry->state.left > 0 && --entry->state.left == 0) entries_.erase(entry);
    any_ = !entries_.empty();
    return action;
  }
  return std::nullopt;
}

std::vector<FaultQueue::Waiting> FaultQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  std::vector<Waiting> states;
  for (const auto& entry : entries_) states.push_back(entry.state);
  return states;
}

void FaultQueue::clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
  any_ = false;
}

}  // namespace demo
