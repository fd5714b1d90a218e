// Modern clients' subscriptions/listen.
#include <doctest/doctest.h>

#include "router_fixture.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view meta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";
constexpr std::string_view changed = "notifications/tools/list_changed";

struct Open : RouterFixture {
  Open() {
    in_turn([this] { session.require(); });
    upstream.answer(
        upstream.id_of("initialize"),
        R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true}}})");
    upstream.server_stream(ServerStream::open);
    upstream.finish(upstream.id_of("notifications/initialized"));
    REQUIRE(session.is_open());
    upstream.sent.clear();
  }
  void listen(const FakeClient& client, std::string_view id, std::string_view filter) {
    send(
        client,
        fmt::format(
            R"({{"jsonrpc":"2.0","id":{},"method":"subscriptions/listen","params":{{{},"notifications":{}}}}})",
            id, meta, filter));
  }
  /// A legacy client that has subscribed to a resource.
  FakeClient& connect_subscribed(std::string_view uri) {
    FakeClient& client = connect();
    send(client,
         fmt::format(
             R"({{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{{"uri":"{}"}}}})",
             uri));
    upstream.answer(upstream.id_of("resources/subscribe"));
    return client;
  }
  void modern(const FakeClient& client, std::string_view method) {
    send(client,
         fmt::format(R"({{"jsonrpc":"2.0","id":9,"method":"{}","params":{{{}}}}})", method, meta));
  }
  void happens(std::string_view method, std::string_view params = "{}") {
    upstream.say(fmt::format(R"({{"jsonrpc":"2.0","method":"{}","params":{}}})", method, params));
  }
  void updated(std::string_view uri) {
    happens("notifications/resources/updated", fmt::format(R"({{"uri":"{}"}})", uri));
  }
};

bool has(const std::string& line, std::string_view part) {
  return line.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a listen is acknowledged first, then told what waits for it and what comes, by its id") {
  Open t;
  t.happens(changed);
  t.happens("notifications/prompts/list_changed");
  FakeClient& client = t.connect();
  t.listen(client, R"("mine")", R"({"toolsListChanged":true,"promptsListChanged":true})");
  Lines lines = client.take_lines();
  REQUIRE(lines.size() == 2);
  CHECK(has(lines[0], "notifications/subscriptions/acknowledged"));
  CHECK(has(lines[0], R"("notifications":{"toolsListChanged":true})"));
  CHECK(has(lines[1], changed));
  t.happens(changed);
  lines.push_back(client.take_line());
  for (const std::string& line : lines)
    CHECK(has(line, R"("io.modelcontextprotocol/subscriptionId":"mine")"));
  CHECK(client.feed == RingFeed::none);
  CHECK(t.upstream.sent.empty());
}

TEST_CASE("each of two listens is told by itself, and one that is cancelled no more") {
  Open t;
  FakeClient& client = t.connect();
  t.listen(client, "1", R"({"toolsListChanged":true})");
  t.listen(client, "2", R"({"toolsListChanged":true})");
  client.take_lines();
  t.happens(changed);
  CHECK(client.take_lines().size() == 2);
  t.cancel(client, "1");
  CHECK(client.not_answered == Lines{"1"});
  t.happens(changed);
  CHECK(has(client.take_line(), R"(subscriptionId":2)"));
}

TEST_CASE("while a listen is open no other request of its client may have its id") {
  Open t;
  FakeClient& client = t.connect();
  t.listen(client, "1", R"({"toolsListChanged":true})");
  client.take_lines();
  SUBCASE("not a second one") {
    t.listen(client, "1", R"({"toolsListChanged":true})");
    CHECK(has(client.take_line(), R"("id":1,"error":{"code":-32600)"));
  }
  SUBCASE("nor any other, in whatever way it is spelled") {
    t.listen(client, R"("a\/b")", "{}");
    client.take_lines();
    t.send(client, R"({"jsonrpc":"2.0","id":"a/b","method":"tools/call","params":{"name":"t"}})");
    CHECK(has(client.take_line(), "-32600"));
  }
  SUBCASE("and none takes the id of a request that is in flight") {
    t.send(client, R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t"}})");
    CHECK(t.upstream.count("tools/call") == 1);
    t.listen(client, "2", "{}");
    CHECK(has(client.take_line(), "-32600"));
  }
  CHECK(t.router.listens() >= 1);
  t.happens(changed);
  CHECK(client.take_lines().size() == 1);
  FakeClient& other = t.connect();
  t.listen(other, "1", "{}");
  CHECK(has(other.take_line(), "acknowledged"));
  t.cancel(client, "1");
  t.listen(client, "1", R"({"toolsListChanged":true})");
  CHECK(has(client.lines.front(), "acknowledged"));
}

TEST_CASE("a resource is subscribed once for all who listen, and left when the last is gone") {
  Open t;
  FakeClient& one = t.connect();
  FakeClient& two = t.connect();
  t.listen(one, "1", R"({"resourceSubscriptions":["a"]})");
  t.listen(two, "1", R"({"resourceSubscriptions":["a","b"]})");
  CHECK(t.upstream.methods() == Lines{"resources/subscribe", "resources/subscribe"});
  t.updated("a");
  CHECK(one.lines.size() == 2);
  CHECK(two.lines.size() == 2);
  t.upstream.sent.clear();
  t.cancel(two, "1");
  CHECK(t.upstream.methods() == Lines{"resources/unsubscribe"});  // b
  t.leave(one);
  CHECK(t.upstream.sent.size() == 1);
  t.advance(5min);
  CHECK(t.upstream.methods() == Lines{"resources/unsubscribe", "resources/unsubscribe"});
}

TEST_CASE("what a legacy client has subscribed stays when nobody listens any more") {
  Open t;
  t.connect_subscribed("a");
  FakeClient& modern = t.connect();
  t.listen(modern, "1", R"({"resourceSubscriptions":["a"]})");
  CHECK(t.upstream.count("resources/subscribe") == 1);
  t.cancel(modern, "1");
  CHECK(t.upstream.count("resources/unsubscribe") == 0);
}

TEST_CASE("a legacy client that unsubscribes leaves a listen what it listens for") {
  Open t;
  FakeClient& legacy = t.connect_subscribed("a");
  FakeClient& modern = t.connect();
  t.listen(modern, "1", R"({"resourceSubscriptions":["a"]})");
  t.send(legacy,
         R"({"jsonrpc":"2.0","id":2,"method":"resources/unsubscribe","params":{"uri":"a"}})");
  CHECK(t.upstream.count("resources/unsubscribe") == 0);
  t.cancel(modern, "1");
  CHECK(t.upstream.count("resources/unsubscribe") == 1);
}

TEST_CASE("a member of an extension is acknowledged if the server has acknowledged it") {
  RouterFixture t;
  t.be_modern();
  t.upstream.answer(
      t.upstream.id_of("server/discover"),
      R"({"supportedVersions":["2026-07-28"],"capabilities":{"extensions":{"com.example/x":{}}}})");
  const auto acknowledges = [&](std::string_view filter) {
    const UpstreamId id = t.upstream.id_of("subscriptions/listen");
    t.upstream.say(
        fmt::format(
            R"({{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{}}},"notifications":{}}}}})",
            value_of(id), filter),
        id);
  };
  FakeClient& client = t.connect();
  t.send(
      client,
      fmt::format(
          R"({{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{{{},"notifications":{{"a":["x"],"b":[1]}}}}}})",
          meta));
  t.advance(1s);
  CHECK(client.lines.empty());
  SUBCASE("once it says so") {
    acknowledges(R"({"a":["x"]})");
    CHECK(has(client.take_line(), R"("notifications":{"a":["x"]})"));
  }
  SUBCASE("and by none if it says nothing for 5 s") {
    t.advance(5s);
    CHECK(has(client.take_line(), R"("notifications":{})"));
  }
}

TEST_CASE("a listen for lists alone is acknowledged when the server has said what it tells of") {
  RouterFixture t;
  t.be_modern();
  t.upstream.answer(
      t.upstream.id_of("server/discover"),
      R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}}})");
  FakeClient& client = t.connect();
  t.send(
      client,
      fmt::format(
          R"({{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{{{},"notifications":{{"toolsListChanged":true}}}}}})",
          meta));
  t.advance(1s);
  CHECK(client.lines.empty());
  const UpstreamId listen = t.upstream.id_of("subscriptions/listen");
  SUBCASE("it does") {
    t.upstream.say(
        fmt::format(
            R"({{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{}}},"notifications":{{"toolsListChanged":true}}}}}})",
            value_of(listen)),
        listen);
    CHECK(has(client.take_line(), R"("notifications":{"toolsListChanged":true})"));
  }
  SUBCASE("it refuses") {
    t.upstream.say(
        fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{{"code":-32601,"message":"no"}}}})",
                    value_of(listen)),
        listen);
    CHECK(has(client.take_line(), R"("notifications":{})"));
  }
}

TEST_CASE("a subscription that is left before the server tells of it is answered all the same") {
  RouterFixture t;
  t.be_modern();
  t.upstream.answer(
      t.upstream.id_of("server/discover"),
      R"({"supportedVersions":["2026-07-28"],"capabilities":{"resources":{"subscribe":true}}})");
  FakeClient& client = t.connect();
  const auto asks = [&](int id, std::string_view method) {
    t.send(client,
           fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{{"uri":"a"}}}})", id,
                       method));
  };
  asks(1, "resources/subscribe");
  CHECK(client.lines.empty());
  asks(2, "resources/unsubscribe");
  CHECK(client.answered == Lines{"1", "2"});
}

TEST_CASE("who does not read is told no more than what it can hold, and the rest later") {
  Open t;
  FakeClient& client = t.connect();
  t.listen(client, "1", R"({"toolsListChanged":true})");
  client.take_lines();
  client.is_congested = true;
  t.in_turn([&] { t.router.client_congestion(client.identity().id, true); });
  for (int i = 0; i < 10; ++i) t.happens(changed);
  CHECK(client.lines.empty());
  client.is_congested = false;
  t.in_turn([&] { t.router.client_congestion(client.identity().id, false); });
  CHECK(client.lines.size() == 10);
}

TEST_CASE("at the daemon's end each listen is answered") {
  Open t;
  FakeClient& client = t.connect();
  t.listen(client, "1", R"({"toolsListChanged":true})");
  client.take_lines();
  t.in_turn([&] { t.router.begin_shutdown(); });
  CHECK(client.answered == Lines{"1"});
  CHECK(has(client.take_line(), R"("resultType":"complete")"));
}

TEST_CASE("a filter that is none is refused") {
  Open t;
  FakeClient& client = t.connect();
  for (const std::string_view filter : {"7", "[]", R"({"resourceSubscriptions":"a"})"}) {
    CAPTURE(filter);
    t.listen(client, "1", filter);
    CHECK(has(client.take_line(), "-32602"));
  }
  CHECK(t.router.listens() == 0);
}

TEST_CASE("listens are bounded") {
  Open t;
  FakeClient& client = t.connect();
  for (int i = 0; i < 65; ++i) t.listen(client, std::to_string(i), "{}");
  CHECK(t.router.listens() == 64);
  CHECK(has(client.lines.back(), "overloaded"));
  t.leave(client);
  CHECK(t.router.listens() == 0);
}

TEST_CASE("a modern client is answered what its revision asks for") {
  Open t;
  FakeClient& client = t.connect();
  t.modern(client, "server/discover");
  CHECK(has(client.take_line(), R"("supportedVersions":["2026-07-28"])"));
  for (const std::string_view removed : {"ping", "initialize", "logging/setLevel"}) {
    CAPTURE(removed);
    t.modern(client, removed);
    CHECK(has(client.take_line(), "-32601"));
  }
  t.send(
      client,
      R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}}}})");
  CHECK(has(client.take_line(), R"("code":-32022)"));
  t.send(
      client,
      R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})");
  CHECK(has(client.take_line(), "-32602"));
  t.modern(client, "tools/list");
  CHECK_FALSE(has(t.upstream.last("tools/list").body, "_meta"));
  t.upstream.answer(t.upstream.id_of("tools/list"), R"({"tools":[]})");
  const std::string answer = client.take_line();
  for (const std::string_view member : {R"("resultType":"complete")", R"("ttlMs":0)", "cacheScope"})
    CHECK(has(answer, member));
}

TEST_CASE("the log level of a modern request is its own") {
  Open t;
  FakeClient& client = t.connect();
  t.send(
      client,
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"error"}}})");
  const UpstreamId call = t.upstream.id_of("tools/call");
  for (const std::string_view level : {"debug", "error", "emergency"}) {
    t.upstream.say(
        fmt::format(
            R"({{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"{}","data":1}}}})",
            level),
        call);
  }
  CHECK(client.take_lines().size() == 2);
}

TEST_CASE("what a client was fed before it showed to be a modern one is given back") {
  Open t;
  FakeClient& client = t.connect();
  CHECK(client.feed == RingFeed::takes);
  t.modern(client, "tools/list");
  CHECK(client.feed == RingFeed::none);
  CHECK(client.gave_back == 1);
  t.initialize(client, "2");
  CHECK(client.feed == RingFeed::takes);
}

TEST_CASE("what has no revision of its own makes a modern client no other") {
  for (const char* bare :
       {R"({"jsonrpc":"2.0","id":7,"result":{}})",
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})",
        R"({"jsonrpc":"2.0","method":"bridge/answers","params":{"methods":[]}})"}) {
    Open t;
    FakeClient& client = t.connect();
    t.modern(client, "server/discover");
    client.feed = RingFeed::none;
    t.send(client, bare);
    CHECK(client.feed == RingFeed::none);
    t.send(client, R"({"jsonrpc":"2.0","id":8,"method":"tools/list"})");
    CHECK(client.feed == RingFeed::takes);  // a request changes that
  }
}

TEST_CASE("what is nested as deeply as can be stays harmless where it is translated") {
  const auto nested = [](int levels) {
    std::string text;
    for (int i = 0; i < levels; ++i) text += R"({"a":)";
    return text + "1" + std::string(static_cast<std::size_t>(levels), '}');
  };
  SUBCASE("the capabilities of an initialize, before a modern upstream") {
    RouterFixture t;
    t.upstream.modern_possible = true;
    FakeClient& client = t.connect();
    t.initialize(client, "1", nested(1000));
    t.refuse_initialize();
    t.upstream.answer(t.upstream.id_of("server/discover"),
                      R"({"supportedVersions":["2026-07-28"],"capabilities":{}})");
    client.take_lines();
    for (const int levels : {1000, 1020, 1021, 1022}) {
      t.initialize(client, "2", nested(levels));
      t.send(
          client,
          fmt::format(
              R"({{"jsonrpc":"2.0","id":4,"method":"logging/setLevel","params":{{"level":{}}}}})",
              nested(levels)));
      const std::size_t before = t.upstream.count("tools/call");
      t.call(client, "3");
      CHECK(t.upstream.count("tools/call") == before + 1);
    }
  }
  SUBCASE("an error of a legacy upstream for a modern client") {
    Open t;
    FakeClient& client = t.connect();
    for (const int levels : {1010, 1017, 1018, 1019}) {
      t.modern(client, "tools/list");
      t.upstream.answer_error(
          t.upstream.id_of("tools/list"),
          fmt::format(R"({{"code":-32042,"message":"m","data":{{"elicitations":[{}]}}}})",
                      nested(levels)));
      CHECK(client.take_lines().size() == 1);
    }
  }
  SUBCASE("a notification in an answer of the bridge's own") {
    Open t;
    FakeClient& client = t.connect();
    t.control.result = nested(1024);
    t.modern(client, "bridge/notifications");
    CHECK(client.take_lines().size() == 1);
  }
}

namespace {

/// A server of both eras, with both sessions open, and a modern client that listens.
struct BesideALegacySession : RouterFixture {
  BesideALegacySession() {
    upstream.modern_possible = true;
    in_turn([this] { session.require(Era::legacy); });
    let_it_open();
    in_turn([this] { session.require(Era::modern); });
    upstream.answer(
        upstream.id_of("server/discover"),
        R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}}})");
    listen(modern, "1");
    advance(1s);
    acknowledge();
    CHECK(has(modern.take_line(), "acknowledged"));
  }
  void listen(const FakeClient& client, std::string_view id) {
    send(
        client,
        fmt::format(
            R"({{"jsonrpc":"2.0","id":{},"method":"subscriptions/listen","params":{{{},"notifications":{{"toolsListChanged":true}}}}}})",
            id, meta));
  }
  UpstreamId own_listen() const { return upstream.id_of("subscriptions/listen"); }
  void on_listen(std::string_view method, std::string_view params = "") {
    upstream.say(
        fmt::format(
            R"({{"jsonrpc":"2.0","method":"{}","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{}}}{}}}}})",
            method, value_of(own_listen()), params),
        own_listen());
  }
  void acknowledge() {
    on_listen("notifications/subscriptions/acknowledged",
              R"(,"notifications":{"toolsListChanged":true})");
  }
  FakeClient& modern = connect();
};

}  // namespace

TEST_CASE("beside a legacy session a listen is told what the modern side tells, not the ring") {
  BesideALegacySession t;
  CHECK(has(t.upstream.last("subscriptions/listen").body, R"({"toolsListChanged":true})"));
  t.on_listen(changed);
  CHECK(has(t.modern.take_line(), changed));
  CHECK(t.feed.ring().newest() == Sequence{});
  t.upstream.say(fmt::format(R"({{"jsonrpc":"2.0","method":"{}"}})", changed));
  CHECK(t.feed.ring().newest() == Sequence{1});
  CHECK(t.modern.lines.empty());
}

TEST_CASE("a client that did not read what the modern side told is told that it may have changed") {
  BesideALegacySession t;
  t.modern.is_congested = true;
  t.on_listen(changed);
  t.on_listen(changed);
  CHECK(t.modern.lines.empty());
  t.modern.is_congested = false;
  t.in_turn([&] { t.router.client_congestion(t.modern.identity().id, false); });
  CHECK(has(t.modern.take_line(), changed));
  CHECK(t.modern.lines.empty());
  t.in_turn([&] { t.router.client_congestion(t.modern.identity().id, false); });
  CHECK(t.modern.lines.empty());  // once
}

TEST_CASE(
    "a change while the legacy session is being opened fills the ring once, by either session") {
  RouterFixture t;
  t.upstream.modern_possible = true;
  t.in_turn([&] { t.session.require(Era::modern); });
  t.answer_probe();
  t.advance(1s);
  const UpstreamId listen = t.upstream.id_of("subscriptions/listen");
  const auto in_modern = [&](std::string_view method, std::string_view params = "") {
    t.upstream.say(
        fmt::format(
            R"({{"jsonrpc":"2.0","method":"{}","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{}}}{}}}}})",
            method, value_of(listen), params),
        listen);
  };
  const auto in_legacy = [&] {
    t.upstream.say(fmt::format(R"({{"jsonrpc":"2.0","method":"{}"}})", changed));
  };
  const auto count = [&] { return value_of(t.feed.ring().newest()); };
  in_modern("notifications/subscriptions/acknowledged",
            R"(,"notifications":{"toolsListChanged":true})");
  t.in_turn([&] { t.session.require(Era::legacy); });
  REQUIRE_FALSE(t.session.is_open(Era::legacy));
  in_legacy();
  CHECK(count() == 1);
  in_modern(changed);
  CHECK(count() == 1);
  in_modern(changed);
  in_modern(changed);
  CHECK(count() == 3);
  in_legacy();
  in_legacy();
  CHECK(count() == 3);
  in_legacy();  // its copy comes too late
  CHECK(count() == 4);
  t.let_it_open();
  in_modern(changed);
  in_legacy();
  CHECK(count() == 5);
}

TEST_CASE("the bridge listens for itself only while there is no legacy session") {
  RouterFixture t;
  t.upstream.modern_possible = true;
  t.in_turn([&] { t.session.require(Era::modern); });
  t.answer_probe();
  t.advance(1s);
  CHECK(t.upstream.count("subscriptions/listen") == 1);
  CHECK(t.upstream.is_under_way(t.upstream.id_of("subscriptions/listen")));
  t.in_turn([&] { t.session.require(Era::legacy); });
  t.let_it_open();
  t.advance(2s);
  CHECK(t.upstream.count("subscriptions/listen") == 1);
  CHECK_FALSE(t.upstream.is_under_way(t.upstream.id_of("subscriptions/listen")));
}
