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
  dns,              ///< its name has no address
  tls,              ///< no trust in it
  timeout,          ///< nothing came for too long
  closed,           ///< the connection or the stream ended before the answer
  malformed,        ///< what came is no answer
  too_large,        ///< the answer is over --max-frame
  session,          ///< the upstream does not keep a session
  http,             ///< an HTTP status
  auth,             ///< 401 or 403
  overloaded,       ///< a bound of the bridge
  no_client,        ///< a request of the upstream that nobody can answer
  not_initialized,  ///< --handshake client, and no initialize yet
  shutdown,         ///< the daemon is ending
  denied,           ///< the policy does not allow it
  rate_limited,     ///< the policy allows it later
  audit,            ///< --audit-required, and it could not be recorded
};
constexpr std::size_t error_kinds = 17;

std::string_view name_of(ErrorKind kind);

/// Whether the upstream can have acted on a request that failed.
enum class Delivered { no, unknown };

/// What went wrong with one message, in terms every transport can fill in.
struct Failure {
  ErrorKind kind = ErrorKind::closed;
  Delivered delivered = Delivered::unknown;
  std::string message;  ///< for a person; nothing secret in it
  std::string summary;  ///< for the log, if the message repeats what the upstream said
  int status = 0;       ///< of HTTP, if one was the cause
  /// The opening of the session has failed, not the request that is answered so.
  bool opening = false;
  bool definitive = false;  ///< it would end the same way if it were tried again
  std::optional<std::chrono::milliseconds> retry_after;  ///< of HTTP, if the server has sent it
  std::string www_authenticate;                          ///< of HTTP: what the server wants
  std::string authorization_server;                      ///< `Mcp-Auth-Server`
  std::string login;  ///< the command with which a person logs in, where that would help
  /// The upstream's own JSON-RPC error object; then that is the answer, byte for byte.
  std::string error_object;
  /// The upstream's error object where the bridge's own error says more (401, 403):
  /// `data.upstream`.
  std::string upstream_error;
};

/// What the log may say of it: nothing of a body.
std::string log_text(const Failure& failure);

/// A failure without more to it than its kind and what to say.
Failure failure_of(ErrorKind kind, Delivered delivered, std::string message);

/// One that would be the same at another try, of a message that nobody has acted on.
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

/// The error that a client gets of it, without a line break. `raw_id` is JSON: the bytes of the
/// client's id, or `null`.
std::string error_reply(std::string_view raw_id, const Failure& failure);

/// Which request a line answers of which only the first and the last bytes are known; nothing if
/// that is not certain. The line is taken for well-formed JSON: then a member before its last brace
/// is one of the message itself, whatever stands between. Pure.
std::optional<std::uint64_t> id_of_oversized_answer(std::string_view beginning,
                                                    std::string_view end);

/// What is told of it. `limit` in bytes.
Failure answer_too_large(std::size_t limit);

}  // namespace bridge
