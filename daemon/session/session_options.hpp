#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bridge {

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

}  // namespace bridge
