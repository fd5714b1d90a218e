#pragma once

#include <cstddef>
#include <cstdint>

namespace bridge {

/// What this process uses, from /proc/self; 0 where that cannot be read.
struct ProcessUsage {
  double cpu_seconds = 0;
  std::size_t resident_bytes = 0;
  std::size_t open_descriptors = 0;
  std::size_t max_descriptors = 0;
};

ProcessUsage process_usage();

}  // namespace bridge
