#pragma once

#include <sys/resource.h>

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/byte_budget.hpp"
#include "event/event_loop.hpp"

namespace bridge {

/// The file descriptors of each part: what it may need at most, or what it may have.
struct DescriptorShares {
  std::size_t own = 64;      ///< standard streams, the loop, signals, listening sockets, the log,
                             ///< files and folders used briefly, name services, a token command
  std::size_t clients = 0;   ///< connections of the Unix socket
  std::size_t upstream = 0;  ///< connections to it, or its pipes
  std::size_t frontend = 0;  ///< connections of the HTTP frontend
  std::size_t metrics = 0;   ///< connections of --metrics-listen

  std::size_t all() const { return own + clients + upstream + frontend + metrics; }
  /// The shares in a process that may have `limit` in all. Idle clients and callers must not take
  /// what the session needs: with too few, first the HTTP frontend gets less (but an eighth), then
  /// the socket's clients (but an eighth), then the upstream (but a quarter), last the daemon
  /// itself. At least one each.
  DescriptorShares within(std::size_t limit) const;
  /// The smallest limit with which a daemon works at all.
  static constexpr std::size_t smallest_limit = 32;
};

/// Raises the soft limit of file descriptors as far as `needed` and the hard limit allow. Returns
/// the previous limit, which children get back, since programs that use select(2) fail with more.
rlimit raise_descriptor_limit(std::size_t needed);

/// Sets the limit; does nothing if both are 0, which means unknown.
void limit_descriptors(const rlimit& limit);

/// This process's resource usage, from /proc/self; 0 where that cannot be read.
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

/// Returns memory to the system after a burst: the allocator keeps memory that was freed in the
/// middle of the heap, tens of megabytes after a flood.
///
/// Runs once, a second after the queues have shrunk by a megabyte or more, unless they do so again
/// in between; no timer runs otherwise. At once, if what is held and what was released since the
/// last time are more than --max-buffered together: the memory taken has the same bound. The loop's
/// thread only; `budget` outlives it.
class HeapTrimmer {
 public:
  HeapTrimmer(EventLoop& loop, ByteBudget& budget);

  /// Called at the end of each turn: cheap.
  void look() {
    if (budget_.released() > 0 && budget_.used() + budget_.released() > budget_.limit())
      return_memory();
    if (is_worth_it() && !timer_.is_set()) begin();
  }

 private:
  static constexpr std::size_t worth = 1u << 20;

  bool is_worth_it() const { return budget_.peak() - budget_.used() >= worth; }
  void begin();
  void trim();
  void return_memory();

  ByteBudget& budget_;
  DeadlineTimer timer_;
};

}  // namespace bridge
