#pragma once

#include "verbs/dialogue.hpp"

// What verbs use of one another; their handlers are declared by the table of verbs.
namespace client {

/// Does what the command line says, from connecting to the exit code. Messages go to stderr.
ExitCode run(const Options& options);
/// Says on stderr what is wrong with the command line.
ExitCode refuse(const UsageError& error);

/// A line of the shell as the options of one verb: what says where to, and --json, is `shell`'s,
/// unless the line says it. Pure.
std::variant<Options, UsageError> read_shell_line(const std::string& line, const Options& shell);

/// `params` are those of the call.
ExitCode call_as_job(Dialogue& dialogue, const Options& options, const std::string& params);
/// Asks the server to make a task of the call, and prints its id.
ExitCode call_as_task(Dialogue& dialogue, const Options& options, json::JsonObject params);

/// The skill for programs that load such; with --save DIR it is written there. Asks no daemon.
ExitCode print_skill(const Options& options, Console& console);

/// grep in every server that files name, side by side. A daemon that does not run is started,
/// unless that is not wanted. Why one was left out is reported on stderr, and with --json in its
/// place.
ExitCode grep_all(const Options& options, Console& console, Interrupt& interrupt);

/// Offers a login at the terminal, and logs in. False if there is no login afterwards.
bool log_in_if_wanted(Dialogue& dialogue, const Options& options);

}  // namespace client
