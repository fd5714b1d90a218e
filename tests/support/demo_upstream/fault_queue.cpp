#include "fault_queue.hpp"

#include "message.hpp"

namespace demo {

void FaultQueue::add(Fault fault) {
  const std::lock_guard lock(mutex_);
  entries_.push_back({std::move(fault)});
  any_ = true;
}

std::optional<std::string> FaultQueue::take(std::string_view http_method, std::string_view method) {
  if (!any_) return std::nullopt;
  const std::lock_guard lock(mutex_);
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    auto& fault = entry->fault;
    if (!fault.http_method.empty() && fault.http_method != http_method) continue;
    if (!is_wanted_method(fault.method, method)) continue;
    if (++entry->seen < fault.nth) continue;
    auto action = fault.action;
    if (fault.times > 0 && --fault.times == 0) entries_.erase(entry);
    any_ = !entries_.empty();
    return action;
  }
  return std::nullopt;
}

void FaultQueue::clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
  any_ = false;
}

}  // namespace demo
