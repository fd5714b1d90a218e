#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "servers/server_config.hpp"

namespace client {

/// A server in a config file, in the words of that file.
struct Definition {
  std::string name;
  /// A config file of its own, with this server and the inputs that it uses: what is shown,
  /// approved and passed to the daemon. JSON.
  std::string document;
  /// The entry alone, as written in the file. JSON.
  std::string entry;
  std::string fault{};  ///< why it cannot be started, for a person; "" if nothing is known
};

/// The variables that a definition reads: of the environment, and inputs, each once.
struct NamedVariables {
  /// By name, whether it has a default at each use (`${NAME:-default}`).
  std::map<std::string, bool> environment{};
  std::vector<bridge::InputDefinition> inputs{};  ///< `${input:ID}`
};

/// The servers of a file in the forms that mcp-bridged --config reads (comments and trailing commas
/// are allowed), in the order of the file; else why it cannot be read, for a person. The daemon
/// judges the definitions. Pure.
std::variant<std::vector<Definition>, std::string> read_definitions(std::string_view text);

/// The servers of another program's file, which may contain much else: of the outermost object, or
/// with `project` of that project in Claude Code's list. Empty if it names none. Pure.
std::variant<std::vector<Definition>, std::string> read_foreign_definitions(
    std::string_view text, const std::string& project);

/// The path of its environment file (`envFile`), for a server that runs in `folder`, with the
/// variables of the environment; "" if it has none. One without a value stays as it is written.
std::string environment_file_of(const Definition& definition, const std::string& folder);
/// The definition with what that file says in the place of its path, so that it is approved with it
/// and the daemon reads no file. Pure.
Definition with_environment(Definition definition,
                            const std::map<std::string, std::string>& variables);

/// From the members that mcp-bridged looks for variables in. Pure.
NamedVariables variables_of(const Definition& definition);

/// A definition for a typed address, with these headers. Its name is the host with the path, unless
/// that is `/mcp`, and for an address with secrets four digits of a hash, so that two addresses
/// have two names.
Definition definition_of_url(std::string_view url,
                             const std::vector<std::pair<std::string, std::string>>& headers = {});
/// A definition for a typed command line, split into words as by a shell (quotes and backslashes,
/// no expansion). Its name is the program's, with such digits if it has arguments. nullopt if a
/// quote is not closed, or there is no word.
std::optional<Definition> definition_of_command(std::string_view command);

/// What a definition starts or connects to, for a person: `npx -y some-server`, without what may be
/// a secret in the arguments, or the address without the part after a `?` or before an `@`. Not
/// safe for a terminal. Pure.
std::string summary_of(const Definition& definition);
/// The document without literal values of variables and headers, and without arguments that may be
/// secrets. JSON. Pure.
std::string shown_document(const Definition& definition);
/// Whether it starts a program. Pure.
bool starts_program(const Definition& definition);
/// `"disabled": true` or `"enabled": false`: it is started only by its name. Pure.
bool is_disabled(const Definition& definition);
/// A sentence for each member that may change or limit what runs, and is not used. Pure.
std::vector<std::string> unused_members(const Definition& definition);

}  // namespace client
