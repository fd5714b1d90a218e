#pragma once

#include <sys/resource.h>

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/byte_budget.hpp"
#include "event/event_loop.hpp"

namespace bridge {

/// How many file descriptors the parts may need at most. All in one pool the HTTP face could leave
/// nothing for the Unix socket or for the upstream: so it gets what the others leave.
struct DescriptorNeeds {
  std::size_t clients = 0;   ///< connections of the Unix socket
  std::size_t upstream = 0;  ///< connections to it, or its pipes
  std::size_t face = 0;      ///< connections of the HTTP face
  std::size_t metrics = 0;   ///< connections of --metrics-listen

  std::size_t all() const;
  /// How many connections the face may have with `limit` descriptors in all. If the others alone
  /// need about as many, an eighth of them: then each has to do with less.
  std::size_t frontend_share(std::size_t limit) const;
};

/// Raises the soft limit of file descriptors as far as `needed` and the hard limit allow. Returns
/// the limit as it was: a child gets it back, since programs that use select(2) break with more.
rlimit raise_descriptor_limit(std::size_t needed);

/// The soft limit now.
std::size_t descriptor_limit();

/// Sets the limit; nothing if both are 0, which says that it is not known.
void limit_descriptors(const rlimit& limit);

/// What this process uses, from /proc/self; 0 where that cannot be read.
struct ProcessUsage {
  double cpu_seconds = 0;
  std::size_t resident_bytes = 0;
  std::size_t open_descriptors = 0;
  std::size_t max_descriptors = 0;
};

ProcessUsage process_usage();

/// When an unused daemon ends: --idle-exit and --idle-keep.
struct IdleOptions {
  std::chrono::milliseconds exit{0};  ///< 0: never
  /// For this long undelivered notifications and uncollected jobs count as work.
  std::chrono::milliseconds keep{std::chrono::hours(24)};
};

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
