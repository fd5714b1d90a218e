#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace bridge {

/// Durations counted in buckets, for the metrics. Pure; adding costs a few comparisons and two
/// additions. `upper_bounds` are microseconds, increasing; what is longer than the last one is
/// counted in one bucket more.
template <const auto& upper_bounds>
class Histogram {
 public:
  static constexpr std::size_t buckets = std::size(upper_bounds);

  void add(std::chrono::steady_clock::duration duration) {
    const auto micros = std::max<std::int64_t>(
        0, std::chrono::duration_cast<std::chrono::microseconds>(duration).count());
    std::size_t at = 0;
    while (at < buckets && micros > upper_bounds[at]) ++at;
    ++counts_[at];
    sum_ += static_cast<std::uint64_t>(micros);
  }

  /// Of bucket `at` alone; `at` == buckets: longer than all bounds.
  std::uint64_t count(std::size_t at) const { return counts_[at]; }
  std::uint64_t sum_in_microseconds() const { return sum_; }

 private:
  std::array<std::uint64_t, buckets + 1> counts_{};
  std::uint64_t sum_ = 0;
};

}  // namespace bridge
