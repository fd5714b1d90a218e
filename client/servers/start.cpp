#include "servers/start.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstring>

#include "base/contains.hpp"
#include "base/secret_file.hpp"
#include "connection/typed_line.hpp"
#include "process/spawn.hpp"
#include "servers/approve.hpp"
#include "servers/daemon_program.hpp"
#include "servers/variables.hpp"
#include "system/signals.hpp"
#include "text/utf8.hpp"
#include "text/visible_text.hpp"

namespace client {
namespace {

/// The time for a daemon to get ready, which does not depend on its server.
constexpr Milliseconds longest_start(30'000);

/// Some programs download what they run the first time.
bool may_download(const Definition& definition) {
  if (!starts_program(definition)) return false;
  const std::string summary = summary_of(definition);
  std::string_view program(summary);
  program = program.substr(0, program.find(' '));
  program.remove_prefix(program.rfind('/') + 1);
  return bridge::has_word("npx bunx pnpm yarn uvx pipx docker podman deno", program);
}

/// Values of inputs that only a person has; nullopt if they were not given.
std::optional<std::map<std::string, std::string>> ask_for_inputs(const NamedServer& server,
                                                                 Console& console) {
  std::map<std::string, std::string> values;
  for (const bridge::InputDefinition& input : variables_of(server.definition).inputs) {
    const std::string variable = bridge::variable_of_input(input.id);
    if (environment_variable(variable.c_str())) continue;
    if (!console.can_ask()) continue;  // its default is used, if it has one
    const std::string& what = input.description.empty() ? input.id : input.description;
    const bool shows_default = input.otherwise && !input.password;
    const auto prompt = [&] {
      console.prompt(fmt::format("mcp-nc: {}{}: ", what,
                                 shows_default ? fmt::format(" [{}]", *input.otherwise) : ""));
    };
    auto line = read_typed_line(input.password, prompt);
    if (input.password || !line) console.prompt("\n");
    if (!line || !bridge::is_utf8(*line)) return std::nullopt;
    if (line->empty() && input.otherwise) line = input.otherwise;
    values[input.id] = std::move(*line);
  }
  return values;
}

/// All variables without a value or a default, as text; "" if there are none.
std::string missing_values(const NamedServer& server,
                           const std::map<std::string, std::string>& asked) {
  std::string missing;
  const auto add = [&missing](const std::string& text) {
    missing += (missing.empty() ? "" : ", ") + text;
  };
  const NamedVariables variables = variables_of(server.definition);
  for (const bridge::InputDefinition& input : variables.inputs) {
    const std::string variable = bridge::variable_of_input(input.id);
    const bool is_there =
        asked.contains(input.id) || input.otherwise || environment_variable(variable.c_str());
    if (!is_there) add(fmt::format("${{input:{}}} ({})", input.id, variable));
  }
  for (const auto& [name, has_default] : variables.environment) {
    if (!has_default && !environment_variable(name.c_str())) add(name);
  }
  return missing;
}

constexpr std::size_t longest_read = (1 << 20) + (64 << 10);
/// A daemon that cannot start reports it without a time: there may be no log yet.
constexpr std::string_view own_name = "mcp-bridged: ";
/// Except for this report, which may come at any time.
constexpr std::string_view unexpected = "unexpected: ";

/// The descriptor of the inputs' values, besides the standard ones and the definition.
constexpr int inputs_number = 6;
constexpr Milliseconds between_tries{1};
constexpr off_t longest_log = 1 << 20;

std::string error_text(const char* what) {
  return fmt::format("{}: {}", what, std::strerror(errno));
}

/// A log that is too long is renamed first; the daemon's own output is not limited.
FileDescriptor open_log(const std::string& path, off_t& begin) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) == 0 && facts.st_size > longest_log)
    static_cast<void>(std::rename(path.c_str(), (path + ".old").c_str()));
  FileDescriptor log(::open(
      path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600));
  if (log && ::fstat(log.get(), &facts) == 0) begin = facts.st_size;
  return log;
}

/// The options for what the daemon keeps: logins in one store of all daemons, the state in a folder
/// of its own.
std::vector<std::string> words_of_kept(const NamedServer& server, const Places& places,
                                       const InstancePaths& paths) {
  std::vector<std::string> words;
  auto state = environment_variable("MCP_BRIDGE_STATE_DIR");
  if (state) {
    *state = absolute_path(*state);
    make_folders(*state, 0700);
    const std::string_view log = paths.log;
    const std::string_view name = log.substr(log.rfind('/') + 1);
    words.push_back(fmt::format("--state-dir={}/{}", *state, name.substr(0, name.rfind('.'))));
  }
  if (starts_program(server.definition)) return words;
  auto store = environment_variable("MCP_BRIDGE_TOKEN_STORE");
  words.push_back("--token-store=" +
                  (store ? absolute_path(*store) : state.value_or(places.state) + "/tokens.json"));
  return words;
}

/// Starts a daemon for the server and connects to it: detached, in the server's folder, with its
/// output in the log. The definition and the values of prompted inputs go to it on a descriptor, so
/// that neither is in a file or on a command line. Else why it did not start, for a person: the
/// daemon's own message if it ended.
///
/// REQUIRES: lock_starting() is held, and nothing listens on the socket.
std::variant<Connected, std::string> start_daemon(const NamedServer& server,
                                                  const std::map<std::string, std::string>& inputs,
                                                  const Places& places, const InstancePaths& paths,
                                                  Deadline deadline) {
  const std::string daemon = find_daemon_program();
  if (daemon.empty()) return std::string(no_daemon_program);
  const FileDescriptor definition = sealed_file("definition", server.definition.document);
  json::JsonObject object;
  for (const auto& [id, value] : inputs) object.add_any(id, json::RawJson{json::quote(value)});
  const FileDescriptor values =
      inputs.empty() ? FileDescriptor() : sealed_file("inputs", object.text());
  if (!definition || (!values && !inputs.empty())) return error_text("cannot pass the definition");
  off_t log_begin = 0;
  const FileDescriptor log = open_log(paths.log, log_begin);
  if (!log) return error_text(("cannot write " + paths.log).c_str());

  std::vector<std::string> words = {daemon,
                                    "--socket",
                                    paths.socket,
                                    "--config",
                                    fmt::format("/proc/self/fd/{}", definition_number),
                                    "--idle-exit",
                                    environment_variable("MCP_BRIDGE_IDLE_EXIT").value_or("30m")};
  // A command waits for it. A download keeps the daemon's own, which also limits the opening.
  auto wait = environment_variable("MCP_BRIDGE_CONNECT_WAIT");
  if (!wait && !may_download(server.definition)) wait = "3s";
  if (wait) words.insert(words.end(), {"--connect-wait", *wait});
  if (values)
    words.insert(words.end(), {"--input-file", fmt::format("/proc/self/fd/{}", inputs_number)});
  for (std::string& word : words_of_kept(server, places, paths)) words.push_back(std::move(word));
  words.insert(words.end(), server.settings.words.begin(), server.settings.words.end());
  std::vector<std::string> environment = environment_for(server.definition, environ);
  if (!server.settings.token.empty())
    environment.push_back("MCP_SERVER_TOKEN=" + server.settings.token);
  pid_t process = 0;
  const int error = bridge::spawn(process, {daemon,
                                            std::move(words),
                                            std::move(environment),
                                            {{log.get(), STDOUT_FILENO},
                                             {log.get(), STDERR_FILENO},
                                             {definition.get(), definition_number},
                                             {values.get(), inputs_number}},
                                            server.folder,
                                            true});
  if (error != 0)
    return fmt::format("cannot start {} in {}: {}", daemon, server.folder, std::strerror(error));

  const FileDescriptor life = hold_process(process);
  for (;;) {
    const bool has_ended = await_end(life, Deadline::after(between_tries));
    auto connected = connect_to_daemon({paths.socket});
    if (auto* ready = std::get_if<Connected>(&connected)) return std::move(*ready);
    if (has_ended) {
      ::waitpid(process, nullptr, 0);
      return last_words_in(paths.log, static_cast<std::size_t>(log_begin),
                           server.file.empty() ? "the server" : server.file)
          .text;
    }
    if (deadline.passed())
      return fmt::format("timed out: it (pid {}) is not ready; see {}", process, paths.log);
  }
}

}  // namespace

std::variant<NamedDaemon, Failure> named_daemon(const Options& options, Console& console) {
  auto found = find_named(options);
  if (auto* failure = std::get_if<Failure>(&found)) {
    const auto places = make_places(environment_variable);
    const auto* const known = std::get_if<Places>(&places);
    if (known != nullptr && !options.server.empty() &&
        !typed_instances(options.server, *known).empty())
      failure->message += "; the one that runs was named by --run or --url: name it so again";
    return std::move(*failure);
  }
  NamedDaemon& daemon = std::get<NamedDaemon>(found);
  if (const Definition& definition = daemon.server.definition; !definition.fault.empty())
    return naming_failure(fmt::format("cannot start @{}: {}", definition.name, definition.fault));
  if (!is_approved(daemon.server, daemon.places)) {
    if (auto failure = have_approved(daemon.server, daemon.places, console))
      return std::move(*failure);
  }
  daemon.paths = paths_of(daemon.places, instance_of(daemon.server, environment_variable));
  const auto fits = choose_sockets(daemon.paths.socket, nullptr);
  if (const auto* error = std::get_if<UsageError>(&fits))
    return naming_failure(error->message, ExitCode::unreachable);
  return std::move(daemon);
}

std::variant<Connected, Failure> start_named(const NamedDaemon& daemon, Console& console,
                                             Deadline deadline) {
  const NamedServer& server = daemon.server;
  const std::string& name = server.definition.name;
  const auto inputs = ask_for_inputs(server, console);
  if (!inputs) return naming_failure(fmt::format("cannot start @{}: a value was not given", name));
  if (const std::string missing = missing_values(server, *inputs); !missing.empty())
    return naming_failure(fmt::format("cannot start @{}: no value for {}", name, missing));

  if (is_disabled(server.definition)) {
    console.note(fmt::format("@{} is disabled in {}: started because it is named", name,
                             bridge::make_visible_line(server.file)));
  }
  const auto lock = lock_starting(daemon.places);
  if (!lock) {
    return naming_failure(fmt::format("cannot lock {}", daemon.places.runtime),
                          ExitCode::unreachable);
  }
  const Deadline until = Deadline::earlier(deadline, Deadline::after(longest_start));
  auto now = connect_to_daemon({daemon.paths.socket}, {}, Milliseconds(0), until);
  if (auto* other = std::get_if<Connected>(&now)) return std::move(*other);  // started just now

  if (console.error_is_terminal() || may_download(server.definition)) {
    console.note(fmt::format(
        "starting @{}: {}{}", name, summary_of(server.definition),
        may_download(server.definition) ? " (the first time it may have to be downloaded)" : ""));
  }
  replace_file(daemon.paths.record, record_of(instance_for(server, "")));
  auto started = start_daemon(server, *inputs, daemon.places, daemon.paths, until);
  if (const auto* why = std::get_if<std::string>(&started)) {
    return naming_failure(fmt::format("cannot start the daemon of @{}: {}", name, *why),
                          ExitCode::unreachable);
  }
  return std::get<Connected>(std::move(started));
}

LastWords last_words_of(std::string_view said, std::string_view file) {
  while (said.ends_with('\n')) said.remove_suffix(1);
  std::string line(said.substr(said.rfind('\n') + 1));
  LastWords words;
  if (const std::size_t at = line.find(own_name); at != line.npos) {
    line.erase(0, at + own_name.size());
    words.is_refusal = at == 0 && !line.starts_with(unexpected);
  }
  const std::string handed = fmt::format("--config /proc/self/fd/{}", definition_number);
  for (std::size_t at = 0; (at = line.find(handed, at)) != line.npos; at += file.size())
    line.replace(at, handed.size(), file);
  words.text = bridge::make_visible_line(line);
  return words;
}

LastWords last_words_in(const std::string& log, std::size_t begin, std::string_view file) {
  const std::string text = bridge::read_regular_file(log, longest_read).bytes;
  std::string_view said(text);
  said.remove_prefix(std::min(said.size(), begin));
  return last_words_of(said, file);
}

std::vector<std::string> environment_for(const Definition& definition, char* const* environment) {
  const NamedVariables variables = variables_of(definition);
  const auto is_passed = [&](std::string_view name) {
    return bridge::has_word(
               "HOME PATH LANG http_proxy https_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY "
               "ALL_PROXY NO_PROXY",
               name) ||
           name.starts_with("XDG_") || variables.environment.contains(std::string(name)) ||
           std::any_of(variables.inputs.begin(), variables.inputs.end(),
                       [name](const bridge::InputDefinition& input) {
                         return bridge::variable_of_input(input.id) == name;
                       });
  };
  std::vector<std::string> passed;
  for (; *environment != nullptr; ++environment) {
    const std::string_view variable = *environment;
    if (is_passed(variable.substr(0, variable.find('=')))) passed.emplace_back(variable);
  }
  return passed;
}

}  // namespace client
