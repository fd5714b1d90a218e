#pragma once

#include <functional>

#include "command_line/options.hpp"
#include "servers/definition.hpp"

namespace client {

/// A file that may name servers.
struct ConfigFile {
  std::string path;
  /// Written by the folder's author: it runs only after an approval.
  bool needs_approval = false;
  /// Named by the user, so it must exist.
  bool is_named = false;
  /// Belongs to another program (foreign_files()): its faults are ignored.
  bool is_foreign = false;
  std::string folder{};   ///< where its servers run; "" = the file's folder
  std::string project{};  ///< in a file with several projects: the one to use; "" = none
};

/// How the daemon of a server gets its token, besides what the definition says.
struct DaemonSettings {
  std::vector<std::string> words{};  ///< options; nothing secret
  std::string token{};               ///< secret: MCP_SERVER_TOKEN
};

/// A server that can be selected by its name.
struct NamedServer {
  Definition definition;
  std::string file;    ///< its real path; "" if the server was typed
  std::string folder;  ///< where its program runs
  bool needs_approval = false;
  DaemonSettings settings{};
};

/// Reads the process's or a test's environment: nullopt if the variable is unset or empty.
using ReadVariable = std::optional<std::string> (*)(const char* name);
std::optional<std::string> environment_variable(const char* name);

/// Of the current folder: a daemon runs in another one.
std::string absolute_path(const std::string& path);

/// Where servers are looked up, in order: `option` (--config), $MCP_CONFIG, the user's own
/// ~/.config/mcp/mcp.json (below $XDG_CONFIG_HOME if that is set), ./.mcp.json.
std::vector<ConfigFile> config_files(const std::string& option, ReadVariable read);

/// Those, followed by foreign_files() of the current folder.
std::vector<ConfigFile> all_files(const std::string& option, ReadVariable read);

struct FoundServers {
  std::vector<NamedServer> servers{};
  std::vector<std::string> faults{};          ///< about unusable files, for a person
  std::vector<std::string> foreign_faults{};  ///< about other programs' files
};

/// All servers of the files; one with the name of an earlier one is left out.
FoundServers find_servers(const std::vector<ConfigFile>& files);

/// The first server of that name; files after the one that has it are not read. `more` is called
/// for further files if none of `files` has it. Else why there is none, for a person.
using MoreFiles = std::function<std::vector<ConfigFile>()>;
std::variant<NamedServer, std::string> find_server(std::string_view name,
                                                   std::vector<ConfigFile> files,
                                                   const MoreFiles& more = {});

/// The files in which other programs name servers, in the order of reading: in the user's home
/// those of Claude Code (first its entry for this folder), Claude Desktop, Cursor, Windsurf, VS
/// Code, Codex (in $CODEX_HOME if that is set), Gemini and opencode, then in this folder those of
/// Cursor, VS Code, Codex, Gemini and opencode, which the folder's author wrote. Servers from the
/// home need no approval if only its user can have written the file. `folder`: the current one, ""
/// if it is not known. Pure except for `read`.
std::vector<ConfigFile> foreign_files(ReadVariable read, const std::string& folder);

/// Why a server cannot be selected by its name.
Failure naming_failure(std::string message, ExitCode code = ExitCode::usage);

/// The settings from the command line, then the environment. A token goes only to a typed address:
/// any server of a file would get it. Pure except for `read`.
DaemonSettings settings_for(const Definition& definition, const Options& options,
                            ReadVariable read);

/// The server that the command line names, from any source.
std::variant<NamedServer, Failure> named_server(const Options& options);

}  // namespace client
