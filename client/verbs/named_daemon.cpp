#include "verbs/named_daemon.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "connection/connect.hpp"
#include "connection/hints.hpp"
#include "connection/typed_line.hpp"
#include "servers/approvals.hpp"
#include "servers/input_values.hpp"
#include "servers/instance.hpp"
#include "servers/start_daemon.hpp"
#include "servers/whole_file.hpp"
#include "terminal/visible.hpp"
#include "text/utf8.hpp"
#include "verbs/failure.hpp"

namespace client {
namespace {

/// A daemon is ready before it has heard from its server.
constexpr Milliseconds longest_start(30'000);

/// These get what they run from the network the first time.
constexpr std::string_view downloaders[] = {"npx",  "bunx",   "pnpm",   "yarn", "uvx",
                                            "pipx", "docker", "podman", "deno"};

std::string shown(const NamedServer& server) { return make_visible_line(server.definition.name); }

bool may_download(const Definition& definition) {
  if (!starts_program(definition)) return false;
  const std::string summary = summary_of(definition);
  std::string_view program(summary);
  program = program.substr(0, program.find(' '));
  program.remove_prefix(program.rfind('/') + 1);
  for (const std::string_view one : downloaders) {
    if (program == one) return true;
  }
  return false;
}

std::string current_folder() {
  std::array<char, 4096> path{};
  return ::getcwd(path.data(), path.size()) == nullptr ? "/" : path.data();
}

bool can_ask(const Console& console) {
  return console.input_is_terminal() && console.error_is_terminal();
}

/// Values of inputs that only a person has; nothing if they were not given.
std::optional<std::map<std::string, std::string>> ask_for_inputs(const NamedServer& server,
                                                                 Console& console) {
  std::map<std::string, std::string> values;
  for (const WantedInput& input : variables_of(server.definition).inputs) {
    const std::string variable = bridge::variable_of_input(input.id);
    if (environment_variable(variable.c_str())) continue;
    if (!can_ask(console)) continue;  // its default counts, where it has one
    const std::string& what = input.description.empty() ? input.id : input.description;
    const bool shows_default = input.otherwise && !input.is_password;
    const auto prompt = [&] {
      console.prompt(fmt::format("mcp-nc: {}{}: ", what,
                                 shows_default ? fmt::format(" [{}]", *input.otherwise) : ""));
    };
    auto line = read_typed_line(input.is_password, prompt);
    if (input.is_password || !line) console.prompt("\n");
    if (!line || !bridge::is_utf8(*line)) return std::nullopt;
    if (line->empty() && input.otherwise) line = input.otherwise;
    values[input.id] = std::move(*line);
  }
  return values;
}

/// What has no value and no default, all of it; "" if there is nothing of the kind.
std::string missing_values(const NamedServer& server,
                           const std::map<std::string, std::string>& asked) {
  std::string missing;
  const auto add = [&missing](const std::string& text) {
    missing += (missing.empty() ? "" : ", ") + make_visible_line(text);
  };
  const NamedVariables variables = variables_of(server.definition);
  for (const WantedInput& input : variables.inputs) {
    const std::string variable = bridge::variable_of_input(input.id);
    const bool is_there =
        asked.contains(input.id) || input.otherwise || environment_variable(variable.c_str());
    if (!is_there) add(fmt::format("${{input:{}}} ({})", input.id, variable));
  }
  for (const WantedVariable& variable : variables.environment) {
    if (!variable.has_default && !environment_variable(variable.name.c_str())) add(variable.name);
  }
  return missing;
}

}  // namespace

StartOptions start_options() {
  StartOptions start;
  if (auto idle = environment_variable("MCP_BRIDGE_IDLE_EXIT")) start.idle_exit = std::move(*idle);
  return start;
}

std::variant<NamedServer, NamingFailure> named_server(const Options& options) {
  if (options.server.empty()) {
    const bool is_url = !options.url.empty();
    const std::string& typed = is_url ? options.url : options.command;
    const std::string_view option = is_url ? "--url" : "--run";
    if (!bridge::is_utf8(typed)) return NamingFailure{fmt::format("option {}: not UTF-8", option)};
    if (is_url) return NamedServer{definition_of_url(typed), "", "/", false};
    auto definition = definition_of_command(typed);
    if (!definition)
      return NamingFailure{"option --run: there is no command in it, or a quote is not closed"};
    return NamedServer{std::move(*definition), "", current_folder(), false};
  }
  auto found = find_server(options.server, config_files(options.config, environment_variable),
                           [] { return other_files(environment_variable); });
  if (auto* failure = std::get_if<LookupFailure>(&found))
    return NamingFailure{std::move(failure->message)};
  return std::get<NamedServer>(std::move(found));
}

std::optional<NamingFailure> have_approved(const NamedServer& server, const Places& places,
                                           Console& console) {
  const std::string name = shown(server);
  if (!can_ask(console)) {
    return NamingFailure{
        fmt::format("{} names @{}, which was not approved (mcp-nc approve @{} shows it and asks; "
                    "without a terminal: mcp-nc approve --yes @{})",
                    make_visible_line(server.file), name, name, name)};
  }
  const auto line = read_typed_line(false, [&] {
    console.prompt(describe_for_approval(server));
    console.prompt("mcp-nc: may it run, now and from now on? [y/N] ");
  });
  if (!line) console.prompt("\n");
  if (!line || (*line != "y" && *line != "Y" && *line != "yes"))
    return NamingFailure{fmt::format("@{} was not approved", name)};
  if (std::string fault = approve(server, places); !fault.empty())
    return NamingFailure{std::move(fault), ExitCode::unreachable};
  return std::nullopt;
}

std::variant<NamedDaemon, NamingFailure> named_daemon(const Options& options, Console& console) {
  auto server = named_server(options);
  auto places = make_places(environment_variable);
  if (auto* failure = std::get_if<NamingFailure>(&server)) {
    const auto* const known = std::get_if<Places>(&places);
    if (known != nullptr && !options.server.empty() &&
        !typed_instances(options.server, *known).empty())
      failure->message += "; what mcp-nc servers shows as that was named by --run or --url";
    return std::move(*failure);
  }
  if (auto* fault = std::get_if<std::string>(&places))
    return NamingFailure{std::move(*fault), ExitCode::unreachable};
  NamedDaemon daemon{
      std::get<NamedServer>(std::move(server)), std::get<Places>(std::move(places)), {}};
  daemon.start = start_options();
  if (!is_approved(daemon.server, daemon.places)) {
    if (auto failure = have_approved(daemon.server, daemon.places, console))
      return std::move(*failure);
  }
  daemon.paths = paths_of(daemon.places, instance_of(daemon.server, environment_variable));
  const auto fits = choose_sockets(daemon.paths.socket, nullptr);
  if (const auto* error = std::get_if<UsageError>(&fits))
    return NamingFailure{error->message, ExitCode::unreachable};
  return daemon;
}

std::variant<Connected, NamingFailure> start_named(const NamedDaemon& daemon, Console& console,
                                                   Deadline deadline) {
  const NamedServer& server = daemon.server;
  const std::string name = shown(server);
  const auto inputs = ask_for_inputs(server, console);
  if (!inputs) return NamingFailure{fmt::format("@{}: not started", name)};
  if (const std::string missing = missing_values(server, *inputs); !missing.empty())
    return NamingFailure{fmt::format("@{} needs values that are not there: {}", name, missing)};

  const auto lock = lock_starting(daemon.places);
  if (!lock) {
    return NamingFailure{fmt::format("cannot lock {}", make_visible_line(daemon.places.runtime)),
                         ExitCode::unreachable};
  }
  const Deadline until = Deadline::earlier(deadline, Deadline::after(longest_start));
  auto now = connect_to_daemon({daemon.paths.socket}, {}, Milliseconds(0), until);
  if (auto* other = std::get_if<Connected>(&now)) return std::move(*other);  // has just started it

  if (console.error_is_terminal() || may_download(server.definition)) {
    console.note(fmt::format(
        "starting @{}: {}{}", name, summary_of(server.definition),
        may_download(server.definition) ? " (the first time it may have to be downloaded)" : ""));
  }
  replace_file(daemon.paths.record, record_of(instance_for(server, "")));
  auto started = start_daemon(server, *inputs, daemon.places, daemon.paths, daemon.start, until);
  if (const auto* why = std::get_if<std::string>(&started)) {
    return NamingFailure{fmt::format("cannot start the daemon of @{}: {}", name, *why),
                         ExitCode::unreachable};
  }
  return std::get<Connected>(std::move(started));
}

ExitCode report(const NamingFailure& failure, const Options& options, Console& console) {
  const bool is_usage = failure.code == ExitCode::usage;
  return tell_failure(
      console, options,
      {.kind = is_usage                              ? "usage"
               : failure.code == ExitCode::timed_out ? "timeout"
                                                     : "daemon",
       .message = failure.message,
       .code = failure.code,
       .hint = is_usage ? "mcp-nc servers lists the servers, and which may run" : ""});
}

}  // namespace client
