#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../event/simulated_clock.hpp"
#include "../support/fake_session_events.hpp"
#include "../support/fake_upstream.hpp"
#include "session/session.hpp"

namespace bridge {

/// A session between a fake upstream and a fake router, with a simulated clock.
struct SessionFixture {
  using Methods = std::vector<std::string>;

  explicit SessionFixture(SessionOptions options = {})
      : session(loop, ids, upstream, log, std::move(options)) {
    session.set_events(events);
  }

  static constexpr std::string_view result =
      R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"prompts":{}},"serverInfo":{"name":"s","version":"1"}})";

  /// Advances the time; each timer sees the time it was set for.
  void advance(std::chrono::milliseconds time) { let_pass(clock, loop, time); }
  /// The time until this is true, in whole milliseconds; fails the test after `at_most`.
  template <class Condition>
  std::chrono::milliseconds time_until(Condition&& holds, std::chrono::milliseconds at_most) {
    std::chrono::milliseconds passed{0};
    while (!holds()) {
      if (passed == at_most) FAIL("it does not come true");
      advance(std::chrono::milliseconds(1));
      ++passed;
    }
    return passed;
  }
  /// The time until another message with this method is sent, or any other message.
  std::chrono::milliseconds until_next(std::string_view method = {}) {
    const auto sent = [&] {
      return method.empty() ? upstream.sent.size() : upstream.count(method);
    };
    return time_until([&, before = sent()] { return sent() > before; }, std::chrono::seconds(60));
  }
  template <class Action>
  auto in_turn(Action&& action) {
    const EventLoop::Turn turn(loop);
    return action();
  }

  void require() {
    in_turn([this] { session.require(events.side); });
  }
  /// Sends a message as for a client's call.
  UpstreamId send(std::string_view method = "tools/call", bool may_repeat = false) {
    Outgoing message;
    message.id = ids.next();
    message.may_repeat = may_repeat;
    message.body =
        fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}"}})", value_of(message.id), method);
    const UpstreamId id = message.id;
    events.requests.insert(id);
    in_turn([&] { session.serving(events.side).sender().send(std::move(message)); });
    return id;
  }
  UpstreamId open_with_clients(std::string_view params = R"({"capabilities":{"roots":{}}})") {
    const UpstreamId id = ids.next();
    events.requests.insert(id);
    std::string body = fmt::format(
        R"({{"jsonrpc":"2.0","id":{},"method":"initialize","params":{}}})", value_of(id), params);
    in_turn([&] { session.open_with(id, std::move(body), std::string(params)); });
    return id;
  }
  /// Answers all requests of the opening in progress.
  void let_it_open() {
    upstream.answer(upstream.id_of("initialize"), result);
    upstream.server_stream(ServerStream::open);
    upstream.finish(upstream.id_of("notifications/initialized"));
  }
  void open() {
    require();
    let_it_open();
    REQUIRE(session.is_open());
  }

  static Failure unreachable() {
    return failure_of(ErrorKind::connect, Delivered::no, "connection refused");
  }
  static Failure broken() {
    return failure_of(ErrorKind::closed, Delivered::unknown, "the connection broke");
  }
  static Failure status(int status) {
    Failure failure = failure_of(ErrorKind::http, Delivered::no, fmt::format("HTTP {}", status));
    failure.status = status;
    return failure;
  }
  static Failure come_again(int http_status, std::chrono::milliseconds later) {
    Failure failure = status(http_status);
    failure.retry_after = later;
    return failure;
  }

  static Failure unauthorized(int http_status = 401) {
    Failure failure = status(http_status);
    failure.kind = ErrorKind::auth;
    return failure;
  }
  static Failure refusal(int http_status, std::string_view error) {
    Failure failure = status(http_status);
    failure.error_object = std::string(error);
    return failure;
  }

  SimulatedClock clock;
  EventLoop loop{clock};
  Log log{LogLevel::off};
  UpstreamIdSource ids;
  FakeUpstream upstream{loop};
  FakeSessionEvents events;
  Session session;
};

/// The same, with its session open and nothing of that reported.
struct OpenSession : SessionFixture {
  explicit OpenSession(SessionOptions options = {}) : SessionFixture(std::move(options)) {
    open();
    events.told.clear();
  }
  void lose(UpstreamId id) { upstream.fail(id, status(404), SessionVerdict::lost); }
};

}  // namespace bridge
