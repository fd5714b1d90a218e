#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "render/server_page.hpp"

namespace client {

/// What a language model has to know to use the session.
struct AgentHelp {
  ServerPage server;               ///< nothing in it: it cannot be reached
  std::string trouble;             ///< why it cannot be; "" = it can
  std::vector<std::string> tools;  ///< their names
  std::string program = "mcp-nc";  ///< typed_program()
  bool has_jobs = false;           ///< this mcp-nc knows the verbs about detached calls
};

/// The text, at most `longest_agent_help` bytes: what is connected, the verbs, output and exit
/// codes, detached calls, questions. What the server says is cut, its hidden characters are made
/// visible, and it is marked as the server's words.
constexpr std::size_t longest_agent_help = 5200;
std::string agent_help(const AgentHelp& about);

}  // namespace client
