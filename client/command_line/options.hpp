#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "command_line/duration.hpp"

namespace client {

enum class Verb {
  relay,
  tools,
  call,
  resources,
  read,
  prompts,
  prompt,
  request,
  notify,
  listen,
  status,
  jobs,
  wait,
  answer,
  cancel,
  forget,
  tasks,
  skills,
  grep,
  templates,
  server,
  ping,
  subscribe,
  unsubscribe,
  log_level,
  monitor,
  record,
  replay,
  complete,
  agent_help,
  login,
  logout,
  servers,
  approve,
  stop,
  logs,
  shell,
  help,
  version,
};

/// A parsed command line.
struct Options {
  Verb verb = Verb::relay;
  std::vector<std::string> operands;  ///< what follows the verb and is no option

  std::string socket;                   ///< "" = not given
  std::string server;                   ///< of @NAME, without the @; "" = not given
  std::string url;                      ///< "" = not given
  std::string command;                  ///< of --run; "" = not given
  std::string config;                   ///< "" = not given
  std::string peer;                     ///< "" = not given
  std::vector<std::string> roots;       ///< folders, as they were typed
  std::optional<Milliseconds> timeout;  ///< nothing = none
  Milliseconds wait{0};                 ///< for a socket that is not there yet
  bool no_start = false;                ///< only a daemon that runs already
  bool keep = false;                    ///< leave notifications in the daemon's ring
  bool json = false;
  bool names = false;
  bool brief = false;
  bool full = false;
  bool types = false;                      ///< tools as declarations of TypeScript
  std::string save;                        ///< "" = not given
  std::optional<std::uint64_t> max_bytes;  ///< of the output; the rest goes to a file
  std::string field;                       ///< "" = not given
  bool raw = false;                        ///< a call's arguments as they were written

  std::optional<Milliseconds> listen_for;  ///< 0: only what is there now
  std::optional<std::uint64_t> count;
  std::optional<std::uint64_t> since;
  bool sequence = false;

  bool detach = false;
  std::optional<Milliseconds> detach_after;
  std::string key;  ///< "" = not given

  bool task = false;  ///< a call that the server makes a task of its own

  bool all = false;  ///< every server that files name

  bool any = false;
  bool decline = false;
  bool cancel = false;

  bool device = false;
  bool open = false;

  bool skill = false;

  bool yes = false;
  bool follow = false;

  bool ready = false;
  bool metrics = false;
  bool watch = false;
};

/// Whether they name the server instead of a daemon's socket.
inline bool names_server(const Options& options) {
  return !options.server.empty() || !options.url.empty() || !options.command.empty();
}

/// What is wrong with a command line, as one line for a person.
struct UsageError {
  std::string message;
  bool json = false;  ///< --json was among the words
};

/// `arguments` without the program's name. Options may stand anywhere; `--` ends them.
std::variant<Options, UsageError> parse_command_line(
    const std::vector<std::string_view>& arguments);

/// The text of --help, with line break.
std::string help_text();
/// The same of one verb; "" if there is no such verb.
std::string help_text(std::string_view verb);
/// Both as JSON, with line break.
std::string help_json();
std::string help_json(std::string_view verb);

std::optional<Verb> find_verb(std::string_view name);
std::vector<std::string_view> verb_names();
/// Whether the option, with its dashes, is one of this verb's own.
bool goes_with(std::string_view option, Verb verb);

}  // namespace client
