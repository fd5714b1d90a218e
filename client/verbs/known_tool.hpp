#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "verbs/dialogue.hpp"

namespace client {

/// The tool is not there: what to say, with the name that was probably meant.
struct UnknownTool {
  std::string message;
  std::string meant;  ///< "" = none is near
};
/// Says it, with --json on stdout too.
ExitCode report_unknown(const UnknownTool& unknown, const Options& options, Console& console);

/// The server has no list of tools, or none that can be had.
struct NoToolList {};

/// The JSON of a tool, from the list that the daemon keeps; from the server where the daemon keeps
/// none. An Answer: the connection or the session has failed.
std::variant<std::string, UnknownTool, NoToolList, Answer> find_tool(Dialogue& dialogue,
                                                                     std::string_view name);

}  // namespace client
