#pragma once

#include <string>
#include <string_view>

#include "base/ids.hpp"
#include "mcp/era.hpp"

namespace bridge {

struct Frame;

// The messages of the legacy handshake (MCP, "Lifecycle"), and what is read from them. Pure.

/// The newest revision with an `initialize`.
constexpr std::string_view newest_legacy_version = "2025-11-25";

/// The current revision, which has none.
constexpr std::string_view newest_version = "2026-07-28";

/// What a session that the bridge opens by itself declares, unless it is told otherwise: a question
/// can be answered at a terminal, or wait for somebody (MCP 2025-11-25, "Elicitation").
constexpr std::string_view own_capabilities = R"({"elicitation":{"form":{},"url":{}}})";

/// What the bridge says of itself (Implementation).
constexpr std::string_view own_client_info =
    R"({"name":"mcp-session-bridge","version":")" MCP_BRIDGE_VERSION R"("})";

bool is_known_legacy_version(std::string_view version);

/// The error object of the -32022 that refuses a request of a revision that is not served (MCP
/// 2026-07-28, schema, UnsupportedProtocolVersionError). It names those a request of that era may
/// say next: of the modern one what serves requests that say it, of the legacy one all. `requested`
/// is JSON.
std::string unsupported_version_error(std::string_view requested, Era era);

/// What of a client's `initialize` a session is opened with again: its `params` as they are, but
/// for a progress token, which nobody waits for then.
std::string params_to_keep(const Frame& initialize);

/// `params` of an `initialize` of the bridge's own. `capabilities` is a JSON object.
std::string own_initialize_params(std::string_view capabilities);

/// A request of the bridge's own; `params` may be empty.
std::string own_request(UpstreamId id, std::string_view method, std::string_view params);
std::string own_notification(std::string_view method, std::string_view params = {});

/// `protocolVersion` of an InitializeResult or of the params of an `initialize`.
std::string protocol_version_of(std::string_view object);

/// Whether this error to an `initialize` comes from a server that knows only revisions without one:
/// it does not know the method (-32601), or supports no version it was offered (-32022 of MCP
/// 2026-07-28, or an error that names that revision).
bool speaks_only_newer(std::string_view error_object);

}  // namespace bridge
