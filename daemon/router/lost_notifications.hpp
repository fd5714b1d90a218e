#pragma once

#include <cstdint>

#include "base/log.hpp"
#include "router/client_channel.hpp"

namespace bridge {

/// Counts and logs ring entries that were pushed out before a client came to them; 0: none
/// (BEHAVIOUR, "Ring"). The loop's thread only.
inline void report_lost(std::uint64_t entries, ClientId client, ClientCounts& counts, Log& log) {
  if (entries == 0) return;
  counts.lost_notifications += entries;
  log.peer(LogLevel::warning, "client behind the ring", {.client = client},
           "{} notifications were pushed out of the ring before a client came to them", entries);
}

}  // namespace bridge
