#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "router/client_channel.hpp"

namespace bridge {

/// The router's interface to the clients' transports: records its calls and does nothing.
class FakeClientEvents final : public ClientEvents {
 public:
  void client_connected(ClientChannel& channel) override { channels.push_back(&channel); }
  void client_line(ClientId, ReceivedText line) override {
    lines.push_back(std::move(line.bytes));
    if (line_came) line_came();
  }
  void client_message(ClientId, Frame message) override { messages.push_back(std::move(message)); }
  void client_oversized_line(ClientId) override {}
  void client_half_closed(ClientId client) override { half_closed.push_back(client); }
  void client_left(ClientId client) override { left.push_back(client); }
  void client_congestion(ClientId, bool congested) override { is_congested = congested; }
  void client_can_be_asked(ClientId) override {}
  std::size_t waiting_bytes(ClientId) const override { return waiting; }

  const HeadersOfTools& headers_of_tools() const override { return tools; }

  HeadersOfTools tools;
  std::vector<ClientChannel*> channels;  ///< in order of connecting
  std::vector<std::string> lines;
  std::vector<Frame> messages;
  std::vector<ClientId> half_closed;
  std::vector<ClientId> left;
  bool is_congested = false;
  std::size_t waiting = 0;          ///< bytes of each client
  std::function<void()> line_came;  ///< may be empty
};

}  // namespace bridge
