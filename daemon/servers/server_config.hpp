#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bridge {

/// A value that the file's user has to provide.
struct InputDefinition {
  std::string id;
  std::string description;
  std::optional<std::string> otherwise{};  ///< its default
  std::vector<std::string> choices{};      ///< empty: any text
  bool password = false;
};

/// The OAuth client of a server: what is not given is "".
struct OAuthEntry {
  std::string client_id;
  std::string client_secret;
  std::string callback_port;
  std::string scope;
};

/// One server of a config file, with its variables not yet replaced.
struct ServerEntry {
  std::string name;
  /// `stdio`, `http`, `sse` or an unknown one; empty: derived from the other members.
  std::string type;
  std::string command;
  std::vector<std::string> arguments{};
  std::map<std::string, std::string> environment{};
  std::string environment_file{};  ///< `envFile`: its path
  /// What that file says, once it was read. Not searched for variables; `environment` wins.
  std::map<std::string, std::string> file_environment{};
  std::vector<std::string> passed{};  ///< of `environment`: left out if they are empty
  std::string folder{};
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers{};
  OAuthEntry oauth{};
  bool is_disabled = false;  ///< `"disabled": true`, `"enabled": false`, is_left_out()
  /// A sentence for each member that may change what runs, or limits it, and is not used. Safe for
  /// a terminal.
  std::vector<std::string> unused{};
};

struct ServerConfig {
  std::vector<InputDefinition> inputs{};
  std::vector<ServerEntry> servers{};
};

/// Reads the files that the ecosystem's tools write (UPSTREAMS, "Config files"): the maps
/// `mcpServers` and `servers` (also inside of `mcp`), the map `mcp` of opencode, Codex's
/// `mcp_servers`, and the lists `inputs` and `tools`. Comments and trailing commas are tolerated.
/// Pure; throws StartError (78), which begins with `source` and contains no value of the file.
ServerConfig read_server_config(std::string_view text, const std::string& source);

/// A name of the file, for messages. Pure.
std::string shown_name(std::string_view name);

/// Whether the object `mcp` of a file is a map of servers (opencode's), rather than an object with
/// such maps (VS Code's). Pure.
bool is_map_of_servers(std::string_view mcp);

/// Whether the object `mcp` of a file allows other servers alone, or excludes this one (Gemini's
/// lists `allowed` and `excluded`). Pure.
bool is_left_out(std::string_view mcp, std::string_view name);

/// Reads an object whose members are all texts (numbers and booleans count as their texts):
/// --input-file.
std::map<std::string, std::string> read_text_map(std::string_view text, const std::string& source);

/// The selected server: by its name, or the only one. Throws StartError (64).
const ServerEntry& choose_server(const ServerConfig& config, const std::string& name,
                                 const std::string& source);

}  // namespace bridge
