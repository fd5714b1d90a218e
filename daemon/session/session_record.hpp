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

/// Why a session was replaced.
enum class ReopeningReason : std::uint8_t {
  lost,         ///< the server no longer knows it, or its stream broke
  restarted,    ///< the daemon was restarted and its session was gone
  child_ended,  ///< the local server's process has ended
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

/// The configured era of the upstream (MCP 2026-07-28, "Versioning: Terminology").
enum class EraOption : std::uint8_t { automatic, legacy, modern };

/// --event: an event stream that the bridge keeps open.
struct EventOption {
  std::string name;
  std::string arguments;  ///< a JSON object; empty: none
};

struct SessionOptions {
  EraOption era = EraOption::automatic;            ///< automatic: detected
  std::optional<std::string> client_capabilities;  ///< if set, the bridge opens the session itself
  std::vector<EventOption> events;
  std::chrono::milliseconds connect_wait{10000};
  std::chrono::milliseconds login_wait{0};     ///< how long messages wait for a person's login
  std::chrono::milliseconds keepalive{60000};  ///< 0: off
};

/// Counters of the session for status and metrics, since the daemon's start.
struct SessionCounts {
  std::uint64_t opened = 0;        ///< the first session and its replacements
  std::uint64_t reopened = 0;      ///< replacements of a lost session
  std::uint64_t failed_tries = 0;  ///< to open a session
  std::uint64_t reconnects = 0;    ///< the upstream was away and returned, with its session
};

/// What status and metrics show of the session.
struct SessionRecord {
  SessionCounts counts;
  ServerStream server_stream = ServerStream::off;
  std::optional<SteadyTime> opened_at;  ///< the present or last session; none: none so far
  std::optional<Failure> last_failure;  ///< of the last attempt, unless it succeeded
  std::optional<Reopening> reopening;   ///< the last one
};

}  // namespace bridge
