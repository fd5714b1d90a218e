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

/// The address at which a server listens.
struct ListenAddress {
  std::string host;
  std::uint16_t port = 0;  ///< 0: a free one

  bool is_loopback() const;
  friend bool operator==(const ListenAddress&, const ListenAddress&) = default;
};

/// `HOST:PORT`, `[IPV6]:PORT`; `:PORT` and `PORT` are on 127.0.0.1. nullopt for any other text.
std::optional<ListenAddress> parse_listen_address(std::string_view text);

/// A listening TCP socket, non-blocking, with the longest backlog that the kernel allows; it does
/// not share its port (no SO_REUSEPORT). Errors: StartError (73).
struct ListeningPort {
  int descriptor;
  std::string authority;  ///< `127.0.0.1:8080`, with the actual port

  /// `option` is named in the error.
  static ListeningPort open(const ListenAddress& address, std::string_view option = "--http");
  /// The socket of the previous process.
  static ListeningPort kept(int descriptor);
  static ListeningPort none() { return {-1, {}}; }
};

/// Accepts HTTP connections and owns them. One event loop serves them all, so that an open stream
/// costs only a descriptor and its buffer. It listens on a port, a Unix socket, or both. At most
/// `max_connections`: for a further one the connection that was idle for longest is closed; if all
/// are in use it is answered 503 (closed, with TLS). The loop's thread only.
class HttpServer {
 public:
  /// `port` may be none(). `tls` is for the port, and may be null: plain HTTP.
  HttpServer(HttpConnectionContext context, ListeningPort port, std::unique_ptr<TlsServer> tls,
             std::size_t max_connections, Log& log);
  ~HttpServer();

  void start();
  /// Accepts callers of this listening Unix socket, which it owns from now on, and of an earlier
  /// one those that have connected.
  void start_local(int descriptor);
  /// For connections accepted from now on.
  void set_tls(std::unique_ptr<TlsServer> tls) { tls_ = std::move(tls); }
  void stop_accepting();
  /// Writes what is ready on each connection; ended ones are reaped.
  void flush();
  void close_all();
  /// Closes all connections except those that `is_kept` accepts.
  void close_others(const std::function<bool(const HttpConnection&)>& is_kept);
  /// A connection of the previous process, in an upgrade. REQUIRES: it was plain.
  HttpConnection& restore(HttpConnection::Saved saved);
  /// The listening descriptors; -1: none.
  int local_listener() const { return local_listener_ ? local_listener_->descriptor() : -1; }
  int listener() const { return listener_ ? listener_->descriptor() : port_.descriptor; }
  std::size_t connections() const { return connections_.size(); }
  /// What all connections take in memory.
  std::size_t held() const;
  /// Ends the connection that holds most of those whose peers have read nothing for so long; its
  /// memory is released at the end of the turn. False: there is none.
  bool end_largest_unread(std::chrono::milliseconds unread_for);

 private:
  using Listener = std::unique_ptr<DescriptorWatch>;
  enum class Acceptance { all, no_descriptors };

  void accept_ready();
  Acceptance accept_from(Listener& listener);
  void admit(int descriptor, bool is_local);
  /// Closes the most expendable connection: one with nothing under way, else one whose request has
  /// been incomplete for some time. False if there is none.
  bool shed_oldest();
  void shed(HttpConnection& connection);

  HttpConnectionContext context_;
  Log& log_;
  ListeningPort port_;
  std::unique_ptr<TlsServer> tls_;
  std::size_t max_connections_;
  std::unordered_map<HttpConnection*, std::unique_ptr<HttpConnection>> connections_;
  Listener listener_;
  Listener local_listener_;
  DeadlineTimer accept_again_;
};

}  // namespace bridge
