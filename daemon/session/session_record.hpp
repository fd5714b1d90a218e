#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.hpp"
#include "json/failure.hpp"
#include "session/reopening.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// What the session counts, for the status and the metrics; all since the daemon's start.
struct SessionCounts {
  std::uint64_t opened = 0;        ///< the first one, and all that took its place
  std::uint64_t reopened = 0;      ///< those that took the place of a lost one
  std::uint64_t failed_tries = 0;  ///< to open one
  std::uint64_t reconnects = 0;    ///< the upstream was away and came back, with its session
};

/// What the status and the metrics show of the session.
struct SessionRecord {
  SessionCounts counts;
  ServerStream server_stream = ServerStream::off;
  std::optional<SteadyTime> opened_at;  ///< the last one; none: there was none
  std::optional<Failure> last_failure;  ///< of the last try, unless it has succeeded
  std::optional<Reopening> reopening;   ///< the last one
};

}  // namespace bridge
