#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "captured_stderr.hpp"
#include "downstream/http/http_frontend.hpp"
#include "fake_client_events.hpp"
#include "loopback_callers.hpp"

namespace bridge {

inline const std::string json = "application/json";
inline const std::string stream = "text/event-stream";

inline FrontendOptions on_loopback() {
  FrontendOptions options;
  options.address = parse_listen_address("127.0.0.1:0");
  return options;
}

/// The frontend over loopback, before a router that does nothing by itself.
struct FrontendFixture : LoopbackCallers {
  explicit FrontendFixture(FrontendOptions options = on_loopback())
      : frontend(loop, flush, ids, feed, budget, events, log, std::move(options), {}) {
    take_port(frontend.urls().front());
    frontend.start();
  }

  std::string request(const std::string& line, const std::string& headers,
                      const std::string& body = {}) const {
    return line + " HTTP/1.1\r\nHost: localhost\r\n" + headers +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  std::string post(const std::string& body, const std::string& accept,
                   const std::string& headers = {}) const {
    return request("POST /mcp",
                   "Content-Type: application/json\r\nAccept: " + accept + "\r\n" + headers, body);
  }
  static std::string call(int id) {
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"tools/call"})";
  }
  static std::string result(int id, std::size_t size = 0) {
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"result":{"text":")" +
           std::string(size, 'x') + "\"}}";
  }

  /// Sends the bytes, and runs until so many messages have reached the router.
  void ask(FakePeer& peer, const std::string& bytes, std::size_t messages = 1) {
    const std::size_t before = events.messages.size();
    CHECK(peer.send(bytes) == bytes.size());
    CHECK(comes_true([&] { return events.messages.size() >= before + messages; }));
  }
  /// A response of the router.
  void answer(int id, const std::string& message, std::size_t client = 0) {
    const EventLoop::Turn turn(loop);
    events.channels[client]->send({Delivery::Kind::response, message, std::to_string(id)});
  }
  /// Opens a session; returns the header that names it.
  std::string open_session() {
    FakePeer peer = connect();
    ask(peer, post(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{}})", json));
    answer(0, result(0), events.channels.size() - 1);
    const std::string head = answer_to(peer, "");
    const auto at = head.find("Mcp-Session-Id: ");
    REQUIRE(at != head.npos);
    return head.substr(at, head.find("\r\n", at) + 2 - at);
  }
  FakePeer open_stream(const std::string& session, int receive_buffer = 0) {
    FakePeer peer = connect(receive_buffer);
    const std::string bytes = request("GET /mcp", "Accept: text/event-stream\r\n" + session);
    CHECK(answer_to(peer, bytes, ": open").find("200 OK") != std::string::npos);
    return peer;
  }

  CapturedStderr logged;
  ClientIdSource ids;
  NotificationFeed feed{RingLimits{}, clock};
  ByteBudget budget{256u << 20};
  FakeClientEvents events;
  Log log{LogLevel::warning};
  Deferred flush{loop, [this] { frontend.flush(); }};
  HttpFrontend frontend;
};

}  // namespace bridge
