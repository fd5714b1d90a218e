#include "verbs/run.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "connection/connect.hpp"
#include "connection/relay.hpp"
#include "render/json_error.hpp"
#include "verbs/cut_output.hpp"
#include "verbs/daemon_end.hpp"
#include "verbs/failure.hpp"
#include "verbs/grep.hpp"
#include "verbs/listen.hpp"
#include "verbs/monitor.hpp"
#include "verbs/named_daemon.hpp"
#include "verbs/params.hpp"
#include "verbs/roots.hpp"
#include "verbs/running_daemon.hpp"
#include "verbs/servers.hpp"
#include "verbs/shell.hpp"
#include "verbs/tool_arguments.hpp"
#include "verbs/verb_kinds.hpp"
#include "verbs/verbs.hpp"
#include "verbs/waiting_hint.hpp"
#include "verbs/waiting_watch.hpp"

namespace client {
namespace {

ExitCode call(Dialogue& dialogue, const Options& options, const std::vector<Argument>& arguments) {
  const auto prepared = prepare_call(dialogue, options, arguments);
  if (const auto* code = std::get_if<ExitCode>(&prepared)) return *code;
  return call_tool(dialogue, options, std::get<ToolCall>(prepared));
}

ExitCode dispatch(Dialogue& dialogue, const Options& options, const Prepared& prepared) {
  const std::string& params = prepared.params;
  switch (options.verb) {
    case Verb::tools: return list_tools(dialogue, options);
    case Verb::resources: return list_resources(dialogue, options);
    case Verb::prompts: return list_prompts(dialogue, options);
    case Verb::call: return call(dialogue, options, prepared.arguments);
    case Verb::read: return read_resource_verb(dialogue, options, params);
    case Verb::prompt: return get_prompt(dialogue, options, params);
    case Verb::request: return send_request(dialogue, options, params);
    case Verb::notify: return send_notification(dialogue, options, params);
    case Verb::status: return show_status(dialogue, options);
    case Verb::jobs: return list_jobs(dialogue, options);
    case Verb::wait: return wait_for_jobs(dialogue, options);
    case Verb::answer: return answer_job(dialogue, options, prepared.arguments);
    case Verb::cancel: return cancel_job(dialogue, options);
    case Verb::forget: return forget_job(dialogue, options);
    case Verb::tasks: return show_tasks(dialogue, options);
    case Verb::replay: return replay(dialogue, options);
    case Verb::skills: return list_skills(dialogue, options);
    case Verb::grep: return grep(dialogue, options);
    case Verb::templates: return list_templates(dialogue, options);
    case Verb::server: return show_server(dialogue, options);
    case Verb::ping: return ping(dialogue, options);
    case Verb::subscribe: return subscribe(dialogue, options);
    case Verb::unsubscribe: return unsubscribe(dialogue, options);
    case Verb::log_level: return set_log_level(dialogue, options);
    case Verb::complete: return complete(dialogue, options, params);
    case Verb::login: return log_in(dialogue, options);
    case Verb::logout: return log_out(dialogue, options);
    case Verb::agent_help: return show_agent_help(dialogue, options, std::nullopt);
    default: return ExitCode::usage;
  }
}

using VerbAboutServers = ExitCode (*)(const Options&, Console&);

/// Null for a verb that needs a daemon.
VerbAboutServers verb_about_servers(Verb verb) {
  switch (verb) {
    case Verb::servers: return &list_servers;
    case Verb::approve: return &approve_server;
    case Verb::stop: return &stop_server;
    case Verb::logs: return &show_logs;
    default: return nullptr;
  }
}

/// The code, unless what was printed could not be written.
ExitCode unless_lost(ExitCode code, Console& console) {
  if (console.output_state() == Sink::Result::failed) {
    console.note(fmt::format("cannot write the result: {}", std::strerror(console.output_error())));
    return ExitCode::answered_error;
  }
  return console.output_state() == Sink::Result::interrupted ? ExitCode::interrupted : code;
}

ExitCode search_all_servers(const Options& options) {
  Interrupt interrupt;
  Console console(interrupt.descriptor());
  if (options.max_bytes) console.hold();
  const ExitCode code = grep_all(options, console, interrupt);
  return unless_lost(print_held(console, options, code), console);
}

/// What is left of a verb where there is no session with the server, and why.
ExitCode without_session(Dialogue& dialogue, const Options& options, const Answer& why) {
  return options.verb == Verb::agent_help ? show_agent_help(dialogue, options, why)
                                          : dialogue.report(why);
}

/// `is_new`: the daemon was started for it.
ExitCode run_verb(Connected connected, const Options& options, Deadline deadline,
                  const Prepared& prepared, bool is_new) {
  Interrupt interrupt;
  Console console(interrupt.descriptor());
  ExitCode code = ExitCode::ok;
  if (options.verb == Verb::listen) {
    code = listen(std::move(connected), options, console, interrupt);
  } else if (options.verb == Verb::monitor || options.verb == Verb::record) {
    code = monitor(std::move(connected), options, console, interrupt);
  } else {
    const bool keep = keeps_notifications(options);
    Dialogue dialogue(std::move(connected), options, deadline, keep, console, interrupt);
    if (options.max_bytes) console.hold();
    const auto described = begin_with_roots(dialogue, options, prepared.roots, is_new);
    code = !described || described->outcome == Answer::Outcome::result
               ? dispatch(dialogue, options, prepared)
               : without_session(dialogue, options, *described);
    if (dialogue.wants_login() && !options.json && options.verb != Verb::login &&
        dialogue.can_ask() && log_in_if_wanted(dialogue))
      code = dispatch(dialogue, options, prepared);
    code = print_held(console, options, code);
    // An answer about roots that is not sent yet goes out too.
    if (!keep || dialogue.answers_roots()) dialogue.leave();
  }
  return unless_lost(code, console);
}

std::string help(const Options& options) {
  if (options.operands.empty()) return options.json ? help_json() : help_text();
  const std::string& verb = options.operands.front();
  return options.json ? help_json(verb) : help_text(verb);
}

ExitCode print_text(std::string_view text) {
  Console().print(text);
  return ExitCode::ok;
}

/// A line for a person, if the terminal takes it now: the relay waits for nobody who reads stderr.
void say_if_possible(Console& console, std::string_view line) {
  pollfd error = {STDERR_FILENO, POLLOUT, 0};
  if (::poll(&error, 1, 0) == 1 && error.revents == POLLOUT) console.note(line);
}

/// Until a client sends a line, the daemon takes it for one of the older revisions. So there is a
/// moment for the first line before the connection; who only listens is connected after it.
void await_first_line() {
  constexpr int longest_ms = 1000;
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  ::poll(&input, 1, longest_ms);
}

ExitCode run_relay(Connected connected, const Options& options, const TrustedPeer& trusted) {
  Console console;
  std::optional<WaitingWatch> watch;
  if (console.error_is_terminal()) {
    const auto connect = [path = connected.path, trusted]() -> FileDescriptor {
      const Milliseconds at_once(0);
      auto one = connect_to_daemon({path}, trusted, at_once, Deadline::after(at_once));
      if (auto* daemon = std::get_if<Connected>(&one)) return std::move(daemon->daemon);
      return {};
    };
    watch.emplace(waiting_timeout, connect,
                  [&console](std::string_view line) { say_if_possible(console, line); });
  }
  const pid_t process = process_behind(connected.daemon.get());
  const RelayEnd end = relay(STDIN_FILENO, STDOUT_FILENO, std::move(connected.daemon),
                             options.timeout, watch ? &*watch : nullptr);
  const int error = errno;
  switch (end) {
    case RelayEnd::finished:
    case RelayEnd::output_closed: break;
    case RelayEnd::hung_up:
      console.note("the daemon closed the connection: " + describe_end(connected.path, process));
      return ExitCode::unreachable;
    case RelayEnd::timed_out:
      console.note("nothing came in time after the end of the input (-w)");
      return ExitCode::timed_out;
    case RelayEnd::output_failed:
      console.note(fmt::format("cannot write to stdout: {}", std::strerror(error)));
      return ExitCode::answered_error;
  }
  return ExitCode::ok;
}

ExitCode report(const ConnectFailure& failure, const Options& options) {
  Console console;
  const ExitCode code = failure.timed_out ? ExitCode::timed_out : ExitCode::unreachable;
  return tell_failure(console, options,
                      {.kind = failure.timed_out ? "timeout" : "daemon",
                       .message = failure.message,
                       .code = code,
                       .hint = std::string(hint_for("daemon"))});
}

ExitCode refuse(UsageError error, const Options& options) {
  error.json = options.json;
  return refuse(error);
}

}  // namespace

ExitCode refuse(const UsageError& error) {
  Console console;
  if (error.json) {
    JsonError told;
    told.kind = "usage";
    told.message = error.message;
    told.hint = hint_for(told.kind);
    console.print(to_text(told));
  }
  console.note(error.message + " (mcp-nc --help tells more)");
  return ExitCode::usage;
}

ExitCode run(const Options& options) {
  if (options.verb == Verb::help) return print_text(help(options));
  if (options.verb == Verb::version) {
    return print_text(options.json ? "{\"version\":\"" MCP_BRIDGE_VERSION "\"}\n"
                                   : "mcp-nc " MCP_BRIDGE_VERSION "\n");
  }

  if (const VerbAboutServers verb = verb_about_servers(options.verb)) {
    Console console;
    return verb(options, console);
  }

  if (options.skill) {
    Console console;
    return unless_lost(print_skill(options, console), console);
  }

  if (options.verb == Verb::shell) return run_shell(options, &run);

  if (options.all) return search_all_servers(options);

  const auto prepared = prepare(options);
  if (const auto* error = std::get_if<UsageError>(&prepared)) return refuse(*error, options);
  std::optional<NamedDaemon> named;
  if (names_server(options)) {
    Console console;
    auto found = named_daemon(options, console);
    if (const auto* failure = std::get_if<NamingFailure>(&found))
      return report(*failure, options, console);
    named = std::get<NamedDaemon>(std::move(found));
  }
  const auto sockets =
      choose_sockets(named ? named->paths.socket : options.socket, std::getenv("MCP_SOCKET_PATH"));
  if (const auto* error = std::get_if<UsageError>(&sockets)) return refuse(*error, options);

  const auto trusted = choose_trusted_peer(options.peer, std::getenv("MCP_NC_PEER"));
  if (const auto* error = std::get_if<UsageError>(&trusted)) return refuse(*error, options);

  if (options.verb == Verb::relay) await_first_line();
  const Deadline deadline = Deadline::after(options.timeout);
  auto connected = connect_to_daemon(std::get<std::vector<std::string>>(sockets),
                                     std::get<TrustedPeer>(trusted), options.wait, deadline);
  const auto* failure = std::get_if<ConnectFailure>(&connected);
  bool is_new = false;
  if (failure != nullptr && failure->is_absent && named && !options.no_start) {
    Console console;
    auto started = start_named(*named, console, deadline);
    if (const auto* why = std::get_if<NamingFailure>(&started))
      return report(*why, options, console);
    connected = std::get<Connected>(std::move(started));
    failure = nullptr;
    is_new = true;
  }
  if (failure != nullptr) return report(*failure, options);
  Connected daemon = std::get<Connected>(std::move(connected));
  if (options.verb == Verb::relay)
    return run_relay(std::move(daemon), options, std::get<TrustedPeer>(trusted));
  return run_verb(std::move(daemon), options, deadline, std::get<Prepared>(prepared), is_new);
}

}  // namespace client
