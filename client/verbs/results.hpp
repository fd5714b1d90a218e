#pragma once

#include <string>

#include "command_line/options.hpp"
#include "render/json_error.hpp"
#include "terminal/console.hpp"
#include "verbs/exit_code.hpp"

namespace client {

/// Prints what --field names of a result; if there is no such thing, says so.
ExitCode print_field(const std::string& result, const Options& options, Console& console);

/// Of the result of a tool that says that it failed, for --json: its text, and all of it.
JsonError error_of_tool(const std::string& result);

}  // namespace client
