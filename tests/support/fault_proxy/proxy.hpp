#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>

#include "connection.hpp"
#include "rules.hpp"
#include "socket.hpp"

namespace proxy {

/// Listens, and owns all connections and the rules set for them.
class Proxy {
 public:
  struct Counters {
    std::uint64_t accepted = 0;
    std::uint64_t up = 0;  ///< of closed connections
    std::uint64_t down = 0;
    std::uint64_t refused_by_server = 0;
    std::uint64_t fired = 0;
  };

  Proxy(sockaddr_in server, Socket listener, sockaddr_in address)
      : server_(server), listener_(std::move(listener)), address_(address) {}

  // The commands.
  Rules& rules() { return rules_; }
  void set_limit(Direction direction, std::optional<Limit> limit);
  void set_accept_hang(bool on);
  bool set_refuse(bool on);  ///< false if the port cannot be bound again
  void set_server(sockaddr_in server) { server_ = server; }
  void cut_all(Clock::time_point now);
  void reset_all();
  void hang_all();  ///< open connections: nothing passes until `pass`
  bool pass();
  std::string stats() const;

  // The loop.
  const Socket& listener() const { return listener_; }
  std::list<Connection>& connections() { return connections_; }
  void accept_all();
  void step(Connection& connection, const std::array<pollfd, 2>& ready, Clock::time_point now);
  void forget_gone();

 private:
  sockaddr_in server_;
  Socket listener_;
  Socket reserved_;  ///< instead of listener_, while connections are refused
  sockaddr_in address_;
  Rules rules_;
  Counters counters_;
  std::list<Connection> connections_;
};

}  // namespace proxy
