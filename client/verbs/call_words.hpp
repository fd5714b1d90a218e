#pragma once

#include <string>
#include <variant>
#include <vector>

#include "command_line/options.hpp"
#include "schema/arguments.hpp"

namespace client {

/// The arguments of a call as they were typed; reads the files that they name, and stdin.
std::variant<std::vector<Argument>, UsageError> read_call_words(
    const std::vector<std::string>& words);

}  // namespace client
