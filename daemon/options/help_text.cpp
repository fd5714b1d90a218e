#include "options/help_text.hpp"

#include <fmt/format.h>

#include <string_view>

namespace bridge {
namespace {

constexpr std::size_t help_width = 80;
constexpr std::size_t option_indent = 2;
constexpr std::size_t text_indent = 8;

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

/// Words on lines of at most `help_width` columns, each line behind `indent` spaces. REQUIRES:
/// ASCII.
std::string wrapped(std::string_view text, std::size_t indent) {
  std::string lines, line;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && indent + line.size() + 1 + word.size() > help_width) {
      lines += fmt::format("{:{}}{}\n", "", indent, line);
      line.clear();
    }
    line += line.empty() ? "" : " ";
    line += word;
  }
  return lines + fmt::format("{:{}}{}\n", "", indent, line);
}

std::string entry(const OptionDescription& option) {
  std::string form;
  for (const std::string& name : option.names) form += (form.empty() ? "" : ", ") + name;
  if (!option.value.empty()) form += " " + option.value;
  if (!option.variable.empty()) form += " (" + option.variable + ")";
  std::string text = option.text;
  if (!option.default_value.empty()) text += " [" + option.default_value + "]";
  return wrapped(form, option_indent) + wrapped(text, text_indent);
}

}  // namespace

std::string help_text(const std::vector<OptionDescription>& options) {
  std::string help(introduction);
  std::string_view group;
  for (const OptionDescription& option : options) {
    if (option.group != group) help += fmt::format("\n{}:\n", option.group);
    group = option.group;
    help += entry(option);
  }
  return help.append(conclusion);
}

}  // namespace bridge
