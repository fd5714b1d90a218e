#pragma once

#include "command_line/options.hpp"
#include "verbs/failure.hpp"

namespace client {

/// Does what the command line says, from connecting to the exit code. Messages go to stderr.
ExitCode run(const Options& options);

/// Says on stderr what is wrong with the command line.
ExitCode refuse(const UsageError& error);

}  // namespace client
