
#include <algorithm>

#include "base/contains.hpp"
#include "command_line/verb.hpp"
#include "text/shell_word.hpp"

namespace client {
namespace {

constexpr Option general(std::string_view form, Option::Target target, std::string_view text) {
  return {form, target, text, "Options for all"};
}

constexpr Option own(std::string_view form, Option::Target target, std::string_view text) {
  return {form, target, text, "Options of commands"};
}

constexpr Option rows[] = {
    general(
        "-s, --socket PATH", &Options::socket,
        "the daemon's socket (@NAME: abstract) or folder of pipes. Default: MCP_SOCKET_PATH, else "
        "/tmp/mcp.sock or /run/mcp-bridged/mcp.sock; where it is forbidden, also MCP_PIPES_PATH"),
    general("--config FILE", &Options::config,
            "where @NAME is looked up first; then in the file MCP_CONFIG"),
    general("--url URL", &Options::url, "instead of @NAME: a server at that address"),
    general("--run COMMAND", &Options::command,
            "instead of @NAME: a server that this command line starts"),
    general("--header 'NAME: VALUE'", &Options::headers,
            "with --url: a header for every request; 'NAME: @FILE' reads the value (repeatable)"),
    general("--token-file FILE", &Options::token_file,
            "with @NAME and --url: the bearer token. Default with --url: MCP_SERVER_TOKEN"),
    general(
        "--oauth-client-id ID", &Options::oauth_client_id,
        "with @NAME and --url: log in as this client, where the server registers none; default: "
        "MCP_BRIDGE_OAUTH_CLIENT_ID, then oauth.clientId in the file"),
    general("--oauth-client-secret-file FILE", &Options::oauth_client_secret_file, "its secret"),
    general("--oauth-redirect HOST:PORT", &Options::oauth_redirect,
            "where the browser returns, as registered for it"),
    general("--oauth-scope SCOPE", &Options::oauth_scope, "the scope to ask for"),
    general("--oauth-assume-pkce", &Options::oauth_assume_pkce,
            "log in at a server that does not say that it supports PKCE"),
    general("--no-start", &Options::no_start, "with these: use a running daemon only"),
    general("--peer UID", &Options::peer,
            "the daemon's uid, or any: also trusted to serve a socket in a folder that others can "
            "write. Otherwise only root, you and the folder's owner. Default: MCP_NC_PEER"),
    general(
        "-w, --timeout TIME", &Options::timeout,
        "give up after this time (exit 124); as a relay: after this time without data once stdin "
        "ends. 0 = never (default)"),
    general("--wait TIME", &Options::wait, "wait this long for a socket that does not exist yet"),
    general("-h, --help", &Options::help, "this text; after a command, its help"),
    general("-V, --version", &Options::version, "the version"),
    own("--keep", &Options::keep,
        "leave waiting notifications in the daemon, as status and the lists always do; otherwise "
        "they are taken and printed on stderr. Set by MCP_NC_KEEP, too"),
    own("--json", &Options::json,
        "print one JSON value: the raw result, or {\"error\":{kind, code, delivered, message, "
        "hint}}"),
    own("--field PATH", &Options::field,
        "call, read, prompt, request, tasks result: only the value at this path, as items.0.name: "
        "in the structured content, else in the result"),
    own("--max-bytes N", &Options::max_bytes,
        "print at most N bytes; the whole output goes to a file, which is named"),
    own("--names", &Options::names,
        "tools, prompts, resources, templates, jobs, tasks, skills, servers: only the names (URIs, "
        "ids), one per line, tools from the daemon's cache; tools NAME: its arguments, ready to "
        "type"),
    own("--brief", &Options::brief, "tools: one line each; the default from 21 tools on"),
    own("--full", &Options::full, "tools: with their parameters, however many they are"),
    own("--types", &Options::types, "tools: as TypeScript declarations, for a compiled client"),
    own("--as UID", &Options::as,
        "tools: as this user sees them under the daemon's policy; for root"),
    own("--save DIR", &Options::save,
        "call, read, prompt, wait, tasks result: write images, audio and blobs to files there"),
    own("-o, --output FILE", &Options::output,
        "call, read: write the result, text or bytes, to this file"),
    own("--prefix TEXT", &Options::prefix, "link: begin each command's name with this"),
    own("--raw", &Options::raw,
        "call: send the arguments as typed, text as strings, without the tool's schema"),
    own("--detach", &Options::detach, "call: make the call as a job, print its id and exit"),
    own("--detach-after TIME", &Options::detach_after,
        "call: without a result after this time, print the job's id and exit 75"),
    own("--key KEY", &Options::key,
        "call: the same key with the same call is the same job, so a repeated step acts once"),
    own("--root DIR", &Options::roots,
        "tools, call, resources, read, prompts, prompt, request, templates, grep, complete: the "
        "server may work in this folder (repeatable)"),
    own("--task", &Options::task, "call: run it as a task of the server; print the task's id"),
    own("--all", &Options::all,
        "grep: in every server in your files; --no-start: only where a daemon is running"),
    own("--check", &Options::check,
        "servers: ask each that is not disabled whether it can be used, and why not"),
    own("--any", &Options::any, "wait: until the first of them has ended or asks something"),
    own("--decline", &Options::decline, "answer: refuse to answer"),
    own("--cancel", &Options::cancel, "answer: dismiss the question; login: end the pending login"),
    own("--device", &Options::device, "login: by a code to type on another device"),
    own("--open", &Options::open, "login: open the address in this machine's browser, too"),
    own("--for TIME", &Options::listen_for,
        "listen, monitor, record: for this long; listen --for 0 = only what is waiting now; grant: "
        "at most 24h, default 10m"),
    own("--count N", &Options::count, "listen, monitor, record: until N are printed"),
    own("--since SEQ", &Options::since,
        "listen: begin with kept notifications after this sequence number; what is shown stays in "
        "the daemon for the next client"),
    own("--seq", &Options::sequence,
        "listen: print {\"seq\":N,\"message\":{...}}; they stay in the daemon, as with --since"),
    own("--exec COMMAND", &Options::exec,
        "listen: run this for each notification, by sh -c with the notification on stdin; exit 0 "
        "takes it, else it is repeated. -w limits a run"),
    own("--method GLOB", &Options::methods,
        "with --exec: only notifications of these methods (repeatable)"),
    own("--retries N", &Options::retries, "with --exec: give up after N repetitions"),
    own("--dead FILE", &Options::dead, "with --retries: append there what was given up"),
    own("--tools GLOB", &Options::methods, "grant: only these (repeatable)"),
    own("--read-only", &Options::read_only, "grant: only tools that only read"),
    own("--calls N", &Options::count, "grant: so many calls"),
    own("--name TEXT", &Options::prefix, "grant: for lists and audit"),
    own("--skill", &Options::skill,
        "agent-help: as a skill file (SKILL.md) for programs that load skills; --save DIR writes "
        "it to a folder there"),
    own("--yes", &Options::yes, "approve: without asking"),
    own("-f, --follow", &Options::follow, "logs: follow the log, until ^C"),
    own("--ready", &Options::ready, "status: exit 4 while the upstream server cannot be reached"),
    own("--metrics", &Options::metrics, "status: the metrics as text"),
    own("--watch", &Options::watch, "status: on the whole screen, kept up to date until q or ^C"),
};

constexpr std::size_t general_count = 17;
static_assert(rows[general_count - 1].group() != rows[general_count].group());

constexpr HelpEntry exit_code_rows[] = {
    {"0", "ok"},
    {"1", "the tool or the server answered with an error"},
    {"2", "usage"},
    {"3", "the daemon cannot be reached, hung up, or runs as a user whom --peer does not trust"},
    {"4", "the daemon cannot reach or use the upstream server"},
    {"75", "the call continues as a job, or a job asks something"},
    {"124", "timed out"},
    {"130, 143", "interrupted (cancels the request, but not a job that wait awaits)"},
};

}  // namespace

std::span<const Option> all_options() { return rows; }
std::span<const Option> general_options() { return all_options().first(general_count); }
std::span<const Option> verb_options() { return all_options().subspan(general_count); }
std::span<const HelpEntry> exit_codes() { return exit_code_rows; }

bool goes_with(const Option& option, const Verb& verb) {
  return option.name() == "json" || bridge::has_word(verb.options, option.name());
}

std::string_view Verb::more() const {
  const std::string_view said = help.substr(0, help.find("\n\n"));
  return said.substr(std::min(said.size(), summary().size() + 1));
}

std::vector<std::string_view> Verb::example_lines() const {
  std::vector<std::string_view> lines;
  for (std::string_view rest = examples(); !rest.empty();) {
    lines.push_back(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(std::min(rest.size(), lines.back().size() + 1));
  }
  return lines;
}

const Verb* find_verb(std::string_view name) {
  const auto all = verbs();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [name](const Verb& verb) { return verb.name() == name; });
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string_view> verb_names() {
  std::vector<std::string_view> names;
  for (const Verb& verb : verbs()) names.push_back(verb.name());
  return names;
}

std::span<const DaemonOption> daemon_options() {
  constexpr unsigned file = DaemonOption::is_path | DaemonOption::is_credential;
  static constexpr DaemonOption all[] = {
      {"--token-file", &Options::token_file, file},
      {"--oauth-client-id", &Options::oauth_client_id},
      {"--oauth-client-secret-file", &Options::oauth_client_secret_file, file},
      {"--oauth-redirect", &Options::oauth_redirect},
      {"--oauth-scope", &Options::oauth_scope},
      {"--oauth-assume-pkce", &Options::oauth_assume_pkce, DaemonOption::is_flag},
      {"--oauth-grant", {}, DaemonOption::is_credential},
      {"--oauth-private-key", {}, file},
      {"--oauth-assertion-file", {}, file},
      {"--oauth-token-url", {}, DaemonOption::is_credential},
      {"--oauth-client-metadata-url", {}},
      {"--oauth-allow-private", {}, DaemonOption::is_flag},
  };
  return all;
}

std::string typed_program(const Options& options) {
  std::string words = "mcp-nc";
  if (!options.socket.empty()) words += " -s " + bridge::shell_word(options.socket);
  if (!options.config.empty()) words += " --config " + bridge::shell_word(options.config);
  if (!options.server.empty()) words += " " + bridge::shell_word("@" + options.server);
  const bool may_be_secret = options.url.find_first_of("?@") != std::string::npos;
  if (!options.url.empty())
    words += may_be_secret ? " --url URL" : " --url " + bridge::shell_word(options.url);
  if (!options.command.empty()) words += " --run " + bridge::shell_word(options.command);
  if (!options.headers.empty()) words += " --header HEADER";
  for (const DaemonOption& one : daemon_options()) {
    const auto* const text = std::get_if<std::string Options::*>(&one.target);
    const auto* const flag = std::get_if<bool Options::*>(&one.target);
    if (flag != nullptr && options.**flag) words += " " + std::string(one.name);
    if (text != nullptr && !(options.**text).empty())
      words += " " + std::string(one.name) + " " + bridge::shell_word(options.**text);
  }
  return words;
}

std::string as_typed(std::string text, const Options& options) {
  constexpr std::string_view plain = "mcp-nc";
  Options files;
  files.config = options.config;
  for (std::size_t at = 0; (at = text.find(plain, at)) != text.npos; at += plain.size()) {
    const std::size_t begin = std::min(at + plain.size() + 1, text.size());
    const std::size_t end = std::min(text.find_first_of(" ,;:)", begin), text.size());
    const Verb* const verb = find_verb(std::string_view(text).substr(begin, end - begin));
    if (verb == nullptr || verb->name() == "help") continue;
    const bool is_of_files = verb->has(about_server) || verb->name() == "servers";
    text.replace(at, plain.size(), typed_program(is_of_files ? files : options));
  }
  return text;
}

}  // namespace client
