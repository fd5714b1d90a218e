#include <grp.h>
#include <pwd.h>
#include <sys/types.h>

#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/start_error.hpp"
#include "downstream/http/access_check.hpp"
#include "downstream/unix/pipe_entries.hpp"
#include "http/server/tls_server.hpp"
#include "options/option_groups.hpp"
#include "options/option_table.hpp"

namespace bridge {

// The id of a user or a group that an option gives by name or by number. nullopt if the name
// is unknown, or the number cannot be given to chown(2), where (uid_t)-1 means "leave
// unchanged".
std::optional<uid_t> user_id(const std::string& given);
std::optional<gid_t> group_id(const std::string& given);

namespace {

template <class Entry, class Id>
std::optional<Id> resolve(const std::string& given, Entry* (*find)(const char*), Id Entry::*id) {
  Id number = 0;
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), number);
  if (error == std::errc() && end == given.data() + given.size()) {
    if (number == static_cast<Id>(-1)) return std::nullopt;
    return number;
  }
  const Entry* entry = find(given.c_str());
  if (entry == nullptr) return std::nullopt;
  return entry->*id;
}

}  // namespace

std::optional<uid_t> user_id(const std::string& given) {
  return resolve(given, getpwnam, &passwd::pw_uid);
}

std::optional<gid_t> group_id(const std::string& given) {
  return resolve(given, getgrnam, &group::gr_gid);
}

namespace {

template <class Id>
void take_ids(OptionTable& table, const std::string& name, const std::string& help,
              std::vector<Id>& ids) {
  table.list(name, "ID", help, [name, &ids](const std::string& given) {
    Id id = 0;
    const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), id);
    if (error != std::errc() || end != given.data() + given.size())
      wrong_value(name, given, "a numeric id");
    ids.push_back(id);
  });
}

void check_socket_path(const SocketOptions& socket) {
  const std::string& path = socket.path;
  if (path.empty() || path == "@")
    throw StartError(exit_code::usage, fmt::format("{}: the path is empty", socket.option));
  if (path.size() > max_socket_path) {
    throw StartError(exit_code::usage,
                     fmt::format("{}: the path has {} bytes, a Unix socket's has at most {}",
                                 socket.option, path.size(), max_socket_path));
  }
}

/// An address, or the path of a Unix socket, each once.
void take_http_place(FrontendOptions& frontend, const std::string& given) {
  constexpr const char* option = "--http";
  const bool is_path = given.starts_with('@') || given.find('/') != given.npos;
  if (is_path ? frontend.socket.has_value() : frontend.address.has_value()) {
    throw StartError(exit_code::usage, fmt::format("{}: give one address and one path at most ({})",
                                                   option, printable(given)));
  }
  if (is_path) {
    frontend.socket.emplace().path = given;
    frontend.socket->option = option;
    check_socket_path(*frontend.socket);
    return;
  }
  frontend.address = parse_listen_address(given);
  if (!frontend.address) {
    wrong_value(option, given,
                "an address (HOST:PORT, [IPV6]:PORT, :PORT) or a path (/…, ./…, @NAME)");
  }
}

void resolve_socket_owner(SocketOptions& socket, const RawOptions& raw) {
  if (!raw.owner.empty()) {
    socket.owner = user_id(raw.owner);
    if (!socket.owner) wrong_value("--socket-owner", raw.owner, "a user's name or id");
  }
  if (!raw.group.empty()) {
    socket.group = group_id(raw.group);
    if (!socket.group) wrong_value("--socket-group", raw.group, "a group's name or id");
  }
}

}  // namespace

void add_client_options(OptionTable& table, Options& options, RawOptions& raw) {
  table.group("Clients");
  table.text("--socket", options.socket.path, "PATH", "The Unix socket; @NAME for an abstract one",
             "MCP_SOCKET_PATH");
  table.text("--socket-mode", raw.mode, "MODE", "Its permissions, octal");
  table.text("--socket-owner", raw.owner, "USER", "Its owner");
  table.text("--socket-group", raw.group, "GROUP", "Its group");
  take_ids(table, "--allow-uid", "Only these users may connect", options.peers.uids);
  take_ids(table, "--allow-gid", "Only these groups may connect", options.peers.gids);
  table.parsed("--pipes", "[DIR]", "off",
               "A folder for clients whose sandbox forbids sockets; without DIR the socket's path "
               "and .pipes",
               [&options](const std::string& given) {
                 options.pipes.wanted = true;
                 options.pipes.path = given;
               });
  table.text("--pipes-mode", raw.pipes_mode, "MODE",
             "Its permissions, octal; 1733: other users may make pipes in it");
  table.text("--policy", raw.policy, "FILE",
             "Which peer may call what: a JSON file of rules, read again on SIGHUP");
  table.count("--grants", options.router.grants,
              "Grants alive at a time, half of them for one user");
  table.count("--max-clients", options.max_clients, "Clients at a time; 1: one after the other");
  table.size("--client-buffer", options.clients.buffer, "Bytes queued for or by one client");
  table.duration("--client-stall", options.clients.stall,
                 "How long a client above that limit may read nothing");
  table.count("--client-inflight", options.router.client_inflight,
              "Requests of one client at a time");
  table.count("--max-inflight", options.router.max_inflight, "Requests of all clients at a time");
  table.size("--max-buffered", options.max_buffered, "Bytes in all queues together");
  table.choice(
      "--orphans", options.router.orphans,
      {{"cancel", Orphans::cancel}, {"finish", Orphans::finish}, {"keep", Orphans::keep}},
      "Requests of a client that has left: cancelled at the server, completed, or kept as jobs");
  table.duration("--park-requests", options.router.park_requests,
                 "How long a request from the server waits for a client");
  table.duration("--input-wait", options.router.input_wait,
                 "How long a call waits for answers if its result asks something");
  table.flag("control", options.router.control,
             "Answer bridge/* requests instead of forwarding them");
}

void add_ring_options(OptionTable& table, Options& options) {
  table.group("Notifications");
  table.count("--ring", options.ring.entries, "Notifications kept");
  table.size("--ring-bytes", options.ring.bytes, "Bytes of notifications kept");
  table.duration("--ring-ttl", "none", "How long a notification is kept",
                 [&options](std::chrono::milliseconds given) {
                   options.ring.ttl = given.count() == 0 ? std::nullopt : std::optional(given);
                 });
  table.list(
      "--ring-exclude", "METHOD", "Keep notifications of this method out of the ring",
      [&options](const std::string& given) { options.ring.excluded_methods.push_back(given); });
  table.flag("ring-coalesce", options.ring.coalesce,
             "A newer list_changed or resources/updated replaces an undelivered older one");
}

namespace {

/// An octal number; nullopt: none.
std::optional<mode_t> mode_of(const std::string& text) {
  unsigned mode = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return static_cast<mode_t>(mode);
}

}  // namespace

void resolve_client_options(Options& options, const RawOptions& raw) {
  const auto mode = mode_of(raw.mode);
  if (!mode || *mode > 0777)
    wrong_value("--socket-mode", raw.mode, "an octal mode of at most 0777");
  options.socket.mode = *mode;
  const auto pipes_mode = mode_of(raw.pipes_mode);
  if (!pipes_mode || !is_mode_of_pipes_folder(*pipes_mode)) {
    wrong_value("--pipes-mode", raw.pipes_mode,
                "a mode like 0700 or 1733: sticky if others may write, and not readable by them");
  }
  options.pipes.mode = *pipes_mode;
  check_socket_path(options.socket);
  if (!raw.policy.empty()) {
    auto read = read_policy_file(raw.policy, {user_id, group_id});
    if (const auto* fault = std::get_if<std::string>(&read))
      throw StartError(exit_code::configuration, *fault);
    options.policy = std::make_shared<const PolicyFile>(std::get<PolicyFile>(std::move(read)));
  }
  resolve_socket_owner(options.socket, raw);
  options.pipes.group = options.socket.group;
  options.router.max_frame = options.clients.max_frame;
  options.router.client_buffer = options.clients.buffer;
  options.router.sequential = options.max_clients == 1;
  if (options.router.orphans == Orphans::keep && !options.router.control) {
    throw StartError(exit_code::usage,
                     "--orphans keep needs bridge/collect, which --no-control turns off");
  }
}

void add_http_frontend_options(OptionTable& table, Options& options) {
  FrontendOptions& frontend = options.frontend;
  table.group("HTTP frontend");
  table.list("--http", "[HOST]:PORT|PATH",
             "Serve the session over HTTP on a port (0: a free one), a Unix socket, or both",
             [&frontend](const std::string& given) { take_http_place(frontend, given); });
  table.text("--http-cert", frontend.certificate, "FILE",
             "TLS: the certificate with its chain (PEM)");
  table.text("--http-key", frontend.private_key, "FILE", "Its private key (PEM)");
  table.text("--http-token-file", frontend.token_file, "FILE",
             "The bearer token that callers must show; read again when it changes");
  table.flag("http-insecure", frontend.insecure,
             "Allow an address that is not loopback without TLS or without a token");
  table.list("--http-allow-origin", "ORIGIN", "Web pages of this origin may call (CORS); *: any",
             [&frontend](const std::string& given) { frontend.allow_origins.push_back(given); });
  table.list("--http-allow-host", "HOST", "A host name under which callers reach it; *: any",
             [&frontend](const std::string& given) { frontend.allow_hosts.push_back(given); });
  table.flag("http-async", frontend.answers_later,
             "Answer every request 202 at once and send the answer on the session's stream");
  table.duration("--http-timeout", frontend.timeout,
                 "How long a caller that wants JSON waits for it; then 504");
  table.choice("--http-fanout", frontend.fans_out_all, {{"session", false}, {"all", true}},
               "What subscribers of /mcp/stream get: session notifications and late answers, or "
               "everything");
  table.count("--http-max-sessions", frontend.max_sessions,
              "Sessions at a time; the one unused for longest makes room");
  table.count("--http-max-streams", frontend.max_streams, "Streams opened by GET at a time");
  table.duration("--http-session-idle", frontend.session_idle,
                 "How long an unused session is kept");
  table.size("--http-stream-buffer", frontend.stream_buffer,
             "Bytes queued for an unread stream, and kept per session for resumption");
  table.duration("--sse-keepalive", frontend.keepalive, "Time between comments on a quiet stream");
  table.duration("--sse-idle", "off",
                 "End a stream opened by GET after only comments for this long; 0: off",
                 [&frontend](std::chrono::milliseconds given) { frontend.sse_idle = given; });
}

void resolve_http_frontend_options(Options& options) {
  FrontendOptions& frontend = options.frontend;
  frontend.max_frame = options.clients.max_frame;
  frontend.client_buffer = options.clients.buffer;
  frontend.stall = options.clients.stall;
  frontend.peers = options.peers;
  if (frontend.socket) {
    if (frontend.socket->path == options.socket.path)
      throw StartError(exit_code::usage, "--http: the path of --socket; give it another");
    frontend.socket->mode = options.socket.mode;
    frontend.socket->owner = options.socket.owner;
    frontend.socket->group = options.socket.group;
  }
  const std::string fault = fault_of(frontend);
  if (!fault.empty()) throw StartError(exit_code::usage, fault);
  // Its files are read now, so that --check and SIGHUP find errors in them.
  if (frontend.address) {
    const BearerToken token(frontend.token_file);
    if (!token.fault().empty()) throw StartError(exit_code::configuration, token.fault());
    if (!frontend.certificate.empty()) TlsServer(frontend.certificate, frontend.private_key);
  }
  using std::chrono::milliseconds;
  for (const auto& [name, value] : {std::pair{"--http-timeout", frontend.timeout},
                                    {"--sse-keepalive", frontend.keepalive},
                                    {"--http-session-idle", frontend.session_idle}}) {
    if (value < milliseconds(10))
      throw StartError(exit_code::usage, fmt::format("{}: at least 10ms", name));
  }
  if (frontend.sse_idle.count() > 0 && frontend.sse_idle < milliseconds(10))
    throw StartError(exit_code::usage, "--sse-idle: at least 10ms, or 0 for off");
}

}  // namespace bridge
