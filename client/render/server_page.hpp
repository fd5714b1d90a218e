#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace client {

/// A server's self-description. Members marked JSON are as received; "" means absent.
struct ServerPage {
  std::string name;
  std::string title;
  std::string version;
  std::string era;   ///< of the session: `legacy` or `modern`
  std::string eras;  ///< that the server is known to support: one of them, or `both`
  std::string protocol_version;
  std::string capabilities;  ///< JSON
  std::string instructions;
  /// Further lines for people, each with its heading; safe for a terminal.
  std::vector<std::pair<std::string, std::string>> offers{};
};

/// From the responses to server/discover and bridge/status.
ServerPage read_server(std::string_view discovered, std::string_view status);

/// `{name, title?, version, era, eras, protocolVersion, capabilities, instructions?}`, ending with
/// a line break.
std::string server_json(const ServerPage& page);
/// For people. A `width` of 0: no limit.
std::string render_server(const ServerPage& page, std::size_t width);

/// The names of the capabilities: `tools (listChanged), logging`.
std::string capability_names(std::string_view capabilities);

/// What a language model needs to know to use the session.
struct AgentHelp {
  ServerPage server;               ///< empty: the server is unreachable
  std::string trouble;             ///< why it is unreachable; "" = reachable
  std::vector<std::string> tools;  ///< their names
  std::string program = "mcp-nc";  ///< typed_program()
};

/// The text, at most `longest_agent_help` bytes: the connected server, the verbs, output and exit
/// codes, detached calls, questions. The server's own text is shortened, its hidden characters are
/// made visible, and it is marked as the server's.
constexpr std::size_t longest_agent_help = 5200;
std::string agent_help(const AgentHelp& about);

/// A skill for programs that load such files (a folder with a SKILL.md, whose front matter states
/// its purpose): how to use a session, and the commands for this one. It contains no text of a
/// server. `server` is the server's name in the config files, "" = none. Pure.
struct AgentSkill {
  std::string name;  ///< of the skill and its folder: lower-case letters, digits and hyphens
  std::string text;
};
AgentSkill agent_skill(const std::string& program, const std::string& server);

}  // namespace client
