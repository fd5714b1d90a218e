#pragma once

#include <string_view>

namespace bridge {

/// Whether a server's text says that it does not know the session, in any spelling and case:
/// "Session not found", "invalid_session_id", "missing Mcp-Session-Id", "Server not initialized"
/// (BEHAVIOUR, "Session: suspected loss"). A hint, not a proof: it leads to a check. Looks at the
/// first 4 KiB. Pure.
bool says_session_is_missing(std::string_view text);

}  // namespace bridge
