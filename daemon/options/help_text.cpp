#include "options/help_text.hpp"

#include <fmt/format.h>

#include <string_view>

#include "cli/help.hpp"

namespace bridge {
namespace {

constexpr std::size_t option_indent = 2;
constexpr std::size_t text_column = 8;

constexpr std::string_view introduction =
    R"(Usage: mcp-bridged [OPTIONS]
       mcp-bridged [OPTIONS] -- COMMAND [ARGUMENT...]

Holds one MCP session to one upstream server and lets many short-lived local
processes use it through a Unix socket, one JSON-RPC message a line. The server
is at a URL, or is the COMMAND, run by the daemon. Server and clients may speak
any revision of MCP from 2024-11-05 to 2026-07-28, each another one.
)";

constexpr std::string_view conclusion = R"(
MCP_SERVER_TOKEN is sent as the bearer token if no option names another one.
Durations: a number with ms, s, m or h; sizes: a number with K, M or G. Flags
win over the environment over --options-file over the default.
)";

}  // namespace

std::string help_text(const std::vector<OptionTable::Row>& options) {
  std::string help(introduction);
  std::string_view group;
  for (const cli::Option& option : options) {
    if (option.group != group) help += fmt::format("\n{}:\n", option.group);
    group = option.group;
    cli::add_option(help, option_indent, option, text_column);
  }
  return help.append(conclusion);
}

}  // namespace bridge
