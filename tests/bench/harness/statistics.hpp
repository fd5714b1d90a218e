#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

namespace bench {

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

inline double microseconds_of(const std::function<void()>& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// The median over `count` times of doing it.
inline double median_of(std::size_t count, const std::function<void()>& action) {
  std::vector<double> times;
  times.reserve(count);
  for (std::size_t i = 0; i < count; ++i) times.push_back(microseconds_of(action));
  return median(std::move(times));
}

/// Values of the same thing measured once a round, and their median.
class Rounds {
 public:
  void add(double value) { values_.push_back(value); }
  double middle() const { return median(values_); }

 private:
  std::vector<double> values_;
};

/// Odd, so that a median is one that was seen; the rounds interleave what is compared, so that what
/// else the machine does meanwhile hits both sides.
constexpr int round_count = 7;

}  // namespace bench
