#include "http/server/listening_port.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "base/log.hpp"
#include "base/start_error.hpp"
#include "http/request_head.hpp"

namespace bridge {

bool ListenAddress::is_loopback() const { return is_loopback_name(host); }

std::optional<ListenAddress> parse_listen_address(std::string_view text) {
  ListenAddress address;
  std::string_view port = text;
  address.host = "127.0.0.1";
  if (const auto colon = text.rfind(':'); colon != text.npos) {
    std::string_view host = text.substr(0, colon);
    port = text.substr(colon + 1);
    const bool bracketed = host.starts_with("[") && host.ends_with("]");
    if (!bracketed && host.find_first_of(":[]") != host.npos) return std::nullopt;
    if (bracketed) host = host.substr(1, host.size() - 2);
    if (bracketed && host.empty()) return std::nullopt;
    if (!host.empty()) address.host = std::string(host);
  }
  const char* end = port.data() + port.size();
  const auto [stop, error] = std::from_chars(port.data(), end, address.port);
  if (port.empty() || error != std::errc() || stop != end) return std::nullopt;
  if (address.host.find_first_of(" \t/") != address.host.npos) return std::nullopt;
  return address;
}

namespace {

[[noreturn]] void refuse_port(const ListenAddress& address, const char* why) {
  throw StartError(exit_code::cannot_bind, fmt::format("--http: {} port {}: {}",
                                                       printable(address.host), address.port, why));
}

std::string authority_of(int descriptor) {
  sockaddr_storage bound{};
  socklen_t length = sizeof bound;
  getsockname(descriptor, reinterpret_cast<sockaddr*>(&bound), &length);
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (bound.ss_family == AF_INET6) {
    const auto* address = reinterpret_cast<const sockaddr_in6*>(&bound);
    inet_ntop(AF_INET6, &address->sin6_addr, text.data(), text.size());
    return fmt::format("[{}]:{}", text.data(), ntohs(address->sin6_port));
  }
  const auto* address = reinterpret_cast<const sockaddr_in*>(&bound);
  inet_ntop(AF_INET, &address->sin_addr, text.data(), text.size());
  return fmt::format("{}:{}", text.data(), ntohs(address->sin_port));
}

}  // namespace

ListeningPort ListeningPort::kept(int descriptor) { return {descriptor, authority_of(descriptor)}; }

ListeningPort ListeningPort::open(const ListenAddress& address) {
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = fmt::format("{}", address.port);
  const int outcome = getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found);
  if (outcome != 0) refuse_port(address, gai_strerror(outcome));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  const int descriptor = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) refuse_port(address, std::strerror(errno));
  const int on = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(descriptor, found->ai_addr, found->ai_addrlen) != 0 ||
      listen(descriptor, SOMAXCONN) != 0) {
    const int error = errno;
    close(descriptor);
    refuse_port(address,
                error == EADDRINUSE ? "it is taken by another process" : std::strerror(error));
  }
  return {descriptor, authority_of(descriptor)};
}

}  // namespace bridge
