#include "options/option_groups.hpp"

#include <charconv>

#include "base/start_error.hpp"
#include "options/account_id.hpp"
#include "options/option_table.hpp"

namespace bridge {
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

void check_socket_path(const std::string& path) {
  if (path.empty() || path == "@")
    throw StartError(exit_code::usage, "--socket: the path is empty");
  if (path.size() > max_socket_path) {
    throw StartError(exit_code::usage,
                     fmt::format("--socket: the path has {} bytes, a Unix socket's has at most {}",
                                 path.size(), max_socket_path));
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
  table.count<std::size_t>("--max-clients", options.max_clients,
                           "Clients at a time; 1: one after the other", 1, "256");
  table.size("--client-buffer", options.clients.buffer, "Bytes queued for or by one client");
  table.duration("--client-stall", options.clients.stall,
                 "How long a client over that may read nothing");
  table.count<std::size_t>("--client-inflight", options.router.client_inflight,
                           "Requests of one client at a time", 1, "64");
  table.count<std::size_t>("--max-inflight", options.router.max_inflight,
                           "Requests of all clients at a time", 1, "256");
  table.size("--max-buffered", options.max_buffered, "Bytes in all queues together");
  table.choice("--orphans", options.router.orphans,
               {{"cancel", Orphans::cancel}, {"finish", Orphans::finish}, {"keep", Orphans::keep}},
               "What becomes of the requests of a client that has left: told to the server as "
               "cancelled, carried out, or kept as jobs");
  table.duration("--park-requests", options.router.park_requests,
                 "How long a request of the server waits for a client");
  table.duration("--input-wait", options.router.input_wait,
                 "How long a call in whose result the server has asked something waits for the "
                 "answers");
  table.flag("control", options.router.control,
             "Answer bridge/* requests instead of forwarding them");
}

void add_ring_options(OptionTable& table, Options& options) {
  table.group("Notifications");
  table.count<std::size_t>("--ring", options.ring.entries, "Notifications kept", 1, "1000");
  table.size("--ring-bytes", options.ring.bytes, "Bytes of notifications kept");
  table.duration("--ring-ttl", "none", "How long one is kept",
                 [&options](std::chrono::milliseconds given) {
                   options.ring.ttl = given.count() == 0 ? std::nullopt : std::optional(given);
                 });
  table.list(
      "--ring-exclude", "METHOD", "Keep notifications of this method out of the ring",
      [&options](const std::string& given) { options.ring.excluded_methods.push_back(given); });
  table.flag("ring-coalesce", options.ring.coalesce,
             "A newer list_changed or resources/updated replaces an untaken older one");
}

void resolve_client_options(Options& options, const RawOptions& raw) {
  unsigned mode = 0;
  const auto [end, error] =
      std::from_chars(raw.mode.data(), raw.mode.data() + raw.mode.size(), mode, 8);
  if (error != std::errc() || end != raw.mode.data() + raw.mode.size() || mode > 0777) {
    wrong_value("--socket-mode", raw.mode, "an octal mode of at most 0777");
  }
  options.socket.mode = static_cast<mode_t>(mode);
  check_socket_path(options.socket.path);
  resolve_socket_owner(options.socket, raw);
  options.router.max_frame = options.clients.max_frame;
  options.router.client_buffer = options.clients.buffer;
  options.router.sequential = options.max_clients == 1;
  if (options.router.orphans == Orphans::keep && !options.router.control) {
    throw StartError(exit_code::usage,
                     "--orphans keep: nobody could collect what is kept with --no-control");
  }
}

}  // namespace bridge
