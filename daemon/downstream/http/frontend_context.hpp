#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_budget.hpp"
#include "base/ids.hpp"
#include "base/log.hpp"
#include "event/event_loop.hpp"
#include "http/server/http_server.hpp"
#include "notifications/notification_feed.hpp"
#include "router/client_channel.hpp"
#include "sockets/listening_socket.hpp"
#include "sockets/peer_credentials.hpp"

namespace bridge {

class EventStream;
class FanOut;
class FrontendClients;

/// The options of the HTTP frontend (BEHAVIOUR, "HTTP frontend"). Off without an address and a
/// socket. Token, TLS and hosts are for the port.
struct FrontendOptions {
  std::optional<ListenAddress> address;
  std::optional<SocketOptions> socket;
  PeerPolicy peers;         ///< of the socket
  std::string certificate;  ///< PEM files; both or none
  std::string private_key;
  std::string token_file;
  bool insecure = false;  ///< allows a non-loopback address without TLS or without a token
  std::vector<std::string> allow_origins;
  std::vector<std::string> allow_hosts;
  bool answers_later = false;                ///< --http-async
  bool fans_out_all = false;                 ///< --http-fanout all
  std::chrono::milliseconds timeout{60000};  ///< how long a caller waits for a JSON response
  std::chrono::milliseconds session_idle{1800000};
  std::chrono::milliseconds keepalive{15000};  ///< between comments on a stream
  std::chrono::milliseconds sse_idle{0};       ///< a quiet stream of a GET ends then; 0: never
  std::size_t max_sessions = 1000;
  std::size_t max_streams = 256;
  std::size_t stream_buffer = 1u << 20;  ///< unsent bytes of a stream, and those kept to resume it
  std::size_t max_frame = 8u << 20;      ///< of a body
  std::size_t client_buffer = 16u << 20;
  std::chrono::milliseconds stall{30000};  ///< a connection that takes nothing is closed then
  std::optional<int> inherited_listener;   ///< of the previous process; `address` is then its own
  /// What the file descriptors permit.
  std::size_t max_connections = static_cast<std::size_t>(-1);

  bool is_on() const { return address || socket; }
  /// One for each session and each stream, and some for other requests.
  std::size_t wanted_connections() const { return max_sessions + max_streams + 64; }
};

/// Shared by the parts of the frontend. Outlives them.
struct FrontendContext {
  EventLoop& loop;
  ClientIdSource& ids;
  NotificationFeed& feed;
  ByteBudget& budget;
  ClientEvents& events;
  Log& log;
  FrontendOptions options;
  ClientCounts counts{};  ///< each session and each POST without one is a client
  FanOut* fan_out = nullptr;
  FrontendClients* clients = nullptr;
  std::set<EventStream*> streams{};  ///< the open ones, which get keep-alive comments
  std::uint64_t last_post = 0;       ///< the number of the last one

  /// A new client of this caller_of().
  ClientIdentity new_client(ClientIdentity caller) {
    caller.id = ids.next();
    caller.connected = loop.now();
    return caller;
  }
  /// Without id and time. A caller of the Unix socket is known like a client of the other one.
  ClientIdentity caller_of(const HttpConnection& connection) const {
    ClientIdentity identity;
    identity.kind = "http";
    if (const PeerCredentials* const peer = connection.local_peer()) {
      identity.kind = local_http;
      identity.pid = peer->pid;
      identity.uid = peer->uid;
      identity.gid = peer->gid;
      identity.groups = peer->groups;
    } else {
      identity.remote = connection.remote_address();
      identity.is_anonymous = options.token_file.empty();
    }
    return identity;
  }
  /// The name of the program that calls; of a caller of the port its User-Agent.
  static std::string command_of_caller(const ClientIdentity& identity, const std::string& agent) {
    return identity.kind == local_http ? command_of(identity.pid) : agent;
  }
  static constexpr std::string_view local_http = "http+unix";
  /// From now on the router knows the client.
  void announce(ClientChannel& client) {
    ++counts.connected;
    events.client_connected(client);
  }
};

}  // namespace bridge
