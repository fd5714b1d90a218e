#pragma once

#include <cstdint>
#include <string_view>

#include "upstream/upstream.hpp"

namespace bridge {

/// How a request named the session that it was sent in.
enum class SessionNamedBy : std::uint8_t {
  nothing,   ///< it opens one, or the server gave no id
  header,    ///< Mcp-Session-Id
  endpoint,  ///< the URL that it was posted to (HTTP+SSE)
};

/// What a refusal says about the session (MCP 2025-11-25, "Session Management"; BEHAVIOUR,
/// "Session: a lost session" and "Session: doubt"). `error`: the JSON-RPC error object in its body;
/// may be empty. Pure.
SessionVerdict session_verdict(int status, std::string_view error, SessionNamedBy named_by);

/// What a refusal of the server stream means.
enum class StreamRefusal : std::uint8_t {
  not_offered,   ///< the server has none
  lost_session,  ///< the session it was to be opened in is not known any more
  passing,       ///< another time
};

/// The same for a try to open the server stream (MCP 2025-11-25, "Listening for Messages from the
/// Server"). `was_open`: in this session; then one odd answer (of a gateway, say) does not end it
/// for good. Pure.
StreamRefusal stream_refusal(int status, std::string_view error, SessionNamedBy named_by,
                             bool was_open);

}  // namespace bridge
