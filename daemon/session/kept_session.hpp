#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "mcp/era.hpp"
#include "mcp/server_description.hpp"

namespace bridge {

/// What clients have set in the session, and a new one has to be told again.
struct SessionSettings {
  std::string log_level_params;            ///< of the last `logging/setLevel`; empty: none
  std::vector<std::string> subscriptions;  ///< URIs
};

/// All that is kept from one session to the next, as one value: what would have to outlive the
/// daemon for another one to go on where it has ended. Pure.
struct KeptSession {
  std::uint32_t number = 0;                 ///< of the last session, from 1; 0: there was none
  std::string initialize_params;            ///< what it was opened with
  std::optional<Era> era;                   ///< of the upstream; none: not known
  std::optional<ServerDescription> server;  ///< none before the first handshake
  SessionSettings settings;
  std::vector<UpstreamId> unanswered;  ///< requests whose clients are gone with their daemon
  UpstreamIdSource ids;  ///< goes on where it was, so that no id is used twice with a server
};

}  // namespace bridge
