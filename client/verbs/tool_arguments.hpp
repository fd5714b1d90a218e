#pragma once

#include <string>
#include <variant>
#include <vector>

#include "command_line/options.hpp"
#include "schema/arguments.hpp"
#include "verbs/dialogue.hpp"
#include "verbs/exit_code.hpp"
#include "verbs/known_tool.hpp"

namespace client {

/// A call that can be made.
struct ToolCall {
  std::string params;  ///< of tools/call, JSON
  KnownTool tool{};    ///< nothing in it: that was not asked for
};

/// The call that the operands name: the arguments made by the input schema of the tool, or as they
/// were written (--raw, or where no schema is to be had). What is wrong with them is said on
/// stderr, with the tool's signature, and nothing is sent.
std::variant<ToolCall, ExitCode> prepare_call(Dialogue& dialogue, const Options& options,
                                              const std::vector<Argument>& arguments);

}  // namespace client
