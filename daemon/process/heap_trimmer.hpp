#pragma once

#include <cstddef>

#include "base/byte_budget.hpp"
#include "event/deadline_timer.hpp"

namespace bridge {

/// Gives memory back to the system after a burst: what was freed in the middle of the heap the
/// allocator keeps for itself, tens of megabytes after a flood.
///
/// Once, a second after the queues have shrunk by a megabyte or more, unless they do so again in
/// between; no timer runs otherwise. The loop's thread only; `budget` outlives it.
class HeapTrimmer {
 public:
  HeapTrimmer(EventLoop& loop, ByteBudget& budget);

  /// At the end of each turn: cheap.
  void look() {
    if (is_worth_it() && !timer_.is_set()) begin();
  }

 private:
  static constexpr std::size_t worth = 1u << 20;

  bool is_worth_it() const { return budget_.peak() - budget_.used() >= worth; }
  void begin();
  void trim();

  ByteBudget& budget_;
  DeadlineTimer timer_;
};

}  // namespace bridge
