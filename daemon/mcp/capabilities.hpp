#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// The capabilities of clients (MCP 2025-11-25, "Lifecycle: Capability Negotiation"), as JSON
// objects. Members are looked at two levels deep, and only those with names of letters, digits and
// `_-./`, so that the results are safe in a log and in a shell. Pure.

/// What `client` declares and `session` does not: `sampling`, `elicitation.url`. At most 16 names,
/// sorted.
std::vector<std::string> capabilities_beyond(std::string_view session, std::string_view client);

/// What either of them declares.
std::string capabilities_of_both(std::string_view session, std::string_view client);

}  // namespace bridge
