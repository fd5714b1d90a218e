#pragma once

#include <optional>

#include "router/client.hpp"

namespace bridge {

/// Chooses the served clients: with --max-clients 1 one at a time, otherwise all. A client is
/// served until it leaves or turns out to only look on (BEHAVIOUR, "Socket: connections at a
/// time"). A client that is not served gets no notifications. A part of ClientFrames; the loop's
/// thread only.
class ServedClient {
 public:
  ServedClient(const Clients& clients, bool one_at_a_time)
      : clients_(clients), one_at_a_time_(one_at_a_time) {}

  bool is_served(const Caller& caller) const {
    const Client* const client = caller.client();
    return !one_at_a_time_ || client == nullptr || served_ == client->id();
  }
  void connected(Client& client) {
    if (!served_) served_ = client.id();
    if (!is_served(client)) client.channel.set_feed(RingFeed::none);
  }
  /// Chooses again if the served client lost its turn. Returns the newly served client; null if
  /// none changed.
  Client* choose() {
    if (!one_at_a_time_) return nullptr;
    const Client* const served = clients_.find_client(served_);
    if (served != nullptr && !served->is_observer()) return nullptr;
    served_.reset();
    for (const auto& [id, client] : clients_) {
      if (client->is_observer()) continue;
      served_ = id;
      if (client->takes_from_ring()) client->channel.set_feed(RingFeed::takes);
      return client.get();
    }
    return nullptr;
  }

 private:
  const Clients& clients_;
  const bool one_at_a_time_;
  std::optional<ClientId> served_;
};

}  // namespace bridge
