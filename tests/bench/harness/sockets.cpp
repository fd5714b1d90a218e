#include "harness/sockets.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <stdexcept>

namespace bench {
namespace {

constexpr int backlog = 512;

sockaddr_un unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw std::runtime_error("socket path too long: " + path);
  std::copy(path.begin(), path.end(), address.sun_path);
  return address;
}

sockaddr_in tcp_address(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

template <class Address>
bool try_connect(int fd, const Address& address) {
  return connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

template <class Address>
void bind_and_listen(int fd, const Address& address) {
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail("bind");
  if (listen(fd, backlog) != 0) fail("listen");
}

Descriptor new_socket(int family) {
  Descriptor made(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (made.get() < 0) fail("socket");
  return made;
}

}  // namespace

Descriptor connect_tcp(std::uint16_t port) {
  Descriptor made = new_socket(AF_INET);
  if (!try_connect(made.get(), tcp_address(port))) fail("connect to the upstream");
  set_no_delay(made.get());
  return made;
}

Descriptor connect_unix(const std::string& path) {
  Descriptor made = new_socket(AF_UNIX);
  if (!try_connect(made.get(), unix_address(path))) fail("connect to the Unix socket");
  return made;
}

bool can_connect_unix(const std::string& path) {
  return try_connect(new_socket(AF_UNIX).get(), unix_address(path));
}

Descriptor listen_tcp(std::uint16_t& port) {
  Descriptor made = new_socket(AF_INET);
  bind_and_listen(made.get(), tcp_address(port));
  sockaddr_in bound{};
  socklen_t size = sizeof bound;
  if (getsockname(made.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0) fail("getsockname");
  port = ntohs(bound.sin_port);
  return made;
}

Descriptor listen_unix(const std::string& path) {
  Descriptor made = new_socket(AF_UNIX);
  bind_and_listen(made.get(), unix_address(path));
  return made;
}

void set_no_delay(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace bench
