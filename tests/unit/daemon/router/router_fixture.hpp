#pragma once

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../event/simulated_clock.hpp"
#include "../support/fake_client.hpp"
#include "../support/fake_upstream.hpp"
#include "base/log.hpp"
#include "notifications/notification_feed.hpp"
#include "router/router.hpp"
#include "session/session.hpp"

namespace bridge {

using Lines = std::vector<std::string>;

constexpr std::string_view roots_changed = "notifications/roots/list_changed";

/// A router and its session between fake clients and a fake upstream, with a simulated
/// clock.
struct RouterFixture {
  explicit RouterFixture(const RouterOptions& options = {}, std::size_t budget_limit = 256u << 20)
      : budget(budget_limit),
        session(loop, ids, upstream, log, session_options()),
        router(loop, ids, session, feed, budget, log, options) {
    upstream.set_events(session);
    session.set_events(router);
    router.set_control(control);
  }

  static constexpr std::string_view kept_result =
      R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"1"}})";

  // Clients. Each event is a turn of its own.
  FakeClient& connect(std::string kind = "unix", uid_t uid = 1000) {
    FakeClient& client = *clients.emplace_back(
        std::make_unique<FakeClient>(client_ids.next(), std::move(kind), uid));
    in_turn([&] { router.client_connected(client); });
    return client;
  }
  void send(const FakeClient& client, std::string line) {
    in_turn([&] { router.client_line(client.identity().id, std::move(line)); });
  }
  /// A call of a tool of this name, under this id (JSON).
  void call(const FakeClient& client, std::string_view id, std::string_view name = "t") {
    send(
        client,
        fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{{"name":"{}"}}}})",
                    id, name));
  }
  void notify(const FakeClient& client, std::string_view method, std::string_view params = "{}") {
    send(client, fmt::format(R"({{"jsonrpc":"2.0","method":"{}","params":{}}})", method, params));
  }
  void initialize(const FakeClient& client, std::string_view id,
                  std::string_view capabilities = "{}") {
    send(
        client,
        fmt::format(
            R"({{"jsonrpc":"2.0","id":{},"method":"initialize","params":{{"protocolVersion":"2025-11-25","capabilities":{}}}}})",
            id, capabilities));
  }
  void cancel(const FakeClient& client, std::string_view id) {
    notify(client, "notifications/cancelled", fmt::format(R"({{"requestId":{}}})", id));
  }
  /// A client that has declared that it answers these methods, JSON strings with commas between.
  FakeClient& connect_answering(std::string_view methods, std::string kind = "unix",
                                uid_t uid = 1000) {
    FakeClient& client = connect(std::move(kind), uid);
    notify(client, "bridge/answers", fmt::format(R"({{"methods":[{}]}})", methods));
    call_and_answer(client);
    return client;
  }
  /// Makes it more than an observer.
  void call_and_answer(FakeClient& client) {
    call(client, "0", "hello");
    answer_call("hello");
    client.take_lines();
  }
  void respond(const FakeClient& client, std::uint64_t id, std::string_view result = "{}") {
    send(client, fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", id, result));
  }
  void decline(const FakeClient& client, std::uint64_t id) {
    send(
        client,
        fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{{"code":-32601,"message":"no"}}}})", id));
  }
  void half_close(const FakeClient& client) {
    in_turn([&] { router.client_half_closed(client.identity().id); });
  }
  void leave(const FakeClient& client) {
    in_turn([&] { router.client_left(client.identity().id); });
  }
  bool knows(const FakeClient& client) const {
    return router.clients().find(client.identity().id) != nullptr;
  }

  // The upstream.
  /// Answers all requests of the opening in progress.
  void let_it_open() {
    upstream.answer(upstream.id_of("initialize"), kept_result);
    upstream.server_stream(ServerStream::open);
    upstream.finish(upstream.id_of("notifications/initialized"));
    REQUIRE(session.is_open());
  }
  void open() {
    in_turn([this] { session.require(); });
    let_it_open();
    upstream.sent.clear();
  }
  /// The same for a server that supports only MCP 2026-07-28.
  void open_modern() {
    be_modern();
    answer_probe();
    upstream.sent.clear();
  }
  /// The upstream does not support `initialize`, so that its era is probed.
  void be_modern() {
    upstream.modern_possible = true;
    in_turn([this] { session.require(Era::legacy); });
    refuse_initialize();
  }
  void refuse_initialize() {
    upstream.answer_error(upstream.id_of("initialize"),
                          R"({"code":-32601,"message":"Method not found"})");
  }
  /// The modern session is lost, as it is when a local server ends.
  void lose_modern() {
    upstream.answer_streams = false;
    upstream.lose_session();
    upstream.answer_streams = true;
  }
  void answer_probe() {
    upstream.answer(
        upstream.id_of("server/discover"),
        R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}})");
    REQUIRE(session.is_open());
  }
  /// The calls that were sent, by the names of their tools, in order.
  Lines calls() const {
    Lines names;
    for (const Outgoing& message : upstream.sent) {
      if (find_string(message.body, "method") == "tools/call") names.push_back(tool_of(message));
    }
    return names;
  }
  /// The id of the last call of this tool.
  UpstreamId id_of_call(std::string_view name) const {
    for (auto message = upstream.sent.rbegin(); message != upstream.sent.rend(); ++message) {
      if (find_string(message->body, "method") == "tools/call" && tool_of(*message) == name)
        return message->id;
    }
    FAIL("no call of " << name << " was sent");
    return {};
  }
  void answer_call(std::string_view name, std::string_view result = "{}") {
    upstream.answer(id_of_call(name), result);
  }
  /// The last notification of this method was delivered to the upstream.
  void hand_over(std::string_view method) { upstream.finish(upstream.id_of(method)); }
  /// The upstream sends a request, on the server stream or on that of `about`.
  void ask(std::string_view raw_id, std::optional<UpstreamId> about = {},
           std::string_view method = "sampling/createMessage", std::string_view params = "{}") {
    upstream.say(fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{}}})", raw_id,
                             method, params),
                 about);
  }
  /// The responses sent to the upstream since the last call of this.
  Lines responses() {
    Lines bodies;
    for (const Outgoing& message : upstream.sent) {
      if (message.kind == OutgoingKind::response) bodies.push_back(message.body);
    }
    std::erase_if(upstream.sent,
                  [](const Outgoing& one) { return one.kind == OutgoingKind::response; });
    return bodies;
  }

  /// The last question was answered at once, and no answer to it is taken.
  bool is_refused() {
    const Lines told = responses();
    return told.size() == 1 && told.front().find(R"("code":-32601)") != std::string::npos;
  }

  // Time.
  void advance(std::chrono::milliseconds time) { let_pass(clock, loop, time); }
  template <class Action>
  void in_turn(Action&& action) {
    const EventLoop::Turn turn(loop);
    action();
  }

  /// Answers `bridge/later` when the test says so, everything else at once.
  struct FakeControl final : Control {
    ControlFacts facts_of(std::string_view method) const override {
      return {.is_answered_in_order = method == "bridge/notifications"};
    }
    void answer(const Frame& request, Client&, Reply reply) override {
      const std::string response = fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})",
                                               request.text(request.id), result);
      if (request.method == "bridge/later") {
        later.push_back([reply = std::move(reply), response] { reply(response); });
      } else {
        reply(response);
      }
    }
    std::vector<std::function<void()>> later;
    std::string result = "{}";
  };

  SimulatedClock clock;
  EventLoop loop{clock};
  Log log{LogLevel::off};
  UpstreamIdSource ids;
  ClientIdSource client_ids;
  ByteBudget budget;
  NotificationFeed feed{RingLimits{}, clock};
  FakeUpstream upstream{loop};
  Session session;
  FakeControl control;
  Router router;
  std::deque<std::unique_ptr<FakeClient>> clients;

 private:
  static SessionOptions session_options() {
    SessionOptions options;
    options.keepalive = std::chrono::milliseconds(0);  // no pings in between
    return options;
  }
  static std::string tool_of(const Outgoing& message) {
    const auto params = find_member(message.body, "params");
    return find_string(params.value_or("{}"), "name").value_or("");
  }
};

/// The same, with its session open.
struct OpenRouter : RouterFixture {
  explicit OpenRouter(const RouterOptions& options = {}) : RouterFixture(options) { open(); }
};

/// Also with one client, or several.
struct OneClient : OpenRouter {
  using OpenRouter::OpenRouter;
  FakeClient& client = connect();
};
struct TwoClients : OneClient {
  using OneClient::OneClient;
  FakeClient& other = connect();
};
struct ThreeClients : TwoClients {
  using TwoClients::TwoClients;
  FakeClient& third = connect();
};

inline bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

/// The lines since the last call, without notices about the call that a question is about.
inline Lines take_but_notices(FakeClient& client) {
  Lines lines = client.take_lines();
  std::erase_if(lines, [](const std::string& line) { return contains(line, "question_about"); });
  return lines;
}

}  // namespace bridge
