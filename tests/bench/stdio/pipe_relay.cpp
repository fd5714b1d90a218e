// pipe-relay SOCKET COMMAND…: copies bytes from one Unix socket client at a time to a child's
// stdin, and from its stdout back, by epoll; nothing is parsed, checked or bounded.
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "harness/child.hpp"
#include "harness/sockets.hpp"

namespace {

void watch(int poller, int fd) {
  epoll_event event{EPOLLIN, {.fd = fd}};
  if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event) != 0) bench::fail("epoll_ctl");
}

void relay(const std::string& socket, const std::vector<std::string>& command) {
  bench::PipedChild child(command);
  const bench::Descriptor listener = bench::listen_unix(socket);
  const bench::Descriptor poller(epoll_create1(EPOLL_CLOEXEC));
  watch(poller.get(), listener.get());
  watch(poller.get(), child.output());
  bench::Descriptor client;
  std::array<char, 65536> bytes;
  for (;;) {
    epoll_event event;
    if (epoll_wait(poller.get(), &event, 1, -1) != 1) continue;
    const int fd = event.data.fd;
    if (fd == listener.get()) {
      client = bench::Descriptor(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
      watch(poller.get(), client.get());
      continue;
    }
    const ssize_t got = read(fd, bytes.data(), bytes.size());
    const bool from_child = fd == child.output();
    if (got <= 0) {
      if (from_child) return;
      client.reset();
      continue;
    }
    const int to = from_child ? client.get() : child.input();
    if (to >= 0)
      bench::write_all(to, std::string_view(bytes.data(), static_cast<std::size_t>(got)));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: pipe-relay SOCKET COMMAND…\n");
    return 64;
  }
  std::signal(SIGPIPE, SIG_IGN);
  try {
    relay(argv[1], {argv + 2, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "pipe-relay: %s\n", error.what());
    return 1;
  }
}
