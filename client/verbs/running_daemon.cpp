#include "verbs/running_daemon.hpp"

#include <sys/socket.h>

#include <utility>

namespace client {
namespace {

constexpr Milliseconds longest_connecting(1000);

}  // namespace

std::optional<Connected> connect_to_instance(const std::string& socket) {
  const Milliseconds at_once(0);
  auto connected = connect_to_daemon({socket}, {}, at_once, Deadline::after(longest_connecting));
  if (auto* daemon = std::get_if<Connected>(&connected)) return std::move(*daemon);
  return std::nullopt;
}

pid_t process_behind(const Connected& connected) {
  ucred peer{};
  socklen_t length = sizeof(peer);
  if (::getsockopt(connected.daemon.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return 0;
  return peer.pid;
}

}  // namespace client
