#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "base/ids.hpp"

namespace bridge {

/// Which entries have left the ring at its old end, for the readers that had not come to them. One
/// that was coalesced away was not pushed out, and leaves a hole. Pure.
///
/// Bounded: of the parts between holes the newest max_runs are known. A reader that is still
/// further behind is told of fewer than it has lost.
class PushedOut {
 public:
  static constexpr std::size_t max_runs = 1000;

  /// REQUIRES: `sequence` is above all before.
  void add(Sequence sequence) {
    const std::uint64_t number = value_of(sequence);
    if (runs_.empty() || runs_.back().end != number) {
      if (runs_.size() == max_runs) runs_.pop_front();
      runs_.push_back({number, number, count_});
    }
    ++runs_.back().end;
    ++count_;
  }

  /// How many were pushed out from this one on.
  std::uint64_t count_from(Sequence sequence) const {
    const std::uint64_t number = value_of(sequence);
    const auto run = std::partition_point(runs_.begin(), runs_.end(),
                                          [number](const Run& one) { return one.end <= number; });
    if (run == runs_.end()) return 0;
    return count_ - run->before - (std::max(number, run->begin) - run->begin);
  }

 private:
  struct Run {
    std::uint64_t begin;
    std::uint64_t end;     ///< one past its last
    std::uint64_t before;  ///< how many were pushed out before it
  };

  std::deque<Run> runs_;
  std::uint64_t count_ = 0;
};

}  // namespace bridge
