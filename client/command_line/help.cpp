// Help from the rows, as text and as JSON.

#include <fmt/format.h>

#include "cli/command_line.hpp"
#include "command_line/verb.hpp"
#include "json/json_object.hpp"
#include "text/columns.hpp"

namespace client {
namespace {

using cli::help_width;

constexpr std::size_t option_column = 23;
constexpr std::size_t word_column = 16;

void add_options(std::string& help, std::span<const Option> options) {
  help += fmt::format("\n{}\n", options.front().group());
  for (const Option& one : options)
    cli::add_option(help, one.letter() != '\0' ? 2 : 6, one, option_column);
}

/// Adds the entries as JSON; `name` is the member for the typed form.
template <typename Entries>
bridge::JsonArray entries(std::string_view name, const Entries& all) {
  bridge::JsonArray array;
  for (const auto& one : all)
    array.add(bridge::JsonObject().add(name, one.form).add("text", one.text));
  return array;
}

/// The first members of a verb's help.
bridge::JsonObject verb_object(const Verb& verb) {
  return bridge::JsonObject().add("verb", verb.name()).add("usage", verb.form);
}

std::vector<Option> options_of(const Verb& verb) {
  std::vector<Option> own;
  for (const Option& option : verb_options()) {
    if (goes_with(option, verb)) own.push_back(option);
  }
  return own;
}

}  // namespace

std::string help_text() {
  return R"(mcp-nc: use an MCP server through mcp-bridged, which keeps its session

  mcp-nc @NAME COMMAND       the server that a file calls NAME: mcp-nc servers
  mcp-nc --url URL COMMAND   a server at an address; --run 'CMD ARG' starts one
  mcp-nc COMMAND             the server of the daemon's socket (-s PATH)
  mcp-nc [@NAME]             stdin <-> socket, as the stdio command of any MCP
                             client; @NAME at a terminal: the server's overview

Use it
  call NAME key=value...     calls a tool; lists: k=a k=b, objects: a.b=c, JSON:
                             key:=json, a file: key:@FILE, all from stdin: -
  read URI                   prints a resource; -o FILE writes it
  prompt NAME key=text...    fills in a prompt
  request METHOD [PARAMS]    any other request; notify METHOD [PARAMS]
Find things
  server                     who it is, what it offers, what to type next
  tools [NAME]               its tools; one in full, with a call to copy
  grep WORD...               tools, resources and prompts; --all: of all servers
  resources, templates, prompts, skills, complete
Long calls
  call --detach NAME ...     prints a job; wait JOB... prints its result
  jobs, answer JOB key=text..., cancel JOB, forget JOB, tasks
Notifications
  listen [URI...]            what the server tells; of these resources
  subscribe URI..., unsubscribe URI..., log-level LEVEL
Servers and logins
  servers [--check]          those that files name, and what runs
  stop @NAME, logs @NAME, approve @NAME, login, logout
  link DIR                   makes each tool a command of its own
  shell                      commands line by line
Look inside
  status [--watch], ping, whoami, monitor, record FILE, replay FILE
  agent-help, version, grant, grants, revoke ID

  --json prints one JSON value, --field a.0.b one value of it, -w TIME gives up

mcp-nc help COMMAND tells more of one, help options has all options and the exit
codes, man mcp-nc everything.
)";
}

std::string options_text() {
  std::string help =
      "mcp-nc [OPTIONS] [@NAME] [COMMAND [ARGUMENT...]]; options may stand anywhere\n";
  add_options(help, general_options());
  help += "  A TIME is a number with ms, s, m or h; a bare number is seconds.\n";
  add_options(help, verb_options());
  std::string codes;
  for (const HelpEntry& code : exit_codes())
    codes += fmt::format("{}{} {}", codes.empty() ? "" : "; ", code.form, code.text);
  return help + "\nExit status\n  " + bridge::wrap(codes, 2, help_width) + "\n";
}

std::string help_text(const Verb& verb) {
  std::string help = fmt::format("mcp-nc [OPTIONS] {}\n\n  {}\n", verb.form,
                                 bridge::wrap(verb.summary(), 2, help_width));
  if (!verb.more().empty()) help += fmt::format("  {}\n", bridge::wrap(verb.more(), 2, help_width));
  if (!verb.words.empty()) help += "\n";
  for (const HelpEntry& word : verb.words)
    cli::add_entry(help, 2, word.form, word.text, word_column);
  std::string options;
  for (const Option& option : options_of(verb)) options += fmt::format("{}, ", option.form);
  options += options.empty() ? "those for all" : "and those for all";
  return help + fmt::format("\nOptions: {}\n\n  {}\n", bridge::wrap(options, 9, help_width),
                            bridge::wrap(verb.examples(), 2, 0));
}

std::string help_json() {
  bridge::JsonArray all;
  for (const Verb& verb : verbs()) all.add(verb_object(verb).add("text", verb.summary()));
  bridge::JsonObject help;
  help.add("verbs", all).add("options", entries("option", general_options()));
  return help.add("exitCodes", entries("code", exit_codes())).text() + "\n";
}

std::string help_json(const Verb& verb) {
  std::string text(verb.summary());
  if (!verb.more().empty()) text += fmt::format(". {}", verb.more());
  bridge::JsonObject help = verb_object(verb);
  help.add("text", text).add("options", entries("option", options_of(verb)));
  if (!verb.words.empty()) help.add("arguments", entries("argument", verb.words));
  bridge::JsonArray examples;
  for (const std::string_view one : verb.example_lines()) examples.add(one);
  return help.add("examples", examples).text() + "\n";
}

}  // namespace client
