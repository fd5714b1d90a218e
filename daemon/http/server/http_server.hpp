#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/log.hpp"
#include "http/server/http_connection.hpp"
#include "http/server/tls_server.hpp"

namespace bridge {

/// Where a server listens.
struct ListenAddress {
  std::string host;
  std::uint16_t port = 0;  ///< 0: a free one

  bool is_loopback() const;
  friend bool operator==(const ListenAddress&, const ListenAddress&) = default;
};

/// `HOST:PORT`, `[IPV6]:PORT`; `:PORT` and `PORT` are on 127.0.0.1. Nothing if it is none of them.
std::optional<ListenAddress> parse_listen_address(std::string_view text);

/// A listening TCP socket, non-blocking, with the longest backlog the kernel allows; the port is
/// its own alone (no SO_REUSEPORT). Throws StartError (73) if it cannot be had.
struct ListeningPort {
  int descriptor;
  std::string authority;  ///< `127.0.0.1:8080`, with the port it really has

  /// `option` is named in the error.
  static ListeningPort open(const ListenAddress& address, std::string_view option = "--http");
  /// One that the previous process had.
  static ListeningPort kept(int descriptor);
};

/// Accepts HTTP connections and owns them. One event loop serves them all, so that an open stream
/// costs a descriptor and its buffer, and nobody waits for it. At most `max_connections`: for one
/// more the one is closed that was idle for longest; if all are in use it is answered 503 (closed,
/// with TLS). The loop's thread only.
class HttpServer {
 public:
  /// `tls` may be null: in the clear.
  HttpServer(HttpConnectionContext context, ListeningPort port, std::unique_ptr<TlsServer> tls,
             std::size_t max_connections, Log& log);
  ~HttpServer();

  void start();
  /// For the connections from now on.
  void set_tls(std::unique_ptr<TlsServer> tls) { tls_ = std::move(tls); }
  void stop_accepting();
  /// Writes what is ready for each; those that are over are reaped.
  void flush();
  void close_all();
  /// All but those that `is_kept`.
  void close_others(const std::function<bool(const HttpConnection&)>& is_kept);
  /// One of the previous process, in an upgrade. REQUIRES: it was in the clear.
  HttpConnection& restore(HttpConnection::Saved saved);
  /// What it accepts from.
  int listener() const { return listener_ ? listener_->descriptor() : port_.descriptor; }
  std::size_t connections() const { return connections_.size(); }

 private:
  void accept_ready();
  void admit(int descriptor);
  /// Closes the connection that can be spared most: with nothing under way, else with a request
  /// that has not come to its end for some time. False if there is none.
  bool shed_oldest();
  void shed(HttpConnection& connection);

  HttpConnectionContext context_;
  Log& log_;
  ListeningPort port_;
  std::unique_ptr<TlsServer> tls_;
  std::size_t max_connections_;
  std::unordered_map<HttpConnection*, std::unique_ptr<HttpConnection>> connections_;
  std::unique_ptr<DescriptorWatch> listener_;
  DeadlineTimer accept_again_;
};

}  // namespace bridge
