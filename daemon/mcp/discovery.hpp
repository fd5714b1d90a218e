#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.hpp"
#include "mcp/handshake.hpp"

namespace bridge {

struct Frame;
struct RequestIdentity;

// Determines the era of a server, and translates its description (MCP 2026-07-28, "Versioning:
// Backward Compatibility", "Discovery", and the same heading of both transports). Pure.

std::string discover_request(UpstreamId id, const RequestIdentity& identity);

/// Why the probe has no JSON-RPC response.
enum class ProbeFailure : std::uint8_t {
  none,               ///< there is one, or an HTTP response without one
  not_delivered,      ///< it never reached the server
  connection_closed,  ///< the connection ended without a response
  no_answer,          ///< timeout
  child_ended,        ///< stdio: the process ended
};

/// The outcome of a probe.
struct ProbeAnswer {
  int status = 0;                   ///< HTTP status; 0: none, or another transport
  const Frame* response = nullptr;  ///< null: none; must outlive the call
  ProbeFailure failure = ProbeFailure::none;
  unsigned closed_connections = 0;  ///< of all probes of this opening
};

enum class ProbeVerdict : std::uint8_t {
  modern,                   ///< `text` is the revision to use
  legacy,                   ///< the result is remembered
  legacy_for_this_session,  ///< uses `initialize`; the next opening probes again
  refused,                  ///< no common revision; `text` is the message
  undecided,                ///< the probe is repeated with the opening
};

struct Judgement {
  ProbeVerdict verdict;
  std::string text = {};
};

/// Interprets a probe:
/// - a result whose supportedVersions contains 2026-07-28, -32020 and -32021 are modern; -32022,
/// and a result with supportedVersions, depend on the revisions they name: modern with 2026-07-28,
/// else legacy with a legacy one, else refused;
/// - whatever the body: 401, 403, 407, 429 and 503 are undecided, and so is what was not delivered;
/// - another JSON-RPC error, another 4xx, a result or a 2xx without supportedVersions, and a child
/// that ended are legacy;
/// - another status (with or without another JSON-RPC error), two closed connections, or a timeout
/// are legacy for this session; one closed connection is undecided.
Judgement judge_probe(const ProbeAnswer& answer);

/// Whether `initialize` was refused as by a server that supports only 2026-07-28: with -32020,
/// -32021 or -32601, with -32022 that names no legacy revision as supported, with another error
/// that names 2026-07-28 or `_meta`, or with HTTP 400, 404 or 405. Not with 401, 403, 407, 429 and
/// 503. `response` may be null (no JSON-RPC body); `status` is 0 on stdio.
bool is_refused_as_modern(int status, const Frame* response);

/// Whether a server of the assumed era would not refuse an ordinary request in this way: then the
/// probe has to be repeated, and the request was not delivered. `response` may be null (no
/// JSON-RPC body). Assumed legacy: with 400 or 404 (or on stdio, where `status` is 0) one of
/// -32020 to -32022, or a -32602 whose text names `_meta` or one of its reserved keys. Assumed
/// modern: 400 or 404 without a JSON-RPC error, or with one whose text asks for a session, an
/// `initialize` or another MCP-Protocol-Version (a code of the range -32000 to -32019, or
/// -32600).
bool contradicts(Era assumed, int status, const Frame* response);

/// The InitializeResult for a legacy client, from a modern server's DiscoverResult. `asked` is the
/// client's protocolVersion: used if it is a known legacy one, else the newest. Capabilities and
/// instructions are the server's, without the tasks extension, which is not translated between
/// eras; serverInfo is that of the result's `_meta`, or made from `target`.
std::string initialize_result_of(std::string_view discover_result, std::string_view asked,
                                 std::string_view target);

/// The DiscoverResult for a modern client, from a legacy server's InitializeResult:
/// supportedVersions 2026-07-28, capabilities without the legacy `tasks`, serverInfo in `_meta`,
/// not to be cached.
std::string discover_result_of(std::string_view initialize_result, std::string_view target);

}  // namespace bridge
