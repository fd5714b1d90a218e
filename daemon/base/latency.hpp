#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bridge {

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
