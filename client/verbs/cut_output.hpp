#pragma once

#include "command_line/options.hpp"
#include "terminal/console.hpp"
#include "verbs/exit_code.hpp"

namespace client {

/// Prints what the console has held back (--max-bytes): as it is if it is no longer than that, else
/// its beginning and the name of a new file that has all of it, for the user alone. With --json
/// `{"cut":{"bytes":…,"file":…}}` instead, so that it stays JSON. Returns `code`, unless the file
/// cannot be written.
ExitCode print_held(Console& console, const Options& options, ExitCode code);

}  // namespace client
