#pragma once

#include <map>
#include <optional>
#include <string>

#include "servers/server_config.hpp"

namespace bridge {

/// Where the values of a file's inputs come from, the first that has one: --input, --input-file,
/// the environment, what was answered before, the terminal, the input's default.
struct InputSources {
  std::map<std::string, std::string> given{};    ///< --input
  std::map<std::string, std::string> file{};     ///< --input-file
  std::map<std::string, std::string> answers{};  ///< of the terminal, by id; grows
  bool may_ask = false;
};

/// `MCP_INPUT_` and the id in upper case, other characters than letters and digits as `_`. Pure.
std::string variable_of_input(const std::string& id);

/// The value, unless only the terminal can have it.
std::optional<std::string> find_input(const std::string& id, const InputSources& sources);

/// Asks on the terminal; the answer is hidden if it is a password. Nothing if the terminal is gone.
/// A signal ends the process as usual, with the terminal as it was.
std::optional<std::string> ask_for_input(const InputDefinition& input);

/// Whether stdin and stderr are a terminal.
bool has_terminal();

}  // namespace bridge
