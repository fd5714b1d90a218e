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

#include "../../words.hpp"
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
    router.set_control(control);
  }

  static constexpr std::string_view kept_result =
      R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true}},"serverInfo":{"name":"s","version":"1"}})";

  // Clients. Each event is a turn of its own.
  FakeClient& connect(std::string kind = "unix", uid_t uid = 1000) {
    FakeClient& client = *clients.emplace_back(
        std::make_unique<FakeClient>(client_ids.next(), std::move(kind), uid));
    in_turn([&] { router.from_clients().client_connected(client); });
    return client;
  }
  void send(const FakeClient& client, std::string line) {
    in_turn([&] { router.from_clients().client_line(client.identity().id, std::move(line)); });
  }
  /// A request under this id (JSON).
  void request(const FakeClient& client, std::string_view id, std::string_view method,
               std::string_view params = "{}") {
    send(client, fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{}}})", id, method,
                             params));
  }
  /// One of MCP 2026-07-28; `members` of its params and `more` of its _meta end with a comma.
  void modern(const FakeClient& client, std::string_view id, std::string_view method,
              std::string_view members = {}, std::string_view capabilities = "{}",
              std::string_view more = {}) {
    request(
        client, id, method,
        fmt::format(
            R"({{{}"_meta":{{{}"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}})",
            members, more, capabilities));
  }
  void call(const FakeClient& client, std::string_view id, std::string_view name = "t") {
    request(client, id, "tools/call", fmt::format(R"({{"name":"{}"}})", name));
  }
  void call_with_token(const FakeClient& client, std::string_view id, std::string_view token,
                       std::string_view name = "t") {
    request(client, id, "tools/call",
            fmt::format(R"({{"_meta":{{"progressToken":{}}},"name":"{}"}})", token, name));
  }
  void notify(const FakeClient& client, std::string_view method, std::string_view params = "{}") {
    send(client, fmt::format(R"({{"jsonrpc":"2.0","method":"{}","params":{}}})", method, params));
  }
  void initialize(const FakeClient& client, std::string_view id,
                  std::string_view capabilities = "{}") {
    request(client, id, "initialize",
            fmt::format(R"({{"protocolVersion":"2025-11-25","capabilities":{}}})", capabilities));
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
  void decline(const FakeClient& client, std::uint64_t id, int code = -32601) {
    send(client, fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{{"code":{},"message":"no"}}}})",
                             id, code));
  }
  /// Its queue is full, or no longer.
  void congest(FakeClient& client, bool congested = true) {
    client.is_congested = congested;
    in_turn([&] { router.from_clients().client_congestion(client.identity().id, congested); });
  }
  void half_close(const FakeClient& client) {
    in_turn([&] { router.from_clients().client_half_closed(client.identity().id); });
  }
  void leave(const FakeClient& client) {
    in_turn([&] { router.from_clients().client_left(client.identity().id); });
  }
  bool knows(const FakeClient& client) const {
    return router.clients().find_client(client.identity().id) != nullptr;
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
  void open_modern(std::string_view capabilities = R"({"tools":{}})") {
    be_modern();
    answer_probe(capabilities);
    upstream.sent.clear();
  }
  /// The upstream does not support `initialize`, so that its era is probed.
  void be_modern() {
    upstream.modern_possible = true;
    in_turn([this] { session.require(Era::legacy); });
    refuse_initialize();
  }
  void refuse_connection(std::string_view method) {
    upstream.fail(upstream.id_of(method), failure_of(ErrorKind::connect, Delivered::no, "refused"));
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
  void answer_probe(std::string_view capabilities = R"({"tools":{}})") {
    upstream.answer(
        upstream.id_of("server/discover"),
        fmt::format(
            R"({{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}})",
            capabilities));
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
  /// Progress of this call, on the server stream or on that of `origin`.
  void progress(UpstreamId token, std::optional<UpstreamId> origin = {}) {
    upstream.notify("notifications/progress",
                    fmt::format(R"({{"progressToken":{},"progress":1}})", value_of(token)), origin);
  }
  void log_message(std::string_view level, std::optional<UpstreamId> origin = {},
                   std::string_view data = "x") {
    upstream.notify("notifications/message",
                    fmt::format(R"({{"level":"{}","data":"{}"}})", level, data), origin);
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
    bool list_tools(Reply done) override {
      if (lists_tools) listings.push_back(std::move(done));
      return lists_tools;
    }
    bool cancel(const Client&, std::string_view raw_id) override {
      cancelled.emplace_back(raw_id);
      return true;
    }
    std::vector<std::function<void()>> later;
    Lines cancelled;
    std::string result = "{}";
    bool lists_tools = false;
    std::vector<Reply> listings;  ///< not done
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

/// Also with one client, and no session.
struct OneUnopened : RouterFixture {
  using RouterFixture::RouterFixture;
  FakeClient& client = connect();
};

/// A router with its session open.
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

inline std::uint64_t id_in(std::string_view line) {
  return to_unsigned(find_member(line, "id").value_or("0")).value_or(0);
}
/// The lines since the last call, without notices about the call that a question is about.
inline Lines take_but_notices(FakeClient& client) {
  Lines lines = client.take_lines();
  std::erase_if(lines, [](const std::string& line) { return contains(line, "question_about"); });
  return lines;
}
/// The id of the question in the only line of those; 0 if there was none.
inline std::uint64_t asked(FakeClient& client) {
  const Lines lines = take_but_notices(client);
  return lines.size() == 1 ? id_in(lines.front()) : 0;
}

}  // namespace bridge
