#include "verbs/verbs.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "command_line/verb.hpp"
#include "spelling/spelling.hpp"
#include "system/signals.hpp"
#include "terminal/console.hpp"
#include "verbs/failure.hpp"

namespace client {
namespace {

constexpr std::size_t longest_command = 1 << 20;

/// Lines of stdin. No more is read than there is, so that what a command asks at the terminal is
/// answered to it.
class CommandLines {
 public:
  enum class End { none, input, interrupt, too_long };

  /// Nothing at an end. `prompt` is called once a signal would be noticed.
  std::optional<std::string> next(const std::function<void()>& prompt) {
    Interrupt interrupt;
    prompt();
    for (;;) {
      if (const std::size_t end = text_.find('\n'); end != text_.npos) {
        std::string line = text_.substr(0, end);
        text_.erase(0, end + 1);
        return line;
      }
      if (end_ == End::input && !text_.empty()) return std::exchange(text_, {});
      if (end_ == End::input) return std::nullopt;
      if (text_.size() > longest_command) return stop(End::too_long);
      if (!read(interrupt)) return stop(End::interrupt);
    }
  }
  /// Why the last one was none.
  End end() const { return end_; }
  int signal() const { return signal_; }

 private:
  std::optional<std::string> stop(End end) {
    text_.clear();
    end_ = end;
    return std::nullopt;
  }

  /// False if a signal has come.
  bool read(Interrupt& interrupt) {
    end_ = End::none;
    std::array<pollfd, 2> events = {
        {{STDIN_FILENO, POLLIN, 0}, {interrupt.descriptor(), POLLIN, 0}}};
    if (::poll(events.data(), events.size(), -1) < 0) return true;
    if (events[1].revents != 0) {
      signal_ = interrupt.take();
      return false;
    }
    std::array<char, 4096> bytes{};
    const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return true;
    if (count <= 0) end_ = End::input;
    if (count > 0) text_.append(bytes.data(), static_cast<std::size_t>(count));
    return true;
  }

  std::string text_;
  End end_ = End::none;
  int signal_ = 0;
};

bool is_blank(const std::string& line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  return first == line.npos || line[first] == '#';
}

}  // namespace

std::variant<Options, UsageError> read_shell_line(const std::string& line, const Options& shell) {
  const auto words = shell_words(line);
  if (!words) return UsageError{"a quote is not closed", shell.json};
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
  CommandLines lines;
  ExitCode code = ExitCode::ok;
  for (;;) {
    const auto line = lines.next([&] {
      if (is_typed) console.prompt(prompt);
    });
    if (!line) {
      if (is_typed) console.prompt("\n");
      const bool goes_on =
          is_typed && lines.end() == CommandLines::End::interrupt && lines.signal() == SIGINT;
      if (goes_on) continue;
      if (lines.end() == CommandLines::End::too_long) {
        return tell_failure(console, options,
                            {"usage", "a line has more than 1 MiB", ExitCode::usage});
      }
      if (lines.end() == CommandLines::End::interrupt)
        return lines.signal() == SIGTERM ? ExitCode::terminated : ExitCode::interrupted;
      break;
    }
    if (is_blank(*line)) continue;
    if (*line == "exit" || *line == "quit") break;
    const auto read = read_shell_line(*line, options);
    const auto* const error = std::get_if<UsageError>(&read);
    code = error != nullptr ? refuse(*error) : run(std::get<Options>(read));
    if (is_typed && code == ExitCode::interrupted) console.prompt("\n");
    if (!is_typed && (code == ExitCode::interrupted || code == ExitCode::terminated)) return code;
  }
  return is_typed ? ExitCode::ok : code;
}

}  // namespace client
