#pragma once

#include <string>

#include "http/server/listen_address.hpp"

namespace bridge {

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
