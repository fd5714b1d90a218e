#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

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
};
constexpr std::size_t error_kinds = 14;

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
