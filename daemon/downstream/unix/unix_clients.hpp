#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "downstream/unix/connection.hpp"
#include "downstream/unix/pipes_folder.hpp"
#include "event/event_loop.hpp"
#include "sockets/listening_socket.hpp"
#include "sockets/path_keeper.hpp"
#include "sockets/peer_credentials.hpp"

namespace bridge {

/// Accepts the clients of the Unix socket and of the folder of pipes, and owns their connections.
///
/// Bound: `max_clients`; further ones wait in the kernel's accept queue, or in the folder. When
/// file descriptors run out, accepting pauses until a client has left, or a second has passed. The
/// loop's thread only.
class UnixClients final : public NotificationReaders, private PipeClients {
 public:
  /// `earlier_pipes`: of the previous process. Throws StartError for the folder of pipes.
  UnixClients(ConnectionContext context, ClientEvents& events, ListeningSocket socket,
              PeerPolicy policy, std::size_t max_clients, PipesOptions pipes = {},
              std::optional<PipesFolder::Saved> earlier_pipes = std::nullopt);

  void start();
  /// Stops reading and accepting until resume(). All clients stay connected.
  void pause();
  void resume();
  /// For an upgrade: the socket, and each connection in its state.
  ListeningSocket::Saved save_socket() const;
  PipesFolder::Saved save_pipes() const { return pipes_ ? pipes_->save() : PipesFolder::Saved{}; }
  std::vector<Connection::Saved> save() const;
  /// Adds a client of the previous process; returns its channel, for the router. Then restore().
  ClientChannel& add(const Connection::Saved& saved);
  void restore(Connection::Saved saved);

  /// Accepts no new clients; the connected ones stay.
  void stop_accepting();
  const std::string& socket_name() const { return socket_.name(); }
  /// The folder of pipes; empty: there is none.
  std::string pipes_name() const { return pipes_ ? pipes_->name() : std::string(); }
  bool replaces_stale_socket() const { return socket_.replaces_stale(); }
  /// Closes all connections at once.
  void close_all();

  /// Writes what is ready for each client; ended connections are reaped.
  void flush();

  const ClientCounts& counts() const { return context_.counts; }

  void ring_grew() override;
  void acknowledge_read() override;

 private:
  void listen();
  void accept_ready();
  void admit(int descriptor);
  void add_client(ClientEnds ends, ClientIdentity identity);
  bool refuses(const PeerPolicy& policy, const PeerCredentials& peer);
  bool has_room() const override;
  void pipes_opened(ClientEnds ends, uid_t uid, gid_t gid) override;
  void pause_accepting(int error);
  void watch_budget();
  void look_for_room();
  void end_largest_stalled();

  ConnectionContext context_;
  ClientEvents& events_;
  ListeningSocket socket_;
  PathKeeper keeper_;
  PeerPolicy policy_;
  PeerPolicy pipes_policy_;
  std::vector<Connection*> flushed_;  ///< the dirty connections during a flush
  std::size_t max_clients_;
  std::unordered_map<ClientId, std::unique_ptr<Connection>> connections_;
  std::unique_ptr<DescriptorWatch> listener_;
  DeadlineTimer accept_again_;
  DeadlineTimer budget_timeout_;  ///< set while --max-buffered is exceeded
  int accepts_this_turn_ = 1;
  bool out_of_descriptors_ = false;
  bool reading_paused_ = false;
  std::unique_ptr<PipesFolder> pipes_;  ///< null without --pipes
};

}  // namespace bridge
