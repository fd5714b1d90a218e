#pragma once

#include <string>
#include <variant>

#include "command_line/options.hpp"

namespace client {

/// The params of the verb's request as JSON, "" where it has none. Reads stdin to its end if an
/// operand says so.
std::variant<std::string, UsageError> make_params(const Options& options);

}  // namespace client
