#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.hpp"

namespace bridge {

struct RingEntry;

/// Who writes down what becomes of the ring's entries, so that another daemon can go on with them.
/// What is pushed out leaves at the old end, and is not told. Called from within the ring's calls:
/// it changes nothing there. Implemented by RingLog.
class RingJournal {
 public:
  virtual void pushed(const RingEntry& entry) = 0;
  virtual void taken(Sequence sequence) = 0;
  /// It was taken, and is not any more.
  virtual void given_back(Sequence sequence) = 0;
  /// A newer one has made it superfluous.
  virtual void superseded(Sequence sequence) = 0;

 protected:
  ~RingJournal() = default;
};

/// All counts of a ring, with the place of the newest entry it ever had.
struct RingCounts {
  std::uint64_t newest = 0;
  std::uint64_t dropped = 0;
  std::uint64_t taken = 0;
  std::uint64_t coalesced = 0;

  bool operator==(const RingCounts&) const = default;

  template <class A>
  void each_field(A& archive) {
    archive(newest, dropped, taken, coalesced);
  }
};

}  // namespace bridge
