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

/// The median time of `count` runs of the action.
inline double median_of(std::size_t count, const std::function<void()>& action) {
  std::vector<double> times;
  times.reserve(count);
  for (std::size_t i = 0; i < count; ++i) times.push_back(microseconds_of(action));
  return median(std::move(times));
}

/// Values of one quantity measured once per round, and their median.
class Rounds {
 public:
  void add(double value) { values_.push_back(value); }
  double middle() const { return median(values_); }

 private:
  std::vector<double> values_;
};

/// Odd, so that a median is a measured value; the rounds interleave the compared sides, so that
/// other load on the machine affects both.
constexpr int round_count = 7;

}  // namespace bench
