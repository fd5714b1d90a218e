#pragma once

#include <string_view>

namespace client {

/// What the process tells its caller. The numbers are part of the interface.
enum class ExitCode {
  ok = 0,
  answered_error = 1,  ///< the tool or the server answered with an error
  usage = 2,
  /// The daemon cannot be reached, hung up before answering, ends or cannot start.
  unreachable = 3,
  upstream = 4,     ///< the daemon cannot reach or use the upstream
  unfinished = 75,  ///< the call goes on as a job, or its job waits for an answer
  timed_out = 124,
  interrupted = 130,
  terminated = 143,
};

/// For a JSON-RPC error object. One that the bridge made itself is told by its kind.
ExitCode exit_code_for_error(std::string_view error_json);

}  // namespace client
