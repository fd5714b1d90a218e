#include "verbs/verbs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "render/content.hpp"
#include "servers/start.hpp"
#include "verbs/job_messages.hpp"
#include "verbs/jobs.hpp"
#include "verbs/operands.hpp"
#include "verbs/relay.hpp"
#include "verbs/roots.hpp"

namespace client {
namespace {

/// The code, unless the output could not be written.
ExitCode unless_lost(ExitCode code, Console& console) {
  if (console.output_state() == Sink::Result::failed) {
    console.note(fmt::format("cannot write the result: {}", std::strerror(console.output_error())));
    return ExitCode::answered_error;
  }
  return console.output_state() == Sink::Result::interrupted ? ExitCode::interrupted : code;
}

/// Calls the handler of a row.
struct Dispatch {
  Dialogue& dialogue;
  const Options& options;
  const Prepared& prepared;

  ExitCode operator()(DialogueVerb* handler) const { return handler(dialogue, options); }
  ExitCode operator()(PreparedVerb* handler) const { return handler(dialogue, options, prepared); }
  ExitCode operator()(const RequestHandler& request) const {
    const Answer answer = dialogue.ask(request.method, prepared.params);
    return answer.ok() ? request.print(dialogue, options, answer.payload) : dialogue.report(answer);
  }
  ExitCode operator()(LocalVerb*) const { return ExitCode::usage; }  // has run before
};

/// In the command of a handler (listen --exec): what it has not handled yet is not its command's.
bool is_kept_by_environment(const Options& options) {
  const char* const kept = std::getenv("MCP_NC_KEEP");
  return kept != nullptr && *kept != '\0' &&
         options.verb->options.find("keep") != std::string_view::npos;
}

/// `is_new`: the daemon was started for it.
ExitCode run_dialogue(Connected connected, const Options& options, Deadline deadline,
                      Prepared& prepared, bool is_new, Console& console, Interrupt& interrupt) {
  const Verb& verb = *options.verb;
  const bool keep = !verb.has(takes_notifications) || options.keep ||
                    is_kept_by_environment(options) || is_job(options) || !options.exec.empty();
  Dialogue dialogue(std::move(connected), options, deadline, keep, console, interrupt);
  if (const Answer* const refusal = dialogue.grant_refusal()) return dialogue.report(*refusal);
  std::optional<Options> completed;
  if (verb.has(names_jobs)) {
    completed = options;
    if (!complete_jobs(dialogue, *completed)) return ExitCode::answered_error;
    if (!prepared.params.empty()) prepared.params = job_object(completed->operands.front()).text();
  }
  const Dispatch dispatch{dialogue, completed ? *completed : options, prepared};
  if (options.max_bytes) console.hold();
  const bool opens = verb.has(opens_session) && !options.names;
  prepared.described = begin_with_roots(dialogue, options, prepared.roots, is_new && opens);
  const bool is_open = !prepared.described || prepared.described->ok();
  ExitCode code = is_open || verb.has(reports_no_session) ? std::visit(dispatch, verb.handler)
                                                          : dialogue.report(*prepared.described);
  dialogue.hear(nullptr);  // the verb's function has dangling references
  if (dialogue.wants_login() && !options.json && verb.name() != "login" && console.can_ask() &&
      log_in_if_wanted(dialogue, options)) {
    code = std::visit(dispatch, verb.handler);
    dialogue.hear(nullptr);
  }
  code = print_held(console, options, code);
  // An answer about roots that is still queued is sent, too.
  if (!keep || dialogue.answers_roots()) dialogue.leave();
  return code;
}

ExitCode refuse(UsageError error, const Options& options) {
  error.json = options.json;
  if (options.verb != nullptr) error.verb = options.verb->name();
  return refuse(error);
}

}  // namespace

ExitCode show_help(const Options& options, Console& console) {
  const bool is_whole = options.operands.empty();
  const Verb* const verb = is_whole ? nullptr : find_verb(options.operands.front());
  if (options.json) {
    console.print(verb == nullptr ? help_json() : help_json(*verb));
  } else {
    console.print(is_whole ? help_text() : verb == nullptr ? options_text() : help_text(*verb));
  }
  return ExitCode::ok;
}

ExitCode show_version(const Options& options, Console& console) {
  console.print(options.json ? "{\"version\":\"" MCP_BRIDGE_VERSION "\"}\n"
                             : "mcp-nc " MCP_BRIDGE_VERSION "\n");
  return ExitCode::ok;
}

ExitCode refuse(const UsageError& error) {
  Console console;
  Options options;
  options.json = error.json;
  options.verb = find_verb(error.verb);
  const std::string help = error.verb.empty() ? "--help" : fmt::format("help {}", error.verb);
  return tell_failure(
      console, options,
      {.kind = "usage",
       .message = error.message,
       .code = ExitCode::usage,
       .shown =
           error.message.ends_with('?') ? error.message : error.message + "; see mcp-nc " + help});
}

ExitCode run(const Options& options) {
  const Verb* const verb = options.verb;
  // A person who names a server wants to see it; a program that does is an MCP client.
  if (verb == nullptr && names_server(options) && ::isatty(STDIN_FILENO) == 1 &&
      ::isatty(STDOUT_FILENO) == 1) {
    Options overview = options;
    overview.verb = find_verb("server");
    return run(overview);
  }
  if (options.all || options.check) {
    if (!request_for_grant("1").empty())
      return refuse({.message = "--all and --check ask other daemons than that of MCP_NC_GRANT"},
                    options);
    Interrupt interrupt;
    Console output(interrupt.descriptor());
    if (options.max_bytes) output.hold();
    const ExitCode code = options.check ? check_servers(options, output, interrupt)
                                        : grep_all(options, output, interrupt);
    return unless_lost(print_held(output, options, code), output);
  }
  if (const auto* local = verb == nullptr ? nullptr : std::get_if<LocalVerb*>(&verb->handler)) {
    Console console;
    return (*local)(options, console);
  }
  if (options.skill) {
    Console console;
    return unless_lost(print_skill(options, console), console);
  }

  auto prepared = prepare(options);
  if (const auto* error = std::get_if<UsageError>(&prepared)) return refuse(*error, options);
  std::optional<NamedDaemon> named;
  Console console;
  if (names_server(options)) {
    auto found = named_daemon(options, console);
    if (const auto* failure = std::get_if<Failure>(&found))
      return tell_failure(console, options, *failure);
    named = std::get<NamedDaemon>(std::move(found));
  }
  const auto sockets =
      choose_sockets(named ? named->paths.socket : options.socket, std::getenv("MCP_SOCKET_PATH"));
  if (const auto* error = std::get_if<UsageError>(&sockets)) return refuse(*error, options);
  const auto trusted = choose_trusted_peer(options.peer, std::getenv("MCP_NC_PEER"));
  if (const auto* error = std::get_if<UsageError>(&trusted)) return refuse(*error, options);

  if (!options.as.empty()) {
    if (const auto why = refusal_to_look_as(options.as)) return refuse({.message = *why}, options);
  }
  if (verb == nullptr && !console.input_is_terminal()) await_first_line();
  const Deadline deadline = Deadline::after(options.timeout);
  const char* const pipes = std::getenv("MCP_PIPES_PATH");
  auto connected =
      connect_to_daemon(std::get<std::vector<std::string>>(sockets), std::get<TrustedPeer>(trusted),
                        options.wait, deadline, named || pipes == nullptr ? "" : pipes);
  const auto* failure = std::get_if<ConnectFailure>(&connected);
  // What completes a word starts nothing that its user has turned off.
  const bool is_kept_off = named && options.names && is_disabled(named->server.definition);
  const bool is_new =
      failure != nullptr && failure->is_absent && named && !options.no_start && !is_kept_off;
  if (is_new) {
    auto started = start_named(*named, console, deadline);
    if (const auto* why = std::get_if<Failure>(&started))
      return tell_failure(console, options, *why);
    connected = std::get<Connected>(std::move(started));
  } else if (failure != nullptr && failure->is_absent && named) {
    const std::string& name = named->server.definition.name;
    return tell_failure(
        console, options,
        {"daemon",
         options.no_start
             ? fmt::format("no daemon runs for @{} (--no-start)", name)
             : fmt::format("no daemon runs for @{}: it is disabled, and --names starts none; start "
                           "it with: mcp-nc server",
                           name),
         ExitCode::unreachable});
  } else if (failure != nullptr) {
    if (verb == nullptr && failure->is_absent && console.input_is_terminal())
      console.note("mcp-nc --help says what it does; mcp-nc servers lists what files name");
    return tell_failure(console, options,
                        {.kind = failure->timed_out ? "timeout" : "daemon",
                         .message = failure->message,
                         .code = failure->timed_out ? ExitCode::timed_out : ExitCode::unreachable,
                         .hint = std::string(hint_for("daemon"))});
  }
  Connected daemon = std::get<Connected>(std::move(connected));
  if (verb == nullptr && console.input_is_terminal()) {
    console.remark(fmt::format(
        "copies JSON-RPC messages, one a line, between here and {}; ^D ends it", daemon.path));
    console.remark(
        as_typed("mcp-nc server shows what is there, mcp-nc --help all commands", options));
  }
  if (verb == nullptr) return run_relay(std::move(daemon), options, std::get<TrustedPeer>(trusted));
  Interrupt interrupt;
  Console output(interrupt.descriptor());
  const ExitCode code = run_dialogue(std::move(daemon), options, deadline,
                                     std::get<Prepared>(prepared), is_new, output, interrupt);
  return unless_lost(code, output);
}

}  // namespace client
