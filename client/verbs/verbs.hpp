#pragma once

#include <string>

#include "command_line/options.hpp"
#include "terminal/console.hpp"
#include "verbs/dialogue.hpp"

// What verbs use of one another; their handlers are declared by the table of verbs.
namespace client {

/// `params` are those of the call.
ExitCode call_as_job(Dialogue& dialogue, const Options& options, const std::string& params);
/// Asks the server to make a task of the call, and prints its id.
ExitCode call_as_task(Dialogue& dialogue, const Options& options, const std::string& params);

/// The skill for programs that load such; with --save DIR it is written there. Asks no daemon.
ExitCode print_skill(const Options& options, Console& console);

/// Asks at the terminal whether to, and logs in. False if nobody is logged in then.
bool log_in_if_wanted(Dialogue& dialogue);

}  // namespace client
