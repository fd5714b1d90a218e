#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "json/value.hpp"
#include "verbs/dialogue.hpp"

namespace client {

/// A tool as the server lists it.
struct KnownTool {
  std::string json;        ///< an object
  bool is_member = false;  ///< in which it is the member `tool`, as the daemon answers

  /// Nothing if there is none in it, as in an answer of another daemon.
  std::optional<std::string> raw() const;
  std::optional<json::Value> input_schema() const;
};

/// The tool is not there: what to say, with the name that was probably meant.
struct UnknownTool {
  std::string message;
  std::string meant;  ///< "" = none is near
};
/// Says it, with --json on stdout too.
ExitCode report_unknown(const UnknownTool& unknown, const Options& options, Console& console);

/// The server has no list of tools, or none that can be had.
struct NoToolList {};

/// A tool, from the list that the daemon keeps; from the server where the daemon keeps
/// none. An Answer: the connection or the session has failed.
std::variant<KnownTool, UnknownTool, NoToolList, Answer> find_tool(Dialogue& dialogue,
                                                                   std::string_view name);

}  // namespace client
