#pragma once

#include <string>
#include <string_view>

#include "command_line/options.hpp"
#include "terminal/console.hpp"
#include "verbs/exit_code.hpp"

namespace client {

/// What went wrong, said on stderr, and with --json on stdout too.
struct Failure {
  std::string_view kind;  ///< as json_error.hpp has them
  std::string message;
  ExitCode code;
  std::string_view delivered = "no";
  std::string hint{};                    ///< with --json; "" = that of its kind
  std::string_view error_code = "null";  ///< JSON: of the JSON-RPC error, if there is one
};

/// Returns its code.
ExitCode tell_failure(Console& console, const Options& options, const Failure& failure);

/// The same of the JSON of a JSON-RPC error of the daemon, which answers the verb's request itself.
ExitCode tell_error(Console& console, const Options& options, std::string_view error);

}  // namespace client
