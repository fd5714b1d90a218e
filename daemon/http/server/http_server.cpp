#include "http/server/http_server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "base/log.hpp"
#include "base/start_error.hpp"
#include "http/request.hpp"
#include "text/loopback.hpp"

namespace bridge {

bool ListenAddress::is_loopback() const { return is_loopback_host(host); }

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

[[noreturn]] void refuse_port(std::string_view option, const ListenAddress& address,
                              const char* why) {
  throw StartError(exit_code::cannot_bind, fmt::format("{}: {} port {}: {}", option,
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

ListeningPort ListeningPort::open(const ListenAddress& address, std::string_view option) {
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = fmt::format("{}", address.port);
  const int outcome = getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found);
  if (outcome != 0) refuse_port(option, address, gai_strerror(outcome));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  const int descriptor = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) refuse_port(option, address, std::strerror(errno));
  const int on = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(descriptor, found->ai_addr, found->ai_addrlen) != 0 ||
      listen(descriptor, SOMAXCONN) != 0) {
    const int error = errno;
    close(descriptor);
    refuse_port(option, address,
                error == EADDRINUSE ? "it is taken by another process" : std::strerror(error));
  }
  return {descriptor, authority_of(descriptor)};
}

namespace {

constexpr int accepts_per_turn = 64;
/// An incomplete request is not closed in favour of another one before this time.
constexpr std::chrono::seconds undisturbed{5};

/// The connection that has been in a state for longest.
struct Oldest {
  HttpConnection* connection = nullptr;
  SteadyTime since = SteadyTime::max();

  void consider(HttpConnection& other, std::optional<SteadyTime> its_since) {
    if (!its_since || *its_since >= since) return;
    connection = &other;
    since = *its_since;
  }
};

void tune(int descriptor) {
  const int on = 1;
  // A peer that has vanished silently is detected after about a minute and a half.
  const int idle = 30, interval = 15, probes = 4;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

void reject(int descriptor, bool in_the_clear) {
  static constexpr std::string_view answer =
      "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: "
      "close\r\n\r\n";
  if (in_the_clear) {
    [[maybe_unused]] const ssize_t ignored =
        send(descriptor, answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    shutdown(descriptor, SHUT_WR);
  }
  close(descriptor);
}

}  // namespace

HttpServer::HttpServer(HttpConnectionContext context, ListeningPort port,
                       std::unique_ptr<TlsServer> tls, std::size_t max_connections, Log& log)
    : context_(std::move(context)),
      log_(log),
      port_(std::move(port)),
      tls_(std::move(tls)),
      max_connections_(max_connections),
      accept_again_(context_.loop, [this] { accept_ready(); }) {}

HttpServer::~HttpServer() {
  if (port_.descriptor >= 0) close(port_.descriptor);
}

void HttpServer::start() {
  if (port_.descriptor < 0) return;
  listener_ = std::make_unique<DescriptorWatch>(context_.loop, std::exchange(port_.descriptor, -1),
                                                [this](DescriptorWatch::Event) { accept_ready(); });
  listener_->want(DescriptorWatch::Event::readable);
}

void HttpServer::start_local(int descriptor) {
  if (local_listener_) accept_from(local_listener_);
  local_listener_ = std::make_unique<DescriptorWatch>(
      context_.loop, descriptor, [this](DescriptorWatch::Event) { accept_ready(); });
  local_listener_->want(DescriptorWatch::Event::readable);
}

void HttpServer::stop_accepting() {
  listener_.reset();
  local_listener_.reset();
}

void HttpServer::close_all() {
  close_others([](const HttpConnection&) { return false; });
}

void HttpServer::close_others(const std::function<bool(const HttpConnection&)>& is_kept) {
  flush();
  std::erase_if(context_.dirty, [&](const HttpConnection* one) { return !is_kept(*one); });
  std::erase_if(connections_, [&](const auto& entry) { return !is_kept(*entry.first); });
}

HttpConnection& HttpServer::restore(HttpConnection::Saved saved) {
  // The kernel keeps the credentials from the time of the connection.
  auto peer =
      is_unix_socket(saved.descriptor) ? peer_credentials(saved.descriptor, true) : std::nullopt;
  auto connection = std::make_unique<HttpConnection>(
      context_, saved.descriptor, make_plain_stream(saved.descriptor), std::move(peer));
  HttpConnection& added = *connection;
  connections_.emplace(&added, std::move(connection));
  added.restore(std::move(saved));
  return added;
}

void HttpServer::accept_ready() {
  for (Listener* const listener : {&listener_, &local_listener_}) {
    if (accept_from(*listener) == Acceptance::no_descriptors) return;
  }
}

HttpServer::Acceptance HttpServer::accept_from(Listener& listener) {
  for (int accepts = 0; accepts < accepts_per_turn && listener; ++accepts) {
    const int descriptor =
        accept4(listener->descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor >= 0) {
      admit(descriptor, &listener == &local_listener_);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      if (errno == EMFILE && shed_oldest()) continue;
      log_.peer(LogLevel::error, "http accepting paused",
                "cannot accept an HTTP connection: {} (raise LimitNOFILE or ulimit -n)",
                std::strerror(errno));
      accept_again_.set_after(std::chrono::seconds(1));
      return Acceptance::no_descriptors;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      break;
    }
  }
  if (listener) listener->want(DescriptorWatch::Event::readable);
  return Acceptance::all;
}

void HttpServer::admit(int descriptor, bool is_local) {
  std::optional<PeerCredentials> peer;
  if (is_local) {
    peer = peer_credentials(descriptor, true);
    if (!peer || !context_.requests.admits(*peer)) {
      close(descriptor);
      return;
    }
  }
  TlsServer* const tls = is_local ? nullptr : tls_.get();
  if (connections_.size() >= max_connections_ && !shed_oldest()) {
    log_.peer(LogLevel::warning, "http connections",
              "over {} HTTP connections, all of them in use: one more was turned away",
              max_connections_);
    reject(descriptor, tls == nullptr);
    return;
  }
  if (!is_local) tune(descriptor);
  auto stream = tls != nullptr ? tls->accept(descriptor) : make_plain_stream(descriptor);
  auto connection =
      std::make_unique<HttpConnection>(context_, descriptor, std::move(stream), std::move(peer));
  HttpConnection& added = *connection;
  connections_.emplace(&added, std::move(connection));
  added.start();
}

bool HttpServer::shed_oldest() {
  Oldest spare;
  Oldest unfinished;
  for (auto& [connection, owner] : connections_) {
    spare.consider(*connection, connection->spare_since());
    unfinished.consider(*connection, connection->unfinished_since());
  }
  if (spare.connection != nullptr) {
    log_.peer(LogLevel::warning, "http connections shed",
              "over {} HTTP connections: the one that was idle for longest was closed",
              connections_.size());
    shed(*spare.connection);
    return true;
  }
  if (unfinished.connection == nullptr || unfinished.since + undisturbed > context_.loop.now())
    return false;
  log_.peer(LogLevel::warning, "http uploads shed",
            "over {} HTTP connections, none of them idle: the one with the oldest incomplete "
            "request was closed",
            connections_.size());
  unfinished.connection->reject();
  shed(*unfinished.connection);
  return true;
}

// At once, not at the end of the turn: another connection needs the descriptor.
void HttpServer::shed(HttpConnection& connection) {
  std::erase(context_.dirty, &connection);
  connections_.erase(&connection);
}

std::size_t HttpServer::held() const {
  std::size_t bytes = 0;
  for (const auto& [connection, owned] : connections_) bytes += connection->held();
  return bytes;
}

bool HttpServer::end_largest_unread(std::chrono::milliseconds unread_for) {
  HttpConnection* largest = nullptr;
  for (const auto& [connection, owned] : connections_) {
    if (connection->is_over() || !connection->is_blocked_for(unread_for)) continue;
    if (largest == nullptr || connection->held() > largest->held()) largest = connection;
  }
  if (largest == nullptr) return false;
  log_.peer(
      LogLevel::warning, "http connection unread",
      "an HTTP connection was closed: {} bytes of it were not read, and --max-buffered is far "
      "exceeded",
      largest->unsent());
  largest->reset();
  return true;
}

void HttpServer::flush() {
  while (!context_.dirty.empty()) {
    for (HttpConnection* connection : std::exchange(context_.dirty, {})) {
      connection->flush();
      if (!connection->is_over()) continue;
      if (auto node = connections_.extract(connection))
        context_.loop.reap(std::move(node.mapped()));
    }
  }
}

}  // namespace bridge
