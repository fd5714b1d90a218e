#pragma once

#include <string>
#include <variant>
#include <vector>

#include "command_line/options.hpp"
#include "schema/arguments.hpp"

namespace client {

/// What the operands say, all input read, before there is a connection.
struct Prepared {
  std::string params;  ///< of the verb's request as JSON, "" where it has none
  /// Of a call or an answer: what its tool or question makes of them.
  std::vector<Argument> arguments;
  std::string roots{};  ///< the result of `roots/list`, "" = none were named
};
std::variant<Prepared, UsageError> prepare(const Options& options);

/// The params of the request of any verb but call. Reads stdin to its end if an operand says so.
std::variant<std::string, UsageError> make_params(const Options& options);

}  // namespace client
