#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/log.hpp"
#include "downstream/unix/connection.hpp"
#include "downstream/unix/listening_socket.hpp"
#include "downstream/unix/peer_credentials.hpp"
#include "event/event_loop.hpp"
#include "event/path_watch.hpp"

namespace bridge {

/// Notices when the socket's path is not the daemon's any more (removed, moved, its folder deleted:
/// nobody can connect then, and nothing else tells), says so, and publishes the socket anew, under
/// the same rules as at the start: another daemon's socket is left alone, and waited for.
///
/// Owned by UnixClients; the loop's thread only. Nothing is polled: the socket and every folder and
/// symbolic link that its path leads through are watched, and while it cannot be published also the
/// place where the next of them is missing.
class SocketKeeper {
 public:
  /// `published`: the socket listens anew, take_descriptor() has it. `socket` outlives this.
  SocketKeeper(EventLoop& loop, Log& log, ListeningSocket& socket, std::function<void()> published);

  /// Does nothing if the path is not the daemon's to publish.
  void start();
  void stop();

 private:
  void watch_published();
  void changed();
  void look_again();
  void publish();

  EventLoop& loop_;
  Log& log_;
  ListeningSocket& socket_;
  std::function<void()> published_;
  RouteWatch route_;
  DeadlineTimer next_try_;
  std::chrono::milliseconds pause_;  ///< before the next try
  bool lost_ = false;
  std::string unwatched_;  ///< what the log was told of already
};

/// Accepts the clients of the Unix socket and owns their connections.
///
/// At most `max_clients` at a time; further ones wait in the kernel's accept queue. When file
/// descriptors run out, accepting pauses until a client has left, or a second has passed. The
/// loop's thread only.
class UnixClients final : public NotificationReaders {
 public:
  UnixClients(ConnectionContext context, ClientEvents& events, ListeningSocket socket,
              PeerPolicy policy, std::size_t max_clients);

  /// A policy may ask for the groups of peers. REQUIRES: there is no client yet.
  void learn_groups() { with_groups_ = true; }
  void start();
  /// Nothing more is read of anybody, and nobody is accepted, until resume(). All stay connected.
  void pause();
  void resume();
  /// For another image of the program: the socket, and each connection as it is.
  ListeningSocket::Saved save_socket() const;
  std::vector<Connection::Saved> save() const;
  /// A client that an earlier image had; its channel, for the router to know it. Then go_on().
  ClientChannel& add(const Connection::Saved& saved);
  void restore(Connection::Saved saved);

  /// No new clients; the connected ones stay.
  void stop_accepting();
  const std::string& socket_name() const { return socket_.name(); }
  bool replaces_stale_socket() const { return socket_.replaces_stale(); }
  /// Drops all connections as they are.
  void close_all();

  /// Writes what is ready for each of them; those that are over are reaped.
  void flush();

  const ClientCounts& counts() const { return context_.counts; }

  void ring_grew() override;
  void acknowledge_read() override;

 private:
  void listen();
  void accept_ready();
  void admit(int descriptor);
  void pause_accepting(int error);
  void watch_budget();
  void end_largest_stalled();

  ConnectionContext context_;
  ClientEvents& events_;
  ListeningSocket socket_;
  SocketKeeper keeper_;
  PeerPolicy policy_;
  std::vector<Connection*> flushed_;  ///< of those that were dirty, while that is done
  std::size_t max_clients_;
  std::unordered_map<ClientId, std::unique_ptr<Connection>> connections_;
  std::unique_ptr<DescriptorWatch> listener_;
  DeadlineTimer accept_again_;
  DeadlineTimer budget_timeout_;  ///< set while --max-buffered is exceeded
  int accepts_this_turn_ = 1;
  bool out_of_descriptors_ = false;
  bool reading_paused_ = false;
  bool with_groups_ = false;
};

}  // namespace bridge
