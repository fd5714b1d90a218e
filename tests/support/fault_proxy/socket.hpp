#pragma once

#include <netinet/in.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace proxy {

/// Owns one descriptor. All sockets are non-blocking.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket() { close(); }
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept;
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  int get() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }

  void close();
  /// RST to the peer.
  void reset();
  /// FIN to the peer; reading continues.
  void finish();

 private:
  int descriptor_ = -1;
};

/// `127.0.0.1:80`; IPv4 in figures, `localhost`, or only a port.
std::optional<sockaddr_in> parse_address(std::string_view text);
std::string to_text(const sockaddr_in& address);

/// Reserves the port: no other process gets it, and connections to it are refused. Not open if the
/// port is taken.
Socket reserve(const sockaddr_in& address);
/// Begins to accept connections; false if another process listens there.
bool listen(const Socket& reserved);
/// Not open on failure. `address` gets the chosen port.
Socket listen_on(sockaddr_in& address);
/// Not open if there is nothing to accept.
Socket accept_from(const Socket& listener);
/// Begins to connect.
Socket connect_to(const sockaddr_in& address);
/// The result of connecting, once the socket is writable; 0: success.
int connect_error(const Socket& socket);

}  // namespace proxy
