#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "command_line/options.hpp"
#include "verbs/failure.hpp"

namespace client {

/// A line of the shell as the options of one verb: what says where to, and --json, is `shell`'s,
/// unless the line says it. Pure.
std::variant<Options, UsageError> read_shell_line(const std::string& line, const Options& shell);

/// Reads commands from stdin until its end, or `exit`, and runs each. At a terminal it prompts on
/// stderr, and an interrupt ends the line or the command; then the exit code is 0. Else it is that
/// of the last command, and an interrupt ends it.
ExitCode run_shell(const Options& options, Console& console);

}  // namespace client
