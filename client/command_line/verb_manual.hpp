#pragma once

#include <span>
#include <string_view>

/// More about each verb than its line in the list of commands: of its own --help and of the man
/// page.
namespace client {

struct VerbManual {
  std::string_view verb;
  std::string_view text;                       ///< paragraphs, "" = the line says it all
  std::span<const std::string_view> examples;  ///< whole command lines
};

/// The log levels from the least to the most urgent (MCP 2025-11-25, "Logging: Log Levels").
std::span<const std::string_view> log_levels();

/// Null if there is no such verb.
const VerbManual* manual_of(std::string_view verb);

}  // namespace client
