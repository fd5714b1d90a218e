#include "control/idle_exit.hpp"

#include <chrono>
#include <utility>

namespace bridge {

void IdleExit::look() {
  if (options_.exit.count() == 0 || !end_) return;
  const Activity now = activity_();
  if (now.is_busy) {
    idle_since_.reset();
    timer_.clear();
    return;
  }
  if (!idle_since_) idle_since_ = loop_.now();
  timer_.set(due(now));
}

SteadyTime IdleExit::due(const Activity& now) const {
  return *idle_since_ + options_.exit +
         (now.has_untaken ? options_.keep : std::chrono::milliseconds(0));
}

void IdleExit::expired() {
  const Activity now = activity_();
  if (now.is_busy || !idle_since_ || due(now) > loop_.now()) return;  // look() follows
  std::exchange(end_, nullptr)();
}

}  // namespace bridge
