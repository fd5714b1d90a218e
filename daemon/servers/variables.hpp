#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "servers/server_config.hpp"

namespace bridge {

/// The sources of the inputs' values, in precedence: --input, --input-file, the environment,
/// earlier answers, the terminal, the input's default.
struct InputSources {
  std::map<std::string, std::string> given{};    ///< --input
  std::map<std::string, std::string> file{};     ///< --input-file
  std::map<std::string, std::string> answers{};  ///< given on the terminal, by id; grows
  bool may_ask = false;
};

/// `MCP_INPUT_` and the id in upper case, other characters than letters and digits as `_`. Pure.
std::string variable_of_input(const std::string& id);
/// The variable of mcp-bridged for one of its options: MCP_BRIDGE_URL for `--url`. Pure.
std::string variable_of_option(std::string_view option);

/// The value, unless it can only come from the terminal.
std::optional<std::string> find_input(const std::string& id, const InputSources& sources);

/// Asks on the terminal; a password is not echoed. nullopt if the terminal is gone. A signal ends
/// the process as usual, with the terminal restored.
std::optional<std::string> ask_for_input(const InputDefinition& input);

/// Whether both stdin and stderr are a terminal.
bool has_terminal();

/// A `${…}` in a config file.
struct Variable {
  enum class Kind {
    input,        ///< `${input:ID}`
    environment,  ///< `${env:NAME}`, `${NAME}`, `${NAME:-default}`
    editor,       ///< `${workspaceFolder}` and its like: editor_value()
    unknown,      ///< known to an editor perhaps, but not to the bridge
    unclosed,     ///< `${input:ID` or `${env:NAME` without `}`: surely not meant as text
  };
  Kind kind = Kind::unknown;
  /// Of an unknown one: everything between the braces; of an unclosed one: its beginning up to the
  /// end of the name.
  std::string name;
  /// The default after `:-`; may contain variables. A view of the parsed text.
  std::optional<std::string_view> otherwise{};
  bool is_of_process = false;  ///< `${env:NAME}`: never of the entry's own `env`
};

/// Parses the text between `${` and `}`. Pure.
Variable parse_variable(std::string_view text);

/// How deep variables may be nested in defaults.
constexpr std::size_t max_variable_depth = 32;
/// The most bytes that all texts of a server may expand to: more cannot be passed to a program.
constexpr std::size_t max_expanded = 2u << 20;

/// A text with its variables replaced, or why that failed.
struct Expansion {
  enum class Fault {
    none,
    too_deep,  ///< more than max_variable_depth
    too_long,  ///< more than `most` bytes
  };
  std::string text;
  Fault fault = Fault::none;
};

/// `text` with each variable replaced by the result of `value_of`; one without a value is left out.
/// A default is expanded too if it is used; `value_of` need not have a value then. Any other
/// unclosed `${` is text, as in a shell command.
///
/// Pure. Takes time in proportion to the text and its expansion, whatever the content.
Expansion expand_variables(
    std::string_view text,
    const std::function<std::optional<std::string>(const Variable&)>& value_of,
    std::size_t most = max_expanded);

/// The value of an editor's name (`workspaceFolder`, `workspaceFolderBasename`, `cwd`, `userHome`,
/// `pathSeparator`, `/`) for a server that is started in `folder`; nullopt for any other name, and
/// where HOME is not set.
std::optional<std::string> editor_value(std::string_view name, const std::string& folder);

/// Finds a value that the entry does not have itself, for a variable at `place` in it.
using OutsideValue =
    std::function<std::optional<std::string>(const Variable&, const std::string& place)>;

/// `entry` with every variable replaced: by the value that the entry's own `env`, or its `envFile`
/// once that was read, gives to the program, else by `outside`'s; one without a value is left out.
/// A variable in its own value is an outside one (`"PATH": "/x:${PATH}"`). Throws StartError (78)
/// if it is nested too deep, or too long. Pure except for `outside`.
ServerEntry expand_entry(const ServerEntry& entry, const OutsideValue& outside,
                         const std::string& source);

/// `entry` with every variable replaced. Throws StartError (78) that names all variables without a
/// value, and contains no value. With `sources.may_ask` missing values are asked for on the
/// terminal, once everything else is known; the answers are kept in `sources`.
ServerEntry resolve_server(const ServerEntry& entry, const ServerConfig& config,
                           InputSources& sources, const std::string& source);

}  // namespace bridge
