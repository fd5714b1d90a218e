#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace client {

/// What a server has said of itself. JSON as it came where it says so, "" for what is not there.
struct ServerPage {
  std::string name;
  std::string title;
  std::string version;
  std::string era;   ///< of the session: `legacy` or `modern`
  std::string eras;  ///< that the server is known to speak: one of them, or `both`
  std::string protocol_version;
  std::string capabilities;  ///< JSON
  std::string instructions;
};

/// From the answers to server/discover and bridge/status.
ServerPage read_server(std::string_view discovered, std::string_view status);

/// `{name, title?, version, era, eras, protocolVersion, capabilities, instructions?}`, with line
/// break.
std::string server_json(const ServerPage& page);
/// For people. A `width` of 0: no limit.
std::string render_server(const ServerPage& page, std::size_t width);

/// The names of the capabilities: `tools (listChanged), logging`.
std::string capability_names(std::string_view capabilities);

/// What a language model has to know to use the session.
struct AgentHelp {
  ServerPage server;               ///< nothing in it: it cannot be reached
  std::string trouble;             ///< why it cannot be; "" = it can
  std::vector<std::string> tools;  ///< their names
  std::string program = "mcp-nc";  ///< typed_program()
};

/// The text, at most `longest_agent_help` bytes: what is connected, the verbs, output and exit
/// codes, detached calls, questions. What the server says is cut, its hidden characters are made
/// visible, and it is marked as the server's words.
constexpr std::size_t longest_agent_help = 5200;
std::string agent_help(const AgentHelp& about);

/// A skill for programs that load such files (a folder with a SKILL.md, whose front matter says
/// what it is for): how a session is used, and what to type for what is connected. It has nothing
/// of any server's in it. `server` is the name that files give it, "" = none. Pure.
struct AgentSkill {
  std::string name;  ///< of the skill and its folder: small letters, digits and hyphens
  std::string text;
};
AgentSkill agent_skill(const std::string& program, const std::string& server);

}  // namespace client
