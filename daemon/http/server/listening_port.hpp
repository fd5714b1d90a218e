#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bridge {

/// Where a server listens.
struct ListenAddress {
  std::string host;
  std::uint16_t port = 0;  ///< 0: a free one

  bool is_loopback() const;
};

/// `HOST:PORT`, `[IPV6]:PORT`; `:PORT` and `PORT` are on 127.0.0.1. Nothing if it is none of them.
std::optional<ListenAddress> parse_listen_address(std::string_view text);

/// A listening TCP socket, non-blocking, with the longest backlog the kernel allows; the port is
/// its own alone (no SO_REUSEPORT). Throws StartError (73) if it cannot be had.
struct ListeningPort {
  int descriptor;
  std::string authority;  ///< `127.0.0.1:8080`, with the port it really has

  static ListeningPort open(const ListenAddress& address);
  /// One that an earlier image of the program had.
  static ListeningPort kept(int descriptor);
};

}  // namespace bridge
