#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "json/reply.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// Why a session took the place of another.
enum class ReopeningReason : std::uint8_t {
  lost,         ///< the server knows it no more, or its stream broke
  restarted,    ///< the daemon was restarted, and the session it had was gone
  child_ended,  ///< the process of the local server has ended
};

struct Reopening {
  ReopeningReason reason = ReopeningReason::lost;
  WallTime at{};
};

constexpr std::string_view name_of(ReopeningReason reason) {
  switch (reason) {
    case ReopeningReason::lost: return "lost";
    case ReopeningReason::restarted: return "restarted";
    case ReopeningReason::child_ended: return "child_ended";
  }
  return "lost";
}

/// What is said of the upstream's era (MCP 2026-07-28, "Versioning: Terminology").
enum class EraOption : std::uint8_t { automatic, legacy, modern };

/// --event: a stream of events that the bridge keeps open.
struct EventOption {
  std::string name;
  std::string arguments;  ///< a JSON object; empty: none
};

struct SessionOptions {
  EraOption era = EraOption::automatic;            ///< automatic: the upstream is asked
  std::optional<std::string> client_capabilities;  ///< given: the bridge opens the session itself
  std::vector<EventOption> events;
  std::chrono::milliseconds connect_wait{10000};
  std::chrono::milliseconds login_wait{0};     ///< how long a message waits for a person's login
  std::chrono::milliseconds keepalive{60000};  ///< 0: off
};

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
