#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bridge {

/// Durations counted in buckets, for the metrics. Pure; adding costs a few comparisons and two
/// additions. `upper_bounds` are microseconds, increasing; longer durations are counted in one
/// additional bucket.
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

  /// The count of bucket `at` alone; `at` == buckets: longer than all bounds.
  std::uint64_t count(std::size_t at) const { return counts_[at]; }
  std::uint64_t sum_in_microseconds() const { return sum_; }

 private:
  std::array<std::uint64_t, buckets + 1> counts_{};
  std::uint64_t sum_ = 0;
};

/// The last 1024 durations, for percentiles. Pure; adding costs one store.
class LatencyWindow {
 public:
  void add(std::chrono::steady_clock::duration duration) {
    const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
    samples_[count_++ % samples_.size()] =
        static_cast<std::uint32_t>(std::clamp<std::int64_t>(micros, 0, UINT32_MAX));
  }

  /// In microseconds; `part` between 0 and 1. 0 without samples.
  std::uint32_t percentile(double part) const {
    const std::size_t size = std::min(count_, samples_.size());
    if (size == 0) return 0;
    std::vector<std::uint32_t> sorted(samples_.begin(),
                                      samples_.begin() + static_cast<std::ptrdiff_t>(size));
    const auto at = static_cast<std::ptrdiff_t>(part * static_cast<double>(size - 1));
    std::nth_element(sorted.begin(), sorted.begin() + at, sorted.end());
    return sorted[static_cast<std::size_t>(at)];
  }

 private:
  std::array<std::uint32_t, 1024> samples_{};
  std::size_t count_ = 0;
};

}  // namespace bridge
