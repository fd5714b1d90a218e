#pragma once

#include "schema/schema.hpp"

namespace client {

/// The form of a call on one line: `search query=<string> [limit=<integer>] [tags=<string>...]`.
/// Optional arguments are in brackets, after the required ones.
std::string signature(std::string_view tool, const Schema& input);

/// A tool's name as an operand of `call` or `tools`: quoted for a shell, and after `--` if it would
/// be taken for an option.
std::string tool_operand(std::string_view tool);

/// An argument to copy: `limit=3`.
std::string example_argument(std::string_view name, const Schema& schema);
/// A call to copy: `search query=text limit=3`, with the required arguments, each with a value that
/// the schema accepts, quoted for a shell.
std::string example_call(std::string_view tool, const Schema& input);

}  // namespace client
