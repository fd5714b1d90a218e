#pragma once

#include <cstddef>
#include <deque>
#include <optional>

#include "router/clients.hpp"

namespace bridge {

/// Who gets one of the --max-inflight slots for requests at the upstream: whoever asks while one
/// is free and nobody waits, else in the order of asking, one slot each. Pure.
class SlotQueue {
 public:
  explicit SlotQueue(std::size_t slots) : slots_(slots) {}

  /// Whether `client` may take a slot now, while `used` of them are taken; else it is in the queue.
  /// One that is in it may, too, if a slot is free: whoever frees one serves the queue at once, so
  /// those before it have had theirs.
  bool admits(Client& client, std::size_t used) {
    if (used < slots_ && (queue_.empty() || client.waits_for_slot)) return true;
    if (!client.waits_for_slot) queue_.push_back(client.id());
    client.waits_for_slot = true;
    return false;
  }
  /// Takes the next one out of the queue, if there is a slot for it.
  Client* next(const Clients& clients, std::size_t used) {
    if (used >= slots_ || queue_.empty()) return nullptr;
    Client* const client = clients.find(queue_.front());
    queue_.pop_front();
    client->waits_for_slot = false;
    return client;
  }
  void client_left(ClientId client) { std::erase(queue_, client); }

 private:
  const std::size_t slots_;
  std::deque<ClientId> queue_;  ///< of connected clients, each once
};

}  // namespace bridge
