#include "verbs/running_daemon.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace client {
namespace {

constexpr Milliseconds longest_connecting(1000);

}  // namespace

std::variant<Connected, ConnectFailure> connect_to_instance(const std::string& socket) {
  const Milliseconds at_once(0);
  return connect_to_daemon({socket}, {}, at_once, Deadline::after(longest_connecting));
}

pid_t process_behind(int connection) {
  ucred peer{};
  socklen_t length = sizeof(peer);
  if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return 0;
  return peer.pid;
}

FileDescriptor hold_process(pid_t process) {
  return FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
}

bool await_end(const FileDescriptor& process, Deadline deadline) {
  pollfd ended = {process.get(), POLLIN, 0};
  for (;;) {
    const int happened = ::poll(&ended, 1, deadline.poll_timeout());
    if (happened >= 0 || errno != EINTR) return happened > 0;
  }
}

}  // namespace client
