#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "json/json_object.hpp"

namespace bridge {

/// Why the bridge itself answers a request with an error: `data.kind` on the wire.
enum class ErrorKind {
  connect,          ///< no connection to the upstream
  dns,              ///< its name cannot be resolved
  tls,              ///< the TLS connection is not trusted
  timeout,          ///< nothing was received for too long
  closed,           ///< the connection or the stream ended before the response
  malformed,        ///< what was received is not a response
  too_large,        ///< the response exceeds --max-frame
  session,          ///< the upstream does not keep a session
  http,             ///< an HTTP status
  auth,             ///< 401 or 403
  overloaded,       ///< a limit of the bridge
  no_client,        ///< a request of the upstream that no client can answer
  not_initialized,  ///< --handshake client, and no initialize yet
  shutdown,         ///< the daemon is shutting down
  denied,           ///< forbidden by the policy
  rate_limited,     ///< forbidden by the policy for now
  audit,            ///< it could not be recorded, with --audit-required
};
constexpr std::size_t error_kinds = 17;

std::string_view name_of(ErrorKind kind);

/// Whether the upstream may have acted on a request that failed.
enum class Delivered { no, unknown };

/// The failure of one message, in terms that fit every transport.
struct Failure {
  ErrorKind kind = ErrorKind::closed;
  Delivered delivered = Delivered::unknown;
  std::string message;  ///< for a person; nothing secret in it
  std::string summary;  ///< for the log, if the message repeats the upstream's text
  int status = 0;       ///< the HTTP status that caused it, if any
  /// Opening the session has failed, not the request that gets this error.
  bool opening = false;
  bool definitive = false;  ///< it would fail the same way if it were tried again
  std::optional<std::chrono::milliseconds> retry_after;  ///< from HTTP, if the server sent it
  std::string www_authenticate;                          ///< from HTTP: the server's challenge
  std::string authorization_server;                      ///< `Mcp-Auth-Server`
  std::string login;  ///< the command for a login, if that would help
  /// The upstream's own JSON-RPC error object, which is then the response, byte for byte.
  std::string error_object;
  /// The upstream's error object, if the bridge's own error says more (401, 403):
  /// `data.upstream`.
  std::string upstream_error;
};

/// The text of it that may be logged: nothing of a body.
std::string log_text(const Failure& failure);

/// A failure with only a kind and a message.
Failure failure_of(ErrorKind kind, Delivered delivered, std::string message);

/// A failure that a retry would repeat, of a message that was not acted on.
Failure definitive_failure_of(ErrorKind kind, std::string message);

}  // namespace bridge

namespace bridge::json_rpc {

// JSON-RPC 2.0, section 5.1; the server errors as MCP and this bridge use them.
constexpr int parse_error = -32700;
constexpr int invalid_request = -32600;
constexpr int method_not_found = -32601;
constexpr int invalid_params = -32602;
constexpr int bridge_error = -32000;
constexpr int http_error = -32001;

}  // namespace bridge::json_rpc

namespace bridge {

/// The error response for a client, without a line break. `raw_id` is JSON: the bytes of the
/// client's id, or `null`.
std::string error_reply(std::string_view raw_id, const Failure& failure);

/// The request that a line answers, from its first and last bytes only; nullopt if that is not
/// certain. The line is assumed to be well-formed JSON: then a member before its last brace belongs
/// to the message itself, whatever precedes it. Pure.
std::optional<std::uint64_t> id_of_oversized_answer(std::string_view beginning,
                                                    std::string_view end);

/// The failure reported for it. `limit` in bytes.
Failure answer_too_large(std::size_t limit);

}  // namespace bridge
