#pragma once

#include "command_line/options.hpp"
#include "terminal/console.hpp"
#include "verbs/exit_code.hpp"

namespace client {

/// Verbs about servers by their names. They need no daemon.
ExitCode list_servers(const Options& options, Console& console);
ExitCode approve_server(const Options& options, Console& console);
ExitCode stop_server(const Options& options, Console& console);
ExitCode show_logs(const Options& options, Console& console);

}  // namespace client
