#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "durable/job_records.hpp"
#include "durable/orphan_records.hpp"
#include "durable/ring_records.hpp"
#include "durable/session_records.hpp"

namespace bridge {

/// All that the records of a log come to: what a daemon goes on with. A value.
struct ReplayedState {
  std::string instance;  ///< empty: there was none
  RingReplay ring;
  SessionReplay session;
  StreamPosition stream;
  std::uint64_t next_id = 0;  ///< ids up to this may have been used upstream
  std::vector<UpstreamId> unanswered;
  JobReplay jobs;
  OrphanReplay orphans;
  bool ended_in_order = false;  ///< the daemon that wrote last has shut down

  /// False if it is no record of this format.
  bool take(std::uint32_t type, std::string_view payload);
};

}  // namespace bridge
