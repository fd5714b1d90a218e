#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "event/event_loop.hpp"
#include "router/client.hpp"

namespace bridge {

/// The connected clients, in the order of their connecting.
///
/// A client ends when its transport says so, or at the end of the turn in which it is done. So a
/// `Client&` is good for as long as a call from outside lasts, whatever is called from there.
///
/// Owned by the router; the loop's thread only. Bounded by the transports (--max-clients,
/// --http-max-sessions).
class Clients {
 public:
  /// `done` is called for each client that is done; it takes that one out.
  Clients(EventLoop& loop, std::function<void(Client&)> done)
      : done_(std::move(done)), end_of_turn_(loop, [this] { finish_done(); }) {}

  /// `tap` outlives them.
  Client& add(ClientChannel& channel, const MessageTap& tap, ByteBudget& budget) {
    auto client = std::make_unique<Client>(channel, tap, budget);
    return *clients_.emplace(client->id(), std::move(client)).first->second;
  }
  /// Takes it out. REQUIRES: it is one of them.
  std::unique_ptr<Client> take(const Client& client) {
    return std::move(clients_.extract(client.id()).mapped());
  }

  /// Null if it is not connected any more.
  Client* find(ClientId id) const {
    const auto found = clients_.find(id);
    return found == clients_.end() ? nullptr : found->second.get();
  }
  Client* find(std::optional<ClientId> id) const { return id ? find(*id) : nullptr; }

  /// To be called when something of a client has come to its end.
  void finish_if_done(const Client& client) {
    if (!client.half_closed) return;
    perhaps_done_.push_back(client.id());
    end_of_turn_.schedule();
  }
  /// Not at the end of the turn, but now.
  void finish_done() {
    for (const ClientId id : std::exchange(perhaps_done_, {})) {
      if (Client* client = find(id); client != nullptr && client->is_done()) done_(*client);
    }
  }

  auto begin() const { return clients_.begin(); }
  auto end() const { return clients_.end(); }

 private:
  std::map<ClientId, std::unique_ptr<Client>> clients_;
  std::vector<ClientId> perhaps_done_;
  std::function<void(Client&)> done_;
  Deferred end_of_turn_;
};

}  // namespace bridge
