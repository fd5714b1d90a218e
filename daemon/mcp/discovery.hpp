#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.hpp"
#include "mcp/handshake.hpp"

namespace bridge {

struct Frame;
struct RequestIdentity;

// Which era a server is of, and what it says of itself in either (MCP 2026-07-28, "Versioning:
// Backward Compatibility", "Discovery", and the same heading of both transports). Pure.

std::string discover_request(UpstreamId id, const RequestIdentity& identity);

/// Why the probe has no JSON-RPC response.
enum class ProbeFailure : std::uint8_t {
  none,               ///< there is one, or an HTTP response without one
  not_delivered,      ///< it never reached the server
  connection_closed,  ///< the connection ended without an answer
  no_answer,          ///< the time for it is over
  child_ended,        ///< stdio: the process ended
};

/// How a probe ended.
struct ProbeAnswer {
  int status = 0;                   ///< of HTTP; 0: none, or a transport without
  const Frame* response = nullptr;  ///< null: none; must outlive the call
  ProbeFailure failure = ProbeFailure::none;
  unsigned closed_connections = 0;  ///< of this opening's probes in all
};

enum class ProbeVerdict : std::uint8_t {
  modern,                   ///< `text` is the revision to speak
  legacy,                   ///< remembered
  legacy_for_this_session,  ///< `initialize` is tried, and the next opening probes again
  refused,                  ///< no revision in common; `text` says so to a person
  undecided,                ///< the probe is repeated with the opening
};

struct Judgement {
  ProbeVerdict verdict;
  std::string text = {};
};

/// What a probe says of its server:
/// - a result whose supportedVersions holds 2026-07-28, -32020 and -32021 are modern; -32022, and a
///   result with supportedVersions, go by the revisions they name: 2026-07-28 modern, else a legacy
///   one legacy, else refused;
/// - whatever the body: 401, 403, 407, 429 and 503 decide nothing, nor what was not delivered;
/// - another JSON-RPC error, another 4xx, a result or a 2xx without supportedVersions, and a child
///   that ended are legacy;
/// - another status (with or without another JSON-RPC error), two closed connections, or no answer
///   in time are legacy for this session; one closed connection decides nothing.
Judgement judge_probe(const ProbeAnswer& answer);

/// Whether `initialize` was refused as a server does that speaks only 2026-07-28: with -32020,
/// -32021 or -32601, with -32022 that names no legacy revision as supported, with another error
/// that names 2026-07-28 or `_meta`, or with HTTP 400, 404 or 405. 401, 403, 407, 429 and 503
/// decide nothing. `response` may be null (no JSON-RPC body); `status` is 0 on stdio.
bool is_refused_as_modern(int status, const Frame* response);

/// Whether a server of the era that is assumed would not refuse an ordinary request like this, so
/// that the probe has to be repeated, and the request was not delivered. `response` may be null (no
/// JSON-RPC body). Of one assumed legacy: with 400 or 404 (or on stdio, where `status` is 0) one of
/// -32020 to -32022, or a -32602 whose text names `_meta` or one of its reserved keys. Of one
/// assumed modern: 400 or 404 without a JSON-RPC error, or with one that asks for a session, an
/// `initialize` or another MCP-Protocol-Version in words (a code of the range -32000 to -32019, or
/// -32600).
bool contradicts(Era assumed, int status, const Frame* response);

/// The InitializeResult for a legacy client of what a modern server said. `asked` is its
/// protocolVersion: it is spoken if it is a known legacy one, else the newest. Capabilities and
/// instructions are the server's, but for the tasks extension, which is not translated between
/// eras; serverInfo is that of the result's `_meta`, or made of `target`.
std::string initialize_result_of(std::string_view discover_result, std::string_view asked,
                                 std::string_view target);

/// The DiscoverResult for a modern client of what a legacy server said in its InitializeResult:
/// supportedVersions 2026-07-28, capabilities without the legacy `tasks`, serverInfo in `_meta`,
/// not to be cached.
std::string discover_result_of(std::string_view initialize_result, std::string_view target);

}  // namespace bridge
