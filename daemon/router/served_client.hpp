#pragma once

#include <optional>

#include "router/clients.hpp"

namespace bridge {

/// Which client is served: with --max-clients 1 one after the other, else every one of them. It is
/// served until it leaves, or shows that it only looks on (BEHAVIOUR, "Socket: connections at a
/// time"). Who is not served is fed no notifications. A part of ClientFrames; the loop's thread
/// only.
class ServedClient {
 public:
  ServedClient(const Clients& clients, bool one_at_a_time)
      : clients_(clients), one_at_a_time_(one_at_a_time) {}

  bool is_served(const Client& client) const {
    return !one_at_a_time_ || served_ == client.id() || !takes_turns(client);
  }
  void connected(Client& client) {
    if (!served_ && takes_turns(client)) served_ = client.id();
    if (!is_served(client)) client.channel.set_feed(RingFeed::none);
  }
  /// Chooses again, if the one that was served is not to be any more. Returns who is served now and
  /// was not before; null if that is nobody.
  Client* choose() {
    if (!one_at_a_time_) return nullptr;
    const Client* const served = clients_.find(served_);
    if (served != nullptr && !served->is_observer()) return nullptr;
    served_.reset();
    for (const auto& [id, client] : clients_) {
      if (client->is_observer() || !takes_turns(*client)) continue;
      served_ = id;
      if (!client->peeks && client->era == Era::legacy) client->channel.set_feed(RingFeed::takes);
      return client.get();
    }
    return nullptr;
  }

 private:
  /// Not the bridge itself, which asks for a client that may have its turn, nor a job.
  static bool takes_turns(const Client& client) { return !client.is_job && !client.is_bridge; }

  const Clients& clients_;
  const bool one_at_a_time_;
  std::optional<ClientId> served_;
};

}  // namespace bridge
