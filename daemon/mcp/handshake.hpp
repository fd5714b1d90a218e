#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "json/frame.hpp"
#include "json/json_object.hpp"

namespace bridge {

struct Frame;

/// How a peer declares its revision and capabilities (MCP 2026-07-28, "Versioning: Terminology").
enum class Era : std::uint8_t {
  legacy,  ///< once, in `initialize`: 2024-11-05 to 2025-11-25
  modern,  ///< in the `_meta` of every request: since 2026-07-28
};

constexpr Era last_of(Era) { return Era::modern; }
constexpr Era other_than(Era era) { return era == Era::modern ? Era::legacy : Era::modern; }

constexpr std::string_view name_of(Era era) { return era == Era::modern ? "modern" : "legacy"; }

/// The errors that MCP itself defines (MCP 2026-07-28, basic, "Error Codes").
namespace mcp_error {
constexpr int header_mismatch = -32020;
constexpr int missing_client_capability = -32021;
constexpr int unsupported_version = -32022;

/// Codes of earlier revisions, which must no longer be sent.
constexpr int resource_not_found = -32002;
constexpr int url_elicitation_required = -32042;
}  // namespace mcp_error

// The messages of the legacy handshake (MCP, "Lifecycle"), and their readers. Pure.

/// The newest revision with an `initialize`.
constexpr std::string_view newest_legacy_version = "2025-11-25";

/// The current revision, which has no `initialize`.
constexpr std::string_view newest_version = "2026-07-28";

/// The default capabilities of a session that the bridge opens itself: a question can be answered
/// at a terminal, or wait for a person (MCP 2025-11-25, "Elicitation").
constexpr std::string_view own_capabilities = R"({"elicitation":{"form":{},"url":{}}})";

/// The bridge's description of itself (Implementation).
constexpr std::string_view own_client_info =
    R"({"name":"mcp-session-bridge","version":")" MCP_BRIDGE_VERSION R"("})";

bool is_known_legacy_version(std::string_view version);

/// The error object of the -32022 that refuses a request of an unsupported revision (MCP
/// 2026-07-28, schema, UnsupportedProtocolVersionError). It lists the supported revisions that a
/// client of that era can use next: the modern one, or for a legacy client all. `requested`
/// is JSON.
std::string unsupported_version_error(std::string_view requested, Era era);

/// The `params` of a client's `initialize` to open further sessions with: unchanged, except for the
/// progress token, whose request is then over.
std::string params_to_save(const Frame& initialize);

/// The `params` of an `initialize` of the bridge's own. `capabilities` is a JSON object.
std::string own_initialize_params(std::string_view capabilities);

/// A request of the bridge's own; `params` may be empty.
inline std::string own_request(UpstreamId id, std::string_view method, std::string_view params) {
  return own_request(std::to_string(value_of(id)), method, params);
}

/// `protocolVersion` of an InitializeResult or of the params of an `initialize`.
std::string protocol_version_of(std::string_view object);

/// Whether this error in response to `initialize` is from a server that supports only revisions
/// without it: the method is unknown (-32601), or no offered version is supported (-32022 of MCP
/// 2026-07-28, or an error that names that revision).
bool speaks_only_newer(std::string_view error_object);

/// A server's description of itself when the session was opened: its InitializeResult (MCP
/// 2025-11-25, "Lifecycle") or its DiscoverResult (MCP 2026-07-28, "Discovery"), kept byte for
/// byte. A value; all readers of it are here.
class ServerDescription {
 public:
  explicit ServerDescription(std::string initialize_result);
  /// From a modern server's DiscoverResult. `target` names a server that does not name itself.
  static ServerDescription discovered(std::string discover_result, std::string target);

  /// The result as received.
  const std::string& result() const { return result_; }
  /// The InitializeResult for a client that asked for the revision `asked`: if that is an older
  /// known one, the response has it; all else of a legacy server stays byte for byte.
  std::string initialize_result_for(std::string_view asked) const;
  /// The DiscoverResult for a modern client. `target` names a server that does not name itself.
  std::string discover_result(std::string_view target) const;

  /// The revision in use; empty if the server named none.
  const std::string& protocol_version() const { return protocol_version_; }
  Era era() const { return era_; }
  /// As passed to discovered(); empty for a legacy server.
  const std::string& target() const { return target_; }
  /// `serverInfo` as JSON; "null" if absent.
  std::string_view server_info() const;
  /// The `list_changed` notifications that the server declares it may send.
  std::vector<std::string> declared_list_changes() const;
  /// Whether it declares this member of this capability as true, like `subscribe` of `resources`.
  bool declares(std::string_view capability, std::string_view member) const;
  /// Whether it supports tool calls as tasks (MCP 2025-11-25, "Tasks:
  /// Capabilities").
  bool makes_calls_tasks() const;
  /// Whether it declares extensions.
  bool has_extensions() const;

  template <class A>
  void each_field(A& archive) {
    archive(era_, target_, result_, protocol_version_);
  }

 private:
  friend class Archive;
  ServerDescription() = default;

  Era era_ = Era::legacy;
  std::string target_;  ///< of a modern server
  std::string result_;
  std::string protocol_version_;
};

}  // namespace bridge
