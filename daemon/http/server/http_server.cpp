#include "http/server/http_server.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

namespace bridge {
namespace {

constexpr int accepts_per_turn = 64;
/// A request that takes no longer to come to its end is not closed for another one's sake.
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
  // A peer that has vanished without a word is noticed after about a minute and a half.
  const int idle = 30, interval = 15, probes = 4;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

void turn_away(int descriptor, bool in_the_clear) {
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
  listener_ = std::make_unique<DescriptorWatch>(context_.loop, std::exchange(port_.descriptor, -1),
                                                [this](DescriptorWatch::Event) { accept_ready(); });
  listener_->want(DescriptorWatch::Event::readable);
}

void HttpServer::stop_accepting() { listener_.reset(); }

void HttpServer::close_all() {
  close_others([](const HttpConnection&) { return false; });
}

void HttpServer::close_others(const std::function<bool(const HttpConnection&)>& is_kept) {
  flush();
  std::erase_if(context_.dirty, [&](const HttpConnection* one) { return !is_kept(*one); });
  std::erase_if(connections_, [&](const auto& entry) { return !is_kept(*entry.first); });
}

HttpConnection& HttpServer::restore(HttpConnection::Saved saved) {
  auto connection = std::make_unique<HttpConnection>(context_, saved.descriptor,
                                                     make_plain_stream(saved.descriptor));
  HttpConnection& added = *connection;
  connections_.emplace(&added, std::move(connection));
  added.restore(std::move(saved));
  return added;
}

void HttpServer::accept_ready() {
  for (int accepts = 0; accepts < accepts_per_turn && listener_; ++accepts) {
    const int descriptor =
        accept4(listener_->descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor >= 0) {
      admit(descriptor);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      if (errno == EMFILE && shed_oldest()) continue;
      log_.peer(LogLevel::error, "http accepting paused",
                "cannot accept an HTTP connection: {} (raise LimitNOFILE or ulimit -n)",
                std::strerror(errno));
      accept_again_.set_after(std::chrono::seconds(1));
      return;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      break;
    }
  }
  if (listener_) listener_->want(DescriptorWatch::Event::readable);
}

void HttpServer::admit(int descriptor) {
  if (connections_.size() >= max_connections_ && !shed_oldest()) {
    log_.peer(LogLevel::warning, "http connections",
              "over {} HTTP connections, all of them in use: one more was turned away",
              max_connections_);
    turn_away(descriptor, tls_ == nullptr);
    return;
  }
  tune(descriptor);
  auto stream = tls_ ? tls_->accept(descriptor) : make_plain_stream(descriptor);
  auto connection = std::make_unique<HttpConnection>(context_, descriptor, std::move(stream));
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
  log_.peer(
      LogLevel::warning, "http uploads shed",
      "over {} HTTP connections, none of them idle: the one whose request has not come to its "
      "end for longest was closed",
      connections_.size());
  unfinished.connection->turn_away();
  shed(*unfinished.connection);
  return true;
}

// At once, and not at the end of the turn: another one needs its descriptor.
void HttpServer::shed(HttpConnection& connection) {
  std::erase(context_.dirty, &connection);
  connections_.erase(&connection);
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
