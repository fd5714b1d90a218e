#pragma once

#include <string>
#include <string_view>

namespace client {

/// Why a verb has failed, for programs: what is printed on stdout with --json.
struct JsonError {
  /// `server`: the server answered with an error; `tool`: the tool says that it failed; `usage`;
  /// `daemon`: it cannot be reached or hung up; `file`: one of ours cannot be read or written;
  /// `timeout`, `interrupted`: here; else the kind that
  /// the bridge gives its own errors.
  std::string kind;
  std::string code = "null";  ///< JSON: that of the JSON-RPC error, if there is one
  /// Whether the server has the request: "yes", "no", "unknown".
  std::string_view delivered = "no";
  std::string message;
  std::string hint;    ///< what to do, "" = nothing is known
  std::string result;  ///< JSON, of a tool that failed: its whole result; "" = none
};

/// `{"error":{"kind":…,"code":…,"delivered":…,"message":…,"hint":…}}` with line break.
std::string to_text(const JsonError& error);

/// Of the JSON of a JSON-RPC error that answered a request.
JsonError read_error(std::string_view error);
/// The same of a request that the daemon answers itself: what it does not mark is its own too.
JsonError read_daemon_error(std::string_view error);

/// What to do about an error of this kind.
std::string_view hint_for(std::string_view kind);

}  // namespace client
