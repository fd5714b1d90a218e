#include "verbs/verbs.hpp"

#include <unistd.h>

#include <csignal>

#include "command_line/verb.hpp"
#include "text/shell_word.hpp"

namespace client {
namespace {

constexpr std::size_t longest_command = 1 << 20;

constexpr std::string_view short_help =
    "server, tools [NAME], grep WORD   what is there, and how to call it\n"
    "call NAME key=value, read URI     uses it; jobs, listen, status\n"
    "@OTHER COMMAND                    of another server\n"
    "help COMMAND, --help              more of one; all commands\n"
    "exit, or ^D                       leaves\n";

}  // namespace

std::variant<Options, UsageError> read_shell_line(const std::string& line, const Options& shell) {
  auto words = bridge::shell_words(line);
  if (!words) return UsageError{"a quote is not closed", shell.json};
  if (!words->empty() && words->front() == "mcp-nc")
    words->erase(words->begin());  // as next steps are printed
  auto parsed = parse_command_line({words->begin(), words->end()});
  auto* const options = std::get_if<Options>(&parsed);
  if (options == nullptr) {
    std::get<UsageError>(parsed).json |= shell.json;
    return parsed;
  }
  if (options->verb == nullptr || options->verb->name() == "shell")
    return UsageError{"each line is a command, as call NAME key=value", shell.json};
  if (!names_server(*options) && options->socket.empty()) {
    options->socket = shell.socket;
    options->server = shell.server;
    options->url = shell.url;
    options->command = shell.command;
    options->no_start = options->no_start || shell.no_start;
  }
  if (options->config.empty()) options->config = shell.config;
  if (options->peer.empty()) options->peer = shell.peer;
  if (!options->timeout) options->timeout = shell.timeout;
  if (options->wait.count() == 0) options->wait = shell.wait;
  if (options->field.empty() && !options->names) options->json = options->json || shell.json;
  return parsed;
}

ExitCode run_shell(const Options& options, Console& console) {
  const bool is_typed = console.input_is_terminal();
  const std::string prompt = typed_program(options) + "> ";
  InputLines lines;
  ExitCode code = ExitCode::ok;
  for (;;) {
    auto line = lines.next();
    if (!line) {
      Interrupt interrupt;
      if (is_typed && lines.begun().empty()) console.prompt(prompt);
      if (!interrupt.await(STDIN_FILENO)) {
        const int signal = interrupt.take();
        lines.take_begun();
        if (is_typed) console.prompt("\n");
        if (is_typed && signal == SIGINT) continue;
        return signal == SIGTERM ? ExitCode::terminated : ExitCode::interrupted;
      }
      if (lines.read()) {
        if (lines.begun().size() <= longest_command) continue;
        return tell_failure(console, options,
                            {"usage", "a line has more than 1 MiB", ExitCode::usage});
      }
      if (lines.begun().empty()) {
        if (is_typed) console.prompt("\n");
        break;
      }
      line = lines.take_begun();
    }
    const std::size_t first = line->find_first_not_of(" \t\r");
    if (first == line->npos || (*line)[first] == '#') continue;
    if (*line == "exit" || *line == "quit") break;
    const bool has_key = is_typed && line->find('\x1b') != line->npos;
    const bool asks_help = is_typed && *line == "help";
    if (has_key)
      console.note("keys do not edit lines here: leave with ^D, and type: rlwrap " +
                   typed_program(options) + " shell");
    if (asks_help) console.print(short_help);
    if (has_key || asks_help) continue;
    const auto read = read_shell_line(*line, options);
    const auto* const error = std::get_if<UsageError>(&read);
    code = error != nullptr ? refuse(*error) : run(std::get<Options>(read));
    if (!is_typed && (code == ExitCode::interrupted || code == ExitCode::terminated)) return code;
  }
  return is_typed ? ExitCode::ok : code;
}

}  // namespace client
