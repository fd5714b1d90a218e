#pragma once

#include "verbs/dialogue.hpp"

// Functions that verbs share; their handlers are declared by the table of verbs.
namespace client {

/// Executes the command line, from connecting to the exit code. Messages go to stderr.
ExitCode run(const Options& options);
/// Reports an error in the command line on stderr.
ExitCode refuse(const UsageError& error);

/// A line of the shell as the options of one verb: the server and --json are taken from `shell`,
/// unless the line has them. Pure.
std::variant<Options, UsageError> read_shell_line(const std::string& line, const Options& shell);

/// `params` are those of the call.
ExitCode call_as_job(Dialogue& dialogue, const Options& options, const std::string& params);

/// The file's name for a tool's command: letters, digits and "._-" only, never beginning with a dot
/// or a dash. Pure.
std::string command_name(std::string_view tool, std::string_view prefix);

/// Prints the skill for programs that load such; --save DIR writes it there. Contacts no daemon.
ExitCode print_skill(const Options& options, Console& console);

/// grep in every server that the files name, in parallel. A daemon that does not run is started,
/// unless --no-start is set. Why a server was skipped is reported on stderr, and with --json in its
/// place.
ExitCode grep_all(const Options& options, Console& console, Interrupt& interrupt);

/// Asks each server that the files name for its description, in parallel, and tells which can be
/// used. Daemons are started as by grep_all().
ExitCode check_servers(const Options& options, Console& console, Interrupt& interrupt);

/// The end of a verb whose result says no more than that: `{}` with --json.
ExitCode print_done(Dialogue& dialogue, const Options& options, const std::string& result);

/// Offers a login at the terminal, and logs in. False if there is no login afterwards.
bool log_in_if_wanted(Dialogue& dialogue, const Options& options);

}  // namespace client
