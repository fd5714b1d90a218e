#include "connection/connect.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "connection/hints.hpp"

namespace client {
namespace {

constexpr std::size_t longest_path = 107;  // sun_path holds 108 bytes with the NUL
constexpr std::string_view default_paths[] = {"/tmp/mcp.sock", "/run/mcp-bridged/mcp.sock"};
constexpr int first_pause_ms = 1;
constexpr int longest_pause_ms = 50;

bool is_abstract(std::string_view path) { return path.substr(0, 1) == "@"; }

/// errno of the try; 0 if it is connected.
int try_connect(const std::string& path, FileDescriptor& connected) {
  FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return errno;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  if (is_abstract(path)) {
    address.sun_path[0] = '\0';  // no NUL at the end: it would be part of the name
  } else {
    ++length;
  }
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0) {
    return errno;
  }
  connected = std::move(socket);
  return 0;
}

/// The first of the paths with a socket to talk to; else what was wrong with the most telling one.
int try_all(const std::vector<std::string>& paths, FileDescriptor& connected, std::string& path) {
  int failure = ENOENT;
  path = paths.front();
  for (const std::string& candidate : paths) {
    const int error = try_connect(candidate, connected);
    if (error == ENOENT) continue;
    path = candidate;
    return error;
  }
  return failure;
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
  if (chosen.empty()) {
    return std::vector<std::string>(std::begin(default_paths), std::end(default_paths));
  }
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
      return ConnectFailure{fmt::format("no connection to {} in time: {}", path, why), true};
    }
    const Deadline until =
        may_come ? Deadline::earlier(waiting, deadline) : Deadline::earlier(deadline, {});
    const int left = until.poll_timeout();
    ::poll(nullptr, 0, left < 0 ? pause_ms : std::min(pause_ms, left));
    pause_ms = std::min(pause_ms * 2, longest_pause_ms);
  }
}

void ensure_standard_descriptors() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) == -1 && errno == EBADF) {
      // The lowest free number is the one that was missing.
      static_cast<void>(::open("/dev/null", O_RDWR));
    }
  }
}

}  // namespace client
