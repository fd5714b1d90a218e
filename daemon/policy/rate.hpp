#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace bridge {

/// `N/TIME`: at most `burst` requests at once, and as many in each `period`.
struct Rate {
  std::uint64_t burst = 1;
  std::chrono::nanoseconds period{};

  /// After this time one more token is there.
  std::chrono::nanoseconds interval() const { return period / static_cast<std::int64_t>(burst); }

  friend bool operator==(const Rate&, const Rate&) = default;
};

/// The tokens of one user, as the time at which the bucket is full again: so it needs no timer, and
/// nothing else has to be kept of it. Times are those of one monotonic clock. A value.
class TokenBucket {
 public:
  using Time = std::chrono::steady_clock::time_point;

  TokenBucket() = default;
  /// As full_at() was.
  explicit TokenBucket(Time full_at) : full_at_(full_at) {}

  /// Takes this many tokens, or a whole burst if that is less. If they are not there, nothing is
  /// taken, and the time until they are is returned, at least 1 ms.
  std::optional<std::chrono::milliseconds> take(const Rate& rate, Time now,
                                                std::uint64_t count = 1) {
    using std::chrono::milliseconds;
    // Under a rate that is another now it may not be emptier than empty.
    Time full_at = full_at_ > now + rate.period ? now + rate.period : full_at_;
    if (full_at < now) full_at = now;
    const Time next =
        full_at + rate.interval() * static_cast<std::int64_t>(std::min(count, rate.burst));
    if (next > now + rate.period) {
      full_at_ = full_at;
      return std::chrono::ceil<milliseconds>(next - (now + rate.period));
    }
    full_at_ = next;
    return std::nullopt;
  }
  Time full_at() const { return full_at_; }

 private:
  Time full_at_{};
};

}  // namespace bridge
