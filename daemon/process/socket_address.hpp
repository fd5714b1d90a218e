#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>
#include <string>

namespace bridge {

/// The address of a Unix socket by its name: a path, or `@name` for the abstract namespace.
/// REQUIRES: at most 107 bytes.
struct SocketAddress {
  explicit SocketAddress(const std::string& name) {
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    const bool abstract = !name.empty() && name.front() == '@';
    if (abstract) address.sun_path[0] = '\0';
    // The length of an abstract name is exact; a path ends with a zero.
    length =
        static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + (abstract ? 0 : 1));
  }

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }

  sockaddr_un address{};
  socklen_t length = 0;
};

}  // namespace bridge
