#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

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

/// A `${…}` in a config file.
struct Variable {
  enum class Kind {
    input,        ///< `${input:ID}`
    environment,  ///< `${env:NAME}`, `${NAME}`, `${NAME:-default}`
    unknown,      ///< something an editor may know and the bridge does not
    unclosed,     ///< `${input:ID` or `${env:NAME` and no `}`: surely not meant as text
  };
  Kind kind = Kind::unknown;
  /// Of the unknown: all that stands between the braces; of the unclosed: what begins it, with the
  /// name, but nothing behind that.
  std::string name;
  /// Behind `:-`; may have variables in it. It lies in the text that was parsed.
  std::optional<std::string_view> otherwise{};
};

/// What stands between `${` and `}`. Pure.
Variable parse_variable(std::string_view text);

/// How deep variables may stand in the defaults of others.
constexpr std::size_t max_variable_depth = 32;
/// What all texts of a server may become together, in bytes: no more can be handed to a program.
constexpr std::size_t max_expanded = 2u << 20;

/// A text with its variables replaced, or why it cannot be had.
struct Expansion {
  enum class Fault {
    none,
    too_deep,  ///< more than max_variable_depth
    too_long,  ///< more than `most` bytes
  };
  std::string text;
  Fault fault = Fault::none;
};

/// `text` with each variable replaced by what `value_of` says; one without a value is left out. A
/// default is expanded too, if it is used: then `value_of` is not asked to have a value. Any other
/// `${` that is not closed is text, as a shell's may be.
///
/// Pure. Takes time in proportion to the text and to what it becomes, whatever is in it.
Expansion expand_variables(
    std::string_view text,
    const std::function<std::optional<std::string>(const Variable&)>& value_of,
    std::size_t most = max_expanded);

}  // namespace bridge
