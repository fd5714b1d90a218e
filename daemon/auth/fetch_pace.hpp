#pragma once

#include <algorithm>
#include <chrono>

namespace bridge {

/// How soon something that fails may be tried again: after 1 s, then twice as long each time, up to
/// 30 s. Pure: the time is given.
class FetchPace {
 public:
  using Time = std::chrono::steady_clock::time_point;

  bool may_try(Time now) const { return now >= next_; }
  void failed(Time now) {
    delay_ = delay_.count() == 0 ? first : std::min(delay_ * 2, longest);
    next_ = now + delay_;
  }
  void succeeded() {
    delay_ = std::chrono::seconds(0);
    next_ = Time{};
  }

 private:
  static constexpr std::chrono::seconds first{1};
  static constexpr std::chrono::seconds longest{30};
  std::chrono::seconds delay_{0};
  Time next_{};
};

}  // namespace bridge
