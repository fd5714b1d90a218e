#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace client {

/// A point on the monotonic clock, or never.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  static Deadline never() { return {}; }
  static Deadline after(std::chrono::milliseconds duration) {
    Deadline deadline;
    deadline.at_ = Clock::now() + duration;
    return deadline;
  }
  static Deadline after(std::optional<std::chrono::milliseconds> duration) {
    return duration ? after(*duration) : never();
  }
  static Deadline earlier(Deadline one, Deadline other) {
    if (!one.at_) return other;
    if (!other.at_) return one;
    return *one.at_ < *other.at_ ? one : other;
  }

  bool passed() const { return at_ && Clock::now() >= *at_; }

  /// Rounded up, not below 0; a very long time for never.
  std::chrono::milliseconds left() const {
    if (!at_) return std::chrono::milliseconds::max();
    return std::max(std::chrono::ceil<std::chrono::milliseconds>(*at_ - Clock::now()),
                    std::chrono::milliseconds(0));
  }

  /// For poll(2): -1 never, rounded up so that waking is never too early.
  int poll_timeout() const {
    if (!at_) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*at_ - Clock::now()).count();
    return static_cast<int>(std::clamp<long long>(left, 0, 1000LL * 1000 * 1000));
  }

 private:
  std::optional<Clock::time_point> at_;
};

}  // namespace client
