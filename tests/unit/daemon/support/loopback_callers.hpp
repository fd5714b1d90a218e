#pragma once

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "../event/simulated_clock.hpp"
#include "event/event_loop.hpp"
#include "http_peer.hpp"

namespace bridge {

/// Callers of an HTTP server on this loop, over loopback: the kernel works in real time, all
/// deadlines use a clock that the test advances.
struct LoopbackCallers {
  /// `authority` ends with the port.
  void take_port(const std::string& authority) {
    port = static_cast<std::uint16_t>(std::stoi(authority.substr(authority.rfind(':') + 1)));
  }

  /// Accepted by the kernel; by the server once the loop has run. `receive_buffer` 0: the default.
  FakePeer connect(int receive_buffer = 0) const {
    const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (receive_buffer > 0)
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    REQUIRE(::connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    return FakePeer(descriptor);
  }
  /// Runs the loop until the condition is true, or for half a minute.
  template <class Condition>
  bool comes_true(Condition&& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      loop.run_once(std::chrono::milliseconds(10));
    }
    return true;
  }
  /// The output of the server, up to its end or this text.
  std::string answer_to(FakePeer& peer, std::string_view bytes,
                        std::string_view until = "\r\n\r\n") {
    peer.send(bytes);
    std::string answer;
    CHECK(comes_true([&] {
      answer += peer.read();
      return peer.has_ended || peer.was_reset || answer.find(until) != answer.npos;
    }));
    return answer;
  }
  bool has_ended(FakePeer& peer) {
    return comes_true([&] {
      peer.read();
      return peer.has_ended || peer.was_reset;
    });
  }
  void advance(std::chrono::milliseconds time) {
    clock.advance(time);
    loop.run_due();
  }

  SimulatedClock clock;
  EventLoop loop{clock};
  std::uint16_t port = 0;
};

}  // namespace bridge
