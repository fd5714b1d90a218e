#pragma once

#include <string>

#include "command_line/options.hpp"

namespace client {

/// How this program and the server were named on the command line, for a command to be copied:
/// `mcp-nc`, `mcp-nc @github`, `mcp-nc -s /run/x`. What may be a secret in an address is left out.
/// Pure; not safe for a terminal.
std::string typed_program(const Options& options);

}  // namespace client
