#pragma once

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../event/simulated_clock.hpp"
#include "../../support/http_peer.hpp"
#include "http/server/http_connection.hpp"

namespace bridge {

/// Records the requests, and gives the test's responses.
class FakeRequests final : public HttpRequests {
 public:
  struct Request {
    std::string line;  ///< method and path
    std::string body;
  };

  Admission request_begins(const HttpConnection&, const RequestHead& head, bool) override {
    ++heads;
    return admit ? admit(head) : Admission{{}, true};
  }
  HttpResponse refusal(int status, std::string_view reason) const override {
    return text_response(status, std::string(reason));
  }
  void request(HttpConnection& connection, RequestHead head, ReceivedText body) override {
    requests.push_back({head.method + ' ' + head.path, std::move(body)});
    if (answer) {
      answer(connection);
    } else {
      connection.respond(text_response(200, "ok"));
    }
  }

  std::function<Admission(const RequestHead&)> admit;
  std::function<void(HttpConnection&)> answer;
  std::vector<Request> requests;
  int heads = 0;
};

/// A responder for later responses, which records the connection's calls.
class FakeResponder final : public HttpResponder {
 public:
  void connection_drained() override { ++drained; }
  void connection_lost(bool) override { lost = true; }
  bool ends_with_input() const override { return ends_with_input_; }

  bool ends_with_input_ = false;
  int drained = 0;
  bool lost = false;
};

/// One connection over a pair of sockets, and a simulated clock.
struct HttpFixture {
  explicit HttpFixture(std::size_t max_buffered = 64u << 20) : budget(max_buffered) {
    std::array<int, 2> ends{};
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) == 0);
    // Small, so that a peer that does not read is noticed soon.
    const int size = 4096;
    setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    peer = std::make_unique<FakePeer>(ends[1]);
    connection = std::make_unique<HttpConnection>(context, ends[0], make_plain_stream(ends[0]));
    const EventLoop::Turn turn(loop);
    connection->start();
  }

  void write_all() {
    while (!context.dirty.empty()) {
      for (HttpConnection* one : std::exchange(context.dirty, {})) one->flush();
    }
  }
  /// Handles the events that are ready.
  void run() {
    while (loop.run_once(std::chrono::nanoseconds(0)) > 0) {
    }
  }
  /// The output for these bytes, so far.
  std::string exchange(std::string_view bytes) {
    CHECK(peer->send(bytes) == bytes.size());
    run();
    return peer->read();
  }
  void advance(std::chrono::milliseconds time) {
    clock.advance(time);
    loop.run_due();
    run();
  }
  /// As for a late answer.
  template <class Action>
  void in_turn(Action&& action) {
    {
      const EventLoop::Turn turn(loop);
      action();
    }
    run();
  }

  SimulatedClock clock;
  EventLoop loop{clock};
  ByteBudget budget;
  ByteCounts counts;
  FakeRequests requests;
  FakeResponder responder;
  Deferred flush{loop, [this] { write_all(); }};
  HttpConnectionContext context{
      loop, budget, counts, requests, flush, 1 << 20, std::chrono::seconds(30)};
  std::unique_ptr<FakePeer> peer;
  std::unique_ptr<HttpConnection> connection;
};

inline const std::string get = "GET /x HTTP/1.1\r\nHost: h\r\n\r\n";

inline std::string post(std::string_view body) {
  return "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + std::string(body);
}

inline std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace bridge
