#include <fmt/format.h>

#include <cstddef>
#include <string>

#include "command_line/manual.hpp"
#include "command_line/options.hpp"
#include "command_line/verb_manual.hpp"
#include "terminal/wrap.hpp"

namespace client {
namespace {

constexpr std::size_t width = 80;
constexpr std::size_t command_column = 29;
constexpr std::size_t option_column = 23;
constexpr std::size_t argument_indent = 4;
constexpr std::size_t argument_column = 16;

/// The form in the left column, the text in the right one; below it if the form is too long.
void add(std::string& help, std::size_t indent, const ManualEntry& entry, std::size_t column) {
  help += fmt::format("{:{}}{:<{}}", "", indent, entry.form, column - indent);
  if (indent + entry.form.size() + 1 > column) help += fmt::format("\n{:{}}", "", column);
  help += wrap(entry.text, column, width) + "\n";
}

void add_options(std::string& help, std::span<const ManualEntry> options) {
  for (const ManualEntry& option : options) {
    const bool has_letter = option.form.substr(0, 2) != "--";
    add(help, has_letter ? 2 : 6, option, option_column);
  }
}

}  // namespace

std::string help_text() {
  std::string help =
      R"(mcp-nc: talk to an MCP server through mcp-bridged's Unix socket

  mcp-nc [OPTIONS]           stdin <-> socket, one JSON-RPC message a line; at
                             stdin's end waits for the outstanding answers.
                             Works as the stdio command of any MCP client
  mcp-nc [OPTIONS] COMMAND [ARGUMENT...]
  mcp-nc [OPTIONS] @NAME [COMMAND [ARGUMENT...]]
                             the server of that name in --config, MCP_CONFIG,
                             ~/.config/mcp/mcp.json or ./.mcp.json, instead of a
                             socket; its daemon is started if none runs

Commands
)";
  for (const ManualEntry& command : manual_commands()) {
    add(help, 2, command, command_column);
    if (!command.form.starts_with("call ")) continue;
    for (const ManualEntry& argument : manual_arguments())
      add(help, argument_indent, argument, argument_column);
  }
  help += "\nOptions for all\n";
  add_options(help, manual_general_options());
  help +=
      "  A TIME is a number with ms, s, m or h; a bare number is seconds.\n\nOptions of commands\n";
  add_options(help, manual_command_options());
  std::string codes;
  for (const ManualEntry& code : manual_exit_codes()) {
    codes += fmt::format("{}{} {}", codes.empty() ? "" : "; ", code.form, code.text);
  }
  return help + "\nExit status\n  " + wrap(codes, 2, width) + "\n";
}

std::string help_text(std::string_view verb) {
  const auto known = find_verb(verb);
  const ManualEntry* const command = manual_command(verb);
  if (!known || command == nullptr) return {};
  const bool has_arguments = *known == Verb::call;
  std::string help = fmt::format("mcp-nc [OPTIONS] {}\n\n  {}\n", command->form,
                                 wrap(summary_of(*command), 2, width));
  const VerbManual* const manual = manual_of(verb);
  if (manual != nullptr && !manual->text.empty())
    help += fmt::format("  {}\n", wrap(manual->text, 2, width));
  if (has_arguments) {
    help += "\n";
    for (const ManualEntry& argument : manual_arguments()) add(help, 2, argument, argument_column);
  }
  std::string options;
  for (const ManualEntry& option : options_of_verb(*known))
    options += fmt::format("{}{}", options.empty() ? "" : ", ", option.form);
  help += fmt::format(
      "\nOptions: {}\n",
      wrap(options.empty() ? "those for all" : options + ", and those for all", 9, width));
  if (manual != nullptr && !manual->examples.empty()) {
    help += "\n";
    for (const std::string_view example : manual->examples) help += fmt::format("  {}\n", example);
  }
  return help;
}

}  // namespace client
