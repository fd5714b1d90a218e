#pragma once

#include "schema/schema.hpp"

namespace client {

/// The form of a call on one line: `search query=<string> [limit=<integer>] [tags=<string>...]`.
/// Optional arguments are in brackets, after the required ones; an object that has required members
/// is shown by its members: `customer.name=<string>`.
std::string signature(std::string_view tool, const Schema& input);

/// A tool's name as an operand of `call` or `tools`: quoted for a shell, and after `--` if it would
/// be taken for an option.
std::string tool_operand(std::string_view tool);

/// An argument to copy: `limit=3`.
std::string example_argument(std::string_view name, const Schema& schema);
/// The required arguments with example values, as a JSON object: one that has no problems
/// (problems_of) wherever there is one of some depth and size.
std::string example_arguments(const Schema& input);
/// A call to copy with those: `search query=text limit=3 filter.from=1`, quoted for a shell.
std::string example_call(std::string_view tool, const Schema& input);

}  // namespace client
