#include "wakeup.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cstdint>

namespace demo {

Wakeup::Wakeup() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Wakeup::~Wakeup() { ::close(event_); }

void Wakeup::signal() {
  const std::uint64_t one = 1;
  // Fails only if the counter is full, and then it is signalled already.
  [[maybe_unused]] const auto written = ::write(event_, &one, sizeof one);
}

bool Wakeup::wait(int socket) {
  std::array<pollfd, 2> entries{{{event_, POLLIN, 0}, {socket, POLLRDHUP, 0}}};
  while (::poll(entries.data(), entries.size(), -1) < 0) {
  }
  if (entries[1].revents != 0) return false;
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = ::read(event_, &count, sizeof count);
  return true;
}

}  // namespace demo
