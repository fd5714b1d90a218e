#include "socket.hpp"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>

namespace proxy {
namespace {

constexpr int kBacklog = 1024;

sockaddr* generic(sockaddr_in& address) { return reinterpret_cast<sockaddr*>(&address); }
const sockaddr* generic(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

Socket make() { return Socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)); }

void send_at_once(const Socket& socket) {
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) {
    close();
    descriptor_ = std::exchange(other.descriptor_, -1);
  }
  return *this;
}

void Socket::close() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

void Socket::reset() {
  const linger at_once{1, 0};
  ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close();
}

void Socket::finish() { ::shutdown(descriptor_, SHUT_WR); }

std::optional<sockaddr_in> parse_address(std::string_view text) {
  const auto colon = text.rfind(':');
  std::string host(colon == std::string_view::npos ? "127.0.0.1" : text.substr(0, colon));
  if (host == "localhost") host = "127.0.0.1";
  const auto digits = text.substr(colon == std::string_view::npos ? 0 : colon + 1);
  in_port_t port = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (result.ec != std::errc{} || result.ptr != digits.data() + digits.size()) return std::nullopt;
  if (::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) return std::nullopt;
  return address;
}

std::string to_text(const sockaddr_in& address) {
  std::array<char, INET_ADDRSTRLEN> host{};
  ::inet_ntop(AF_INET, &address.sin_addr, host.data(), host.size());
  return std::string(host.data()) + ':' + std::to_string(ntohs(address.sin_port));
}

Socket reserve(const sockaddr_in& address) {
  auto socket = make();
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(socket.get(), generic(address), sizeof address) != 0) socket.close();
  return socket;
}

bool listen(const Socket& reserved) { return ::listen(reserved.get(), kBacklog) == 0; }

Socket listen_on(sockaddr_in& address) {
  auto socket = reserve(address);
  socklen_t length = sizeof address;
  if (!listen(socket) || ::getsockname(socket.get(), generic(address), &length) != 0)
    socket.close();
  return socket;
}

Socket accept_from(const Socket& listener) {
  Socket socket(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket.is_open()) send_at_once(socket);
  return socket;
}

Socket connect_to(const sockaddr_in& address) {
  auto socket = make();
  send_at_once(socket);
  const int result = ::connect(socket.get(), generic(address), sizeof address);
  if (result != 0 && errno != EINPROGRESS) socket.close();
  return socket;
}

int connect_error(const Socket& socket) {
  int error = 0;
  socklen_t length = sizeof error;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  return error;
}

}  // namespace proxy
