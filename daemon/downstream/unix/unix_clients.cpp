#include "downstream/unix/unix_clients.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

#include "base/descriptors.hpp"
#include "base/start_error.hpp"

namespace bridge {
namespace {

/// Accepts per turn; then the connected clients have theirs.
constexpr int accepts_per_turn = 64;
/// Usually one client connects at a time: accept() is repeated only if the queue was longer.
constexpr int accepts_at_first = 1;

}  // namespace

UnixClients::UnixClients(ConnectionContext context, ClientEvents& events, ListeningSocket socket,
                         PeerPolicy policy, std::size_t max_clients, PipesOptions pipes,
                         std::optional<PipesFolder::Saved> earlier_pipes)
    : context_(std::move(context)),
      events_(events),
      socket_(std::move(socket)),
      keeper_(context_.loop, context_.log, socket_, [this] { listen(); }),
      policy_(policy),
      pipes_policy_(std::move(policy)),
      max_clients_(max_clients),
      accept_again_(context_.loop,
                    [this] {
                      out_of_descriptors_ = false;
                      accept_ready();
                    }),
      budget_timeout_(context_.loop, [this] { end_largest_stalled(); }) {
  if (socket_.is_abstract()) policy_.own_user_only = true;
  if (!pipes.wanted) return;
  PipeClients& clients = *this;
  pipes_ = std::make_unique<PipesFolder>(context_.loop, context_.log, clients,
                                         with_pipes_path(std::move(pipes), socket_.name()),
                                         earlier_pipes);
}

void UnixClients::start() {
  listen();
  keeper_.start();
  if (pipes_) pipes_->start();
}

void UnixClients::listen() {
  // Clients that connected to an earlier socket are accepted too.
  while (listener_ && connections_.size() < max_clients_) {
    const int descriptor =
        accept4(listener_->descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor < 0) break;
    admit(descriptor);
  }
  listener_ = std::make_unique<DescriptorWatch>(context_.loop, socket_.take_descriptor(),
                                                [this](DescriptorWatch::Event) { accept_ready(); });
  listener_->want(DescriptorWatch::Event::readable);
}

void UnixClients::pause() { context_.paused = true; }

void UnixClients::resume() {
  context_.paused = false;
  for (auto& [id, connection] : connections_) connection->resume_reading();
  if (listener_) listener_->want(DescriptorWatch::Event::readable);
  if (pipes_) pipes_->look_again();
}

ListeningSocket::Saved UnixClients::save_socket() const {
  return socket_.save(listener_ ? listener_->descriptor() : -1);
}

std::vector<Connection::Saved> UnixClients::save() const {
  std::vector<Connection::Saved> saved;
  for (const auto& [id, connection] : connections_) {
    if (!connection->is_over()) saved.push_back(connection->save());
  }
  return saved;
}

ClientChannel& UnixClients::add(const Connection::Saved& saved) {
  ClientIdentity identity = saved.identity;
  // The kernel keeps the credentials from the time of the connection, whichever process asks.
  if (saved.out < 0) {
    if (auto peer = peer_credentials(saved.descriptor, true)) {
      identity.gid = peer->gid;
      identity.groups = std::move(peer->groups);
    }
  }
  struct stat pipe {};
  if (saved.out >= 0 && fstat(saved.descriptor, &pipe) == 0) identity.gid = pipe.st_gid;
  auto connection = std::make_unique<Connection>(context_, events_, saved.ends(), identity);
  return *connections_.emplace(saved.identity.id, std::move(connection)).first->second;
}

void UnixClients::restore(Connection::Saved saved) {
  const auto found = connections_.find(saved.identity.id);
  if (found != connections_.end()) found->second->restore(std::move(saved));
}

void UnixClients::stop_accepting() {
  keeper_.stop();
  listener_.reset();
  if (pipes_) pipes_->stop();
}

// The router still knows them, and may send to one before the turn ends.
void UnixClients::close_all() {
  for (auto& [id, connection] : connections_) {
    connection->abandon();
    context_.loop.reap(std::move(connection));
  }
  context_.dirty.clear();
  connections_.clear();
}

void UnixClients::accept_ready() {
  int accepts = 0;
  for (; accepts < accepts_this_turn_; ++accepts) {
    if (!listener_ || out_of_descriptors_ || context_.paused) return;
    if (connections_.size() >= max_clients_) {
      context_.log.peer(LogLevel::warning, "clients wait",
                        "{} clients are connected, the most at a time (--max-clients, ulimit -n): "
                        "further ones wait until one has left",
                        connections_.size());
      return;
    }
    const int descriptor =
        accept4(listener_->descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor >= 0) {
      admit(descriptor);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      pause_accepting(errno);
      return;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      break;
    }
  }
  accepts_this_turn_ = accepts == accepts_this_turn_ ? accepts_per_turn : accepts_at_first;
  listener_->want(DescriptorWatch::Event::readable);
}

void UnixClients::pause_accepting(int error) {
  out_of_descriptors_ = true;
  accept_again_.set_after(std::chrono::seconds(1));
  const std::string shortage = descriptor_shortage();
  context_.log.peer(LogLevel::error, "accepting paused",
                    "cannot accept a client: {}; waiting until one has left",
                    shortage.empty() ? std::strerror(error) : shortage);
}

void UnixClients::admit(int descriptor) {
  auto peer = peer_credentials(descriptor, true);
  if (!peer || refuses(policy_, *peer)) {
    close(descriptor);
    return;
  }
  ClientIdentity identity;
  identity.kind = "unix";
  identity.pid = peer->pid;
  identity.uid = peer->uid;
  identity.gid = peer->gid;
  identity.groups = std::move(peer->groups);
  add_client({descriptor}, std::move(identity));
}

bool UnixClients::refuses(const PeerPolicy& policy, const PeerCredentials& peer) {
  if (policy.admits(peer)) return false;
  ++context_.counts.refused;
  context_.log.peer(LogLevel::warning, "client not allowed",
                    "client of uid {} (pid {}) is not allowed to connect", peer.uid, peer.pid);
  return true;
}

bool UnixClients::has_room() const {
  return listener_ != nullptr && !context_.paused && connections_.size() < max_clients_;
}

/// Their owner is the peer; the kernel tells no more of it.
void UnixClients::pipes_opened(ClientEnds ends, uid_t uid, gid_t gid) {
  PeerCredentials peer;
  peer.uid = uid;
  peer.gid = gid;
  if (refuses(pipes_policy_, peer)) {
    close(ends.in);
    close(ends.out);
    return;
  }
  ClientIdentity identity;
  identity.kind = "pipes";
  identity.uid = uid;
  identity.gid = gid;
  add_client(ends, std::move(identity));
}

void UnixClients::add_client(ClientEnds ends, ClientIdentity identity) {
  ++context_.counts.connected;
  identity.id = context_.ids.next();
  identity.connected = context_.loop.now();
  // Before a new client is added, what the others have read must be acknowledged.
  context_.feed.acknowledge_read();
  auto connection = std::make_unique<Connection>(context_, events_, ends, std::move(identity));
  Connection& client = *connection;
  connections_.emplace(client.identity().id, std::move(connection));
  client.start();
}

void UnixClients::ring_grew() {
  for (auto& [id, connection] : connections_) connection->mark();
}

void UnixClients::flush() {
  bool some_left = false;
  // Flushing one connection may give another something to write.
  while (!context_.dirty.empty()) {
    flushed_.clear();
    flushed_.swap(context_.dirty);
    for (Connection* connection : flushed_) {
      connection->flush();
      if (!connection->is_over()) continue;
      auto node = connections_.extract(connection->identity().id);
      if (!node) continue;  // it was marked again while ending
      context_.loop.reap(std::move(node.mapped()));
      some_left = true;
    }
  }
  watch_budget();
  look_for_room();
  if (some_left && listener_ && !context_.paused) {
    out_of_descriptors_ = false;
    listener_->want(DescriptorWatch::Event::readable);
    if (pipes_) pipes_->look_again();
  }
}

void UnixClients::watch_budget() {
  const std::size_t half = context_.budget.limit() / 2;
  const bool is_tight = context_.budget.used() > (context_.is_tight ? half - half / 4 : half);
  if (is_tight != context_.is_tight) {
    context_.is_tight = is_tight;
    for (auto& [id, connection] : connections_) connection->limit_changed();
  }
  const bool pause = context_.budget.over();
  if (pause == reading_paused_) return;
  reading_paused_ = pause;
  if (pause) {
    context_.log.peer(
        LogLevel::warning, "reading paused",
        "{} bytes are buffered, over --max-buffered: reading only from clients that hold little",
        context_.budget.used());
    budget_timeout_.set_after(context_.limits.stall);
  } else {
    budget_timeout_.clear();
  }
}

// Not only when --max-buffered is no longer used up: it may have been so for a part of this round,
// or the client's own messages, which waited, were sent.
void UnixClients::look_for_room() {
  if (!std::exchange(context_.held_back, false)) return;
  for (auto& [id, connection] : connections_) connection->resume_reading();
}

// With all buffers full, ends clients that make no progress until there is room: of the user who
// holds most, the largest first.
void UnixClients::end_largest_stalled() {
  if (!context_.budget.over()) return;
  const auto now = context_.loop.now();
  std::map<User, std::size_t> held_by;
  for (const auto& [id, connection] : connections_)
    held_by[connection->identity().user()] += connection->held();
  Connection* largest = nullptr;
  std::pair<std::size_t, std::size_t> most;
  for (auto& [id, connection] : connections_) {
    const auto since = connection->unread_since();
    if (!since || *since + context_.limits.stall > now) continue;
    const std::pair held{held_by[connection->identity().user()], connection->held()};
    if (largest != nullptr && held <= most) continue;
    largest = connection.get();
    most = held;
  }
  if (largest != nullptr) largest->give_up();
  // The memory of the ended one is released at the end of this turn; then the next one is
  // considered.
  budget_timeout_.set_after(largest != nullptr ? std::chrono::milliseconds(1)
                                               : context_.limits.stall / 4);
}

void UnixClients::acknowledge_read() {
  for (auto& [id, connection] : connections_) connection->acknowledge_read();
}

}  // namespace bridge
