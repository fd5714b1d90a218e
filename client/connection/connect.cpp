#include "connection/connect.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstring>

#include "base/contains.hpp"
#include "process/socket_address.hpp"

namespace client {
namespace {

constexpr std::size_t longest_path = 107;  // sun_path holds 108 bytes with the NUL
constexpr std::string_view default_paths[] = {"/tmp/mcp.sock", "/run/mcp-bridged/mcp.sock"};
constexpr int first_pause_ms = 1;
constexpr int longest_pause_ms = 50;

/// errno of the attempt; 0: connected.
int try_connect(const std::string& path, FileDescriptor& connected) {
  FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return errno;
  const bridge::SocketAddress address(path);
  if (::connect(socket.get(), address.get(), address.length) != 0) return errno;
  connected = std::move(socket);
  return 0;
}

/// Connects to the first existing socket of the paths; else returns its error and sets `path`.
int try_all(const std::vector<std::string>& paths, FileDescriptor& connected, std::string& path) {
  for (const std::string& candidate : paths) {
    path = candidate;
    const int error = try_connect(candidate, connected);
    if (error != ENOENT) return error;
  }
  path = paths.front();
  return ENOENT;
}

constexpr std::string_view units_folder = "/run/mcp-bridged/";
constexpr std::string_view socket_suffix = ".sock";
constexpr std::string_view other_socket = "-s or MCP_SOCKET_PATH names another socket";

bool is_in_group(gid_t group) {
  if (::getegid() == group) return true;
  const int count = ::getgroups(0, nullptr);
  std::vector<gid_t> groups(count > 0 ? static_cast<std::size_t>(count) : 0);
  if (groups.empty() || ::getgroups(count, groups.data()) < 0) return false;
  return bridge::contains(groups, group);
}

/// How this user could get access, from the socket's mode and owner.
std::string way_in(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0)
    return fmt::format("this user may not enter its folder; {}", other_socket);
  const bool serves_group = (status.st_mode & S_IWGRP) != 0;
  if (serves_group && !is_in_group(status.st_gid)) {
    const auto group = group_name(status.st_gid);
    if (!group) {
      return fmt::format("it belongs to the group {0}: run with it (docker: --group-add {0})",
                         status.st_gid);
    }
    return fmt::format("it belongs to the group {0}: adduser {1} {0} (as root), then log in again",
                       *group, user_name(::geteuid()).value_or("USER"));
  }
  return fmt::format(
      "only {} may connect: run as that user, or start mcp-bridged with --socket-group and "
      "--socket-mode 0660",
      describe_user(status.st_uid));
}

/// Where to read what is wrong with the daemon of that socket: "journalctl -u mcp-bridged", or its
/// log. For a person.
std::string where_its_log_is(std::string_view path) {
  const std::string unit = unit_of(path);
  return unit.empty() ? "its log" : fmt::format("journalctl -u {}", unit);
}

/// Why the connection failed and what to do, in one line for a person. `paths` were tried, `path`
/// is the one that `error` (an errno) is about. `waited`: for the duration of --wait.
std::string describe_refusal(const std::vector<std::string>& paths, const std::string& path,
                             int error, bool waited) {
  const std::string_view wait_hint = waited ? "" : "; --wait 10s waits for it";
  switch (error) {
    case ENOENT:
      return fmt::format("cannot connect to {}: no such file; is mcp-bridged running? ({}{})",
                         fmt::join(paths, " or "), other_socket, wait_hint);
    case ECONNREFUSED: {
      struct stat status {};
      if (::stat(path.c_str(), &status) == 0 && !S_ISSOCK(status.st_mode))
        return fmt::format("cannot connect to {}: not a socket ({})", path, other_socket);
      const std::string advice =
          unit_of(path).empty() ? "is mcp-bridged running?" : "see " + where_its_log_is(path);
      return fmt::format("cannot connect to {}: connection refused; {}{}", path, advice, wait_hint);
    }
    case EACCES:
    case EPERM:
      return fmt::format("cannot connect to {}: permission denied; {}", path, way_in(path));
    case EPROTOTYPE:
      return fmt::format("cannot connect to {}: not a stream socket ({})", path, other_socket);
    default:
      return fmt::format("cannot connect to {}: {} ({})", path, std::strerror(error), other_socket);
  }
}

}  // namespace

std::variant<std::vector<std::string>, UsageError> choose_sockets(std::string_view option,
                                                                  const char* environment) {
  std::string_view chosen = option;
  std::string_view from = "-s";
  if (chosen.empty() && environment != nullptr) {
    chosen = environment;
    from = "MCP_SOCKET_PATH";
  }
  if (chosen.empty())
    return std::vector<std::string>(std::begin(default_paths), std::end(default_paths));
  if (chosen.size() > longest_path) {
    return UsageError{fmt::format("{}: the socket's path has {} bytes, the system allows {}", from,
                                  chosen.size(), longest_path)};
  }
  if (chosen == "@") return UsageError{fmt::format("{}: '@' needs a name after it", from)};
  return std::vector<std::string>{std::string(chosen)};
}

std::variant<Connected, ConnectFailure> connect_to_daemon(const std::vector<std::string>& paths,
                                                          const TrustedPeer& trusted,
                                                          Milliseconds wait, Deadline deadline) {
  const Deadline waiting = Deadline::after(wait);
  int pause_ms = first_pause_ms;
  for (;;) {
    FileDescriptor connected;
    std::string path;
    const int error = try_all(paths, connected, path);
    if (error == 0) {
      if (auto why = distrust(connected.get(), path, trusted)) return ConnectFailure{*why};
      return Connected{std::move(connected), std::move(path), trusted};
    }
    const bool queue_is_full = error == EAGAIN;
    const bool may_come = error == ENOENT || error == ECONNREFUSED;
    if (error != EINTR && !queue_is_full && (!may_come || waiting.passed())) {
      return ConnectFailure{describe_refusal(paths, path, error, wait.count() > 0), false,
                            may_come};
    }
    if (deadline.passed()) {
      const std::string_view why =
          queue_is_full ? "the daemon has too many clients" : "the socket is not there";
      return ConnectFailure{fmt::format("cannot connect to {}: timed out; {}", path, why), true};
    }
    const Deadline until =
        may_come ? Deadline::earlier(waiting, deadline) : Deadline::earlier(deadline, {});
    const int left = until.poll_timeout();
    ::poll(nullptr, 0, left < 0 ? pause_ms : std::min(pause_ms, left));
    pause_ms = std::min(pause_ms * 2, longest_pause_ms);
  }
}

std::string unit_of(std::string_view path) {
  if (!path.starts_with(units_folder) || !path.ends_with(socket_suffix)) return {};
  path.remove_prefix(units_folder.size());
  if (path.size() <= socket_suffix.size()) return {};
  path.remove_suffix(socket_suffix.size());
  if (path.find('/') != path.npos) return {};
  return path == "mcp" ? "mcp-bridged" : fmt::format("'mcp-bridged*@{}'", path);
}

std::string describe_hang_up(std::string_view path) {
  return fmt::format("it has ended, or does not serve this user; see {} ({})",
                     where_its_log_is(path), path);
}

}  // namespace client
