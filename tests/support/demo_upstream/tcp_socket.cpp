#include "tcp_socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace demo::tcp {
namespace {

struct Endpoint {
  std::string address;
  int port = -1;
};

/// `which` is SYS_getpeername or SYS_getsockname. Descriptors of other threads are queried too,
/// which may close them at any time; a wrong answer about those does no harm. The system call is
/// made directly, since the thread sanitizer would treat the library function as a use of them.
Endpoint endpoint_of(int descriptor, long which) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  auto* const generic = reinterpret_cast<sockaddr*>(&storage);
  if (::syscall(which, descriptor, generic, &length) != 0) return {};
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (storage.ss_family == AF_INET) {
    const auto* const v4 = reinterpret_cast<const sockaddr_in*>(&storage);
    inet_ntop(AF_INET, &v4->sin_addr, text.data(), text.size());
    return {text.data(), ntohs(v4->sin_port)};
  }
  if (storage.ss_family == AF_INET6) {
    const auto* const v6 = reinterpret_cast<const sockaddr_in6*>(&storage);
    inet_ntop(AF_INET6, &v6->sin6_addr, text.data(), text.size());
    return {text.data(), ntohs(v6->sin6_port)};
  }
  return {};
}

/// One past the highest possible descriptor.
int descriptors() {
  constexpr rlim_t kMost = 65536;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<int>(std::min(limit.rlim_cur, kMost));
}

}  // namespace

int find(const std::string& peer_address, int peer_port, int local_port) {
  // Descriptors are allocated from the lowest, so this ends soon.
  for (int descriptor = 0, end = descriptors(); descriptor < end; ++descriptor) {
    const auto peer = endpoint_of(descriptor, SYS_getpeername);
    if (peer.port != peer_port || peer.address != peer_address) continue;
    if (endpoint_of(descriptor, SYS_getsockname).port == local_port) return descriptor;
  }
  return -1;
}

void finish(int descriptor) { ::shutdown(descriptor, SHUT_RDWR); }

void reset(int descriptor) {
  // Dissolving the association of a connected TCP socket sends RST at once, while the descriptor
  // stays valid for its owner.
  sockaddr nobody{};
  nobody.sa_family = AF_UNSPEC;
  // Called directly, since the thread sanitizer would treat connect() as a new descriptor.
  ::syscall(SYS_connect, descriptor, &nobody, sizeof nobody);
}

void finish_all(int local_port) {
  for (int descriptor = 0, end = descriptors(); descriptor < end; ++descriptor) {
    if (endpoint_of(descriptor, SYS_getpeername).port < 0) continue;
    if (endpoint_of(descriptor, SYS_getsockname).port == local_port) finish(descriptor);
  }
}

bool peer_is_gone(int descriptor) {
  return wait_until_peer_is_gone(descriptor, std::chrono::milliseconds(0));
}

bool wait_until_peer_is_gone(int descriptor, std::chrono::milliseconds limit) {
  pollfd entry{descriptor, POLLRDHUP, 0};
  return ::poll(&entry, 1, static_cast<int>(limit.count())) > 0;
}

void cork(int descriptor, bool on) {
  const int value = on ? 1 : 0;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_CORK, &value, sizeof value);
}

bool send_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace demo::tcp
