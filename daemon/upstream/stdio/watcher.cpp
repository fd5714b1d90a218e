#include "upstream/stdio/watcher.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "process/signals_blocked.hpp"
#include "upstream/stdio/watcher_process.hpp"

namespace bridge {

Watcher::Watcher(EventLoop& loop, const ChildCommand& command, WatcherEvents& events)
    : events_(events) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    throw std::system_error(errno, std::generic_category(), "the watcher's socket");
  }
  // A signal must not reach the copies of our handlers: they would report it to us.
  int error = 0;
  {
    const SignalsBlocked blocked;
    pid_ = fork();
    if (pid_ == 0) run_watcher(ends[1], command);
    error = errno;
  }
  close(ends[1]);
  if (pid_ < 0) {
    close(ends[0]);
    throw std::system_error(error, std::generic_category(), "the watcher process");
  }
  listen(loop, ends[0]);
}

Watcher::Watcher(EventLoop& loop, int pid, int socket, WatcherEvents& events)
    : events_(events), pid_(pid) {
  listen(loop, socket);
}

void Watcher::listen(EventLoop& loop, int socket) {
  socket_ = std::make_unique<DescriptorWatch>(loop, socket,
                                              [this](DescriptorWatch::Event) { readable(); });
  socket_->want(DescriptorWatch::Event::readable);
}

Watcher::~Watcher() {
  socket_.reset();
  // Otherwise it has somebody to end first, and does so without us.
  waitpid(pid_, nullptr, waits_ ? 0 : WNOHANG);
}

void Watcher::start(std::uint32_t run, const int (&streams)[3]) {
  WatcherOrder order{WatcherOrder::Kind::start, 0, run};
  iovec part{&order, sizeof order};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof streams)]{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof streams);
  std::memcpy(CMSG_DATA(header), streams, sizeof streams);
  sendmsg(socket_->descriptor(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Watcher::signal(std::uint32_t run, int signal) {
  const WatcherOrder order{WatcherOrder::Kind::signal, signal, run};
  send(socket_->descriptor(), &order, sizeof order, MSG_NOSIGNAL | MSG_DONTWAIT);
}

Watcher::FirstReport Watcher::wait_for_first_report(int milliseconds) {
  pollfd ready{socket_->descriptor(), POLLIN, 0};
  const int polled = poll(&ready, 1, milliseconds);
  if (polled <= 0) return {std::nullopt, polled < 0 && errno == EINTR};
  WatcherReport report{};
  const ssize_t length = recv(socket_->descriptor(), &report, sizeof report, MSG_DONTWAIT);
  if (length != sizeof report) return {};
  return {report};
}

void Watcher::readable() {
  WatcherReport report{};
  const ssize_t length = recv(socket_->descriptor(), &report, sizeof report, MSG_DONTWAIT);
  if (length == 0 || (length < 0 && errno != EAGAIN && errno != EINTR)) {
    waits_ = true;  // it is dead: only its exit status is to be taken
    events_.watcher_gone();
    return;
  }
  socket_->want(DescriptorWatch::Event::readable);
  if (length == sizeof report) events_.watcher_reported(report);
}

}  // namespace bridge
