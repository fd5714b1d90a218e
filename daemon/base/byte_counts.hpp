#pragma once

#include <cstdint>

namespace bridge {

/// Bytes that went over the connections of one transport since the daemon's start.
struct ByteCounts {
  std::uint64_t received_bytes = 0;
  std::uint64_t sent_bytes = 0;
};

}  // namespace bridge
