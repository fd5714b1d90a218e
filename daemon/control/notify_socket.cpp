#include "control/notify_socket.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "process/socket_address.hpp"

namespace bridge {

std::optional<NotifySocket> NotifySocket::open(std::string_view address) {
  constexpr std::size_t longest = 107;  // unix(7): sun_path less the final zero
  const bool is_named = address.starts_with('/') || address.starts_with('@');
  if (!is_named || address.size() < 2 || address.size() > longest) return std::nullopt;
  const int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return std::nullopt;
  return NotifySocket(descriptor, std::string(address));
}

NotifySocket::NotifySocket(NotifySocket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), address_(std::move(other.address_)) {}

NotifySocket::~NotifySocket() {
  if (descriptor_ >= 0) close(descriptor_);
}

// Not connected once and for all: the manager's socket is another one after it was re-executed.
NotifySocket::Sent NotifySocket::send(std::string_view lines) const {
  const SocketAddress address(address_);
  for (;;) {
    const ssize_t count = sendto(descriptor_, lines.data(), lines.size(), MSG_NOSIGNAL,
                                 address.get(), address.length);
    if (count >= 0) return Sent::yes;
    if (errno == EINTR) continue;
    return errno == EAGAIN || errno == ENOBUFS ? Sent::later : Sent::failed;
  }
}

}  // namespace bridge
