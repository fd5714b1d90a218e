// Modern clients' subscriptions/listen (BEHAVIOUR, "Eras: a modern client").
#include <doctest/doctest.h>

#include "router_fixture.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view changed = "notifications/tools/list_changed";
constexpr std::string_view tools = R"({"toolsListChanged":true})";

void listen(RouterFixture& t, const FakeClient& client, std::string_view id,
            std::string_view filter = tools) {
  t.modern(client, id, "subscriptions/listen", fmt::format(R"("notifications":{},)", filter));
}
void about_resource(RouterFixture& t, const FakeClient& client, std::string_view id,
                    std::string_view verb, std::string_view uri) {
  t.request(client, id, fmt::format("resources/{}", verb), fmt::format(R"({{"uri":"{}"}})", uri));
}
/// A notification on the bridge's own listen.
void tell_listen(RouterFixture& t, std::string_view method, std::string_view members = {}) {
  const UpstreamId own = t.upstream.id_of("subscriptions/listen");
  t.upstream.notify(method,
                    fmt::format(R"({{"_meta":{{"io.modelcontextprotocol/subscriptionId":{}}}{}}})",
                                value_of(own), members),
                    own);
}
void acknowledge_listen(RouterFixture& t, std::string_view filter) {
  tell_listen(t, "notifications/subscriptions/acknowledged",
              fmt::format(R"(,"notifications":{})", filter));
}

struct OneListen : OneClient {
  OneListen() {
    listen(*this, client, "1");
    client.take_lines();
  }
};

}  // namespace

TEST_CASE("a listen is acknowledged first, then told what waits for it and what comes, by its id") {
  OpenRouter t;
  t.upstream.notify(changed);
  t.upstream.notify("notifications/prompts/list_changed");
  FakeClient& client = t.connect();
  listen(t, client, R"("mine")", R"({"toolsListChanged":true,"promptsListChanged":true})");
  Lines lines = client.take_lines();
  REQUIRE(lines.size() == 2);
  CHECK(contains(lines[0], "notifications/subscriptions/acknowledged"));
  CHECK(contains(lines[0], R"("notifications":{"toolsListChanged":true})"));
  CHECK(contains(lines[1], changed));
  t.upstream.notify(changed);
  lines.push_back(client.take_line());
  for (const std::string& line : lines)
    CHECK(contains(line, R"("io.modelcontextprotocol/subscriptionId":"mine")"));
  CHECK(client.feed == RingFeed::none);
  CHECK(t.upstream.sent.empty());
}

TEST_CASE("each of two listens is told by itself, and one that is cancelled no more") {
  OneListen t;
  listen(t, t.client, "2");
  t.client.take_lines();
  t.upstream.notify(changed);
  CHECK(t.client.take_lines().size() == 2);
  t.cancel(t.client, "1");
  CHECK(t.client.not_answered == Lines{"1"});
  t.upstream.notify(changed);
  CHECK(contains(t.client.take_line(), R"(subscriptionId":2)"));
}

TEST_CASE("while a listen is open no other request of its client may have its id") {
  OneListen t;
  SUBCASE("not a second one") {
    listen(t, t.client, "1");
    CHECK(contains(t.client.take_line(), R"("id":1,"error":{"code":-32600)"));
  }
  SUBCASE("nor any other, in whatever way it is spelled") {
    listen(t, t.client, R"("a\/b")", "{}");
    t.client.take_lines();
    t.call(t.client, R"("a/b")");
    CHECK(contains(t.client.take_line(), "-32600"));
  }
  SUBCASE("and none takes the id of a request that is in flight") {
    t.call(t.client, "2");
    CHECK(t.upstream.count("tools/call") == 1);
    listen(t, t.client, "2", "{}");
    CHECK(contains(t.client.take_line(), "-32600"));
  }
  CHECK(t.router.listens() >= 1);
  t.upstream.notify(changed);
  CHECK(t.client.take_lines().size() == 1);
  FakeClient& other = t.connect();
  listen(t, other, "1", "{}");
  CHECK(contains(other.take_line(), "acknowledged"));
  t.cancel(t.client, "1");
  listen(t, t.client, "1");
  CHECK(contains(t.client.lines.front(), "acknowledged"));
}

TEST_CASE("a client leaves whose listens stand around that of another") {
  TwoClients t;
  constexpr std::string_view filter = R"({"toolsListChanged":true,"resourceSubscriptions":["a"]})";
  listen(t, t.client, "1", filter);
  listen(t, t.other, "1", filter);
  listen(t, t.client, "2", filter);
  t.leave(t.client);
  CHECK(t.router.listens() == 1);
  t.other.take_lines();
  t.upstream.notify(changed);
  CHECK(contains(t.other.take_line(), changed));
}

TEST_CASE("what leaves the ring before a listen comes to it is lost to its client, and counted") {
  OneClient t;
  listen(t, t.client, "1", R"({"resourceSubscriptions":["a"]})");
  t.congest(t.client);
  const std::size_t room = t.feed.ring().limits().entries;
  for (std::size_t i = 0; i < room + 3; ++i)
    t.upstream.notify("notifications/resources/updated", fmt::format(R"({{"uri":"{}"}})", i));
  CHECK(t.client.lost == 0);
  t.congest(t.client, false);
  CHECK(t.client.lost == 3);
}

TEST_CASE("a resource is subscribed once for all who listen, and left when the last is gone") {
  TwoClients t;
  listen(t, t.client, "1", R"({"resourceSubscriptions":["a"]})");
  listen(t, t.other, "1", R"({"resourceSubscriptions":["a","b"]})");
  CHECK(t.upstream.methods() == Lines{"resources/subscribe", "resources/subscribe"});
  t.upstream.notify("notifications/resources/updated", R"({"uri":"a"})");
  CHECK(t.client.lines.size() == 2);
  CHECK(t.other.lines.size() == 2);
  t.upstream.sent.clear();
  t.cancel(t.other, "1");
  CHECK(t.upstream.methods() == Lines{"resources/unsubscribe"});  // b
  t.leave(t.client);
  CHECK(t.upstream.sent.size() == 1);
  t.advance(5min);
  CHECK(t.upstream.methods() == Lines{"resources/unsubscribe", "resources/unsubscribe"});
}

std::string many(int count, std::string_view prefix) {
  std::string uris;
  for (int i = 0; i < count; ++i) uris += fmt::format(R"({}"{}{}")", i > 0 ? "," : "", prefix, i);
  return fmt::format(R"({{"resourceSubscriptions":[{}]}})", uris);
}

TEST_CASE("a large listen asks for a few resources at a time, and a call passes them") {
  TwoClients t;
  listen(t, t.client, "1", many(1000, "a"));
  CHECK(contains(t.client.take_line(), "acknowledged"));
  CHECK(t.upstream.count("resources/subscribe") == own_requests_at_once);
  t.call(t.other, "1", "t");
  CHECK(t.upstream.count("tools/call") == 1);
  for (std::size_t i = own_requests_at_once; i <= 1000; ++i) {
    CHECK(t.upstream.count("resources/subscribe") == i);
    t.upstream.answer(t.upstream.id_of("resources/subscribe"));
  }
  CHECK(t.upstream.count("resources/subscribe") == 1000);
  t.cancel(t.client, "1");
  CHECK(t.upstream.count("resources/unsubscribe") == 1);  // beside those not answered above
}

TEST_CASE("what a listen still waits for when the session is lost is left to the next session") {
  TwoClients t;
  listen(t, t.client, "1", many(100, "a"));
  const auto sent = t.upstream.sent;
  t.upstream.lose_session();
  for (const Outgoing& one : sent) {
    t.upstream.break_off(one.id, failure_of(ErrorKind::closed, Delivered::unknown, "gone"),
                         SessionVerdict::lost);
  }
  CHECK(t.router.in_flight() == 0);
}

TEST_CASE(
    "what a listen no longer names is not asked for, and a listen that names more is refused") {
  TwoClients t;
  listen(t, t.client, "1", many(1000, "a"));
  t.cancel(t.client, "1");
  listen(t, t.other, "2", many(1001, "b"));
  CHECK(contains(t.other.take_line(), "more than 1000"));
  for (std::size_t i = 0; i < t.upstream.sent.size(); ++i) {
    const UpstreamId id = t.upstream.sent[i].id;
    if (t.upstream.is_under_way(id)) t.upstream.answer(id);
  }
  CHECK(t.upstream.count("resources/subscribe") == own_requests_at_once);
  CHECK(t.upstream.count("resources/unsubscribe") == own_requests_at_once);
}

TEST_CASE("a listen and a legacy client's subscription leave a resource to one another") {
  for (const bool legacy_first : {true, false}) {
    CAPTURE(legacy_first);
    TwoClients t;
    about_resource(t, t.client, "1", "subscribe", "a");
    t.upstream.answer(t.upstream.id_of("resources/subscribe"));
    listen(t, t.other, "1", R"({"resourceSubscriptions":["a"]})");
    CHECK(t.upstream.count("resources/subscribe") == 1);
    for (const bool legacy : {legacy_first, !legacy_first}) {
      CHECK(t.upstream.count("resources/unsubscribe") == 0);
      if (legacy) about_resource(t, t.client, "2", "unsubscribe", "a");
      if (!legacy) t.cancel(t.other, "1");
    }
    CHECK(t.upstream.count("resources/unsubscribe") == 1);
  }
}

TEST_CASE("a modern server's listen is acknowledged as the server has acknowledged it") {
  constexpr std::string_view extension = R"({"extensions":{"com.example/x":{}}})";
  constexpr std::string_view lists = R"({"tools":{"listChanged":true}})";
  constexpr std::string_view members = R"({"a":["x"],"b":[1]})";
  struct Row {
    std::string_view capabilities, asked, acknowledged;
    bool refuses = false;
  };
  for (const Row& row : {Row{extension, members, R"({"a":["x"]})"}, Row{extension, members, ""},
                         Row{lists, tools, tools}, Row{lists, tools, "", true}}) {
    CAPTURE(row.asked);
    CAPTURE(row.acknowledged);
    RouterFixture t;
    t.open_modern(row.capabilities);
    FakeClient& client = t.connect();
    listen(t, client, "1", row.asked);
    t.advance(1s);
    CHECK(client.lines.empty());
    if (!row.acknowledged.empty()) {
      acknowledge_listen(t, row.acknowledged);
    } else if (row.refuses) {
      t.upstream.answer_error(t.upstream.id_of("subscriptions/listen"),
                              R"({"code":-32601,"message":"no"})");
    } else {
      t.advance(5s);
    }
    CHECK(contains(
        client.take_line(),
        fmt::format(R"("notifications":{})", row.acknowledged.empty() ? "{}" : row.acknowledged)));
  }
}

TEST_CASE("a subscription that is left before the server tells of it is answered all the same") {
  RouterFixture t;
  t.open_modern(R"({"resources":{"subscribe":true}})");
  FakeClient& client = t.connect();
  about_resource(t, client, "1", "subscribe", "a");
  CHECK(client.lines.empty());
  about_resource(t, client, "2", "unsubscribe", "a");
  CHECK(client.answered == Lines{"1", "2"});
}

TEST_CASE("who does not read is told no more than what it can hold, and the rest later") {
  OneListen t;
  t.congest(t.client);
  for (int i = 0; i < 10; ++i) t.upstream.notify(changed);
  CHECK(t.client.lines.empty());
  t.congest(t.client, false);
  CHECK(t.client.lines.size() == 10);
}

TEST_CASE("at the daemon's end each listen is answered") {
  OneListen t;
  t.in_turn([&] { t.router.begin_shutdown(); });
  CHECK(t.client.answered == Lines{"1"});
  CHECK(contains(t.client.take_line(), R"("resultType":"complete")"));
}

TEST_CASE("a filter that is none is refused") {
  OneClient t;
  for (const std::string_view filter : {"7", "[]", R"({"resourceSubscriptions":"a"})"}) {
    CAPTURE(filter);
    listen(t, t.client, "1", filter);
    CHECK(contains(t.client.take_line(), "-32602"));
  }
  CHECK(t.router.listens() == 0);
}

TEST_CASE("listens are bounded") {
  OneClient t;
  for (int i = 0; i < 65; ++i) listen(t, t.client, std::to_string(i), "{}");
  CHECK(t.router.listens() == 64);
  CHECK(contains(t.client.lines.back(), "overloaded"));
  t.leave(t.client);
  CHECK(t.router.listens() == 0);
}

TEST_CASE("a modern client is answered what its revision asks for") {
  OneClient t;
  t.modern(t.client, "9", "server/discover");
  CHECK(contains(t.client.take_line(), R"("supportedVersions":["2026-07-28"])"));
  for (const std::string_view removed : {"ping", "initialize", "logging/setLevel"}) {
    CAPTURE(removed);
    t.modern(t.client, "9", removed);
    CHECK(contains(t.client.take_line(), "-32601"));
  }
  t.request(
      t.client, "1", "tools/list",
      R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}}})");
  CHECK(contains(t.client.take_line(), R"("code":-32022)"));
  t.request(t.client, "1", "tools/list",
            R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}})");
  CHECK(contains(t.client.take_line(), "-32602"));
  t.modern(t.client, "9", "tools/list");
  CHECK_FALSE(contains(t.upstream.last("tools/list").body, "_meta"));
  t.upstream.answer(t.upstream.id_of("tools/list"), R"({"tools":[]})");
  const std::string answer = t.client.take_line();
  for (const std::string_view member : {R"("resultType":"complete")", R"("ttlMs":0)", "cacheScope"})
    CHECK(contains(answer, member));
}

TEST_CASE("the log level of a modern request is its own") {
  OneClient t;
  t.modern(t.client, "1", "tools/call", R"("name":"x",)", "{}",
           R"("io.modelcontextprotocol/logLevel":"error",)");
  for (const std::string_view level : {"debug", "error", "emergency"})
    t.log_message(level, t.id_of_call("x"));
  CHECK(t.client.take_lines().size() == 2);
}

TEST_CASE("what a client was fed before it showed to be a modern one is given back") {
  OneClient t;
  CHECK(t.client.feed == RingFeed::takes);
  t.modern(t.client, "1", "tools/list");
  CHECK(t.client.feed == RingFeed::none);
  CHECK(t.client.gave_back == 1);
  t.initialize(t.client, "2");
  CHECK(t.client.feed == RingFeed::takes);
}

TEST_CASE("what has no revision of its own makes a modern client no other") {
  for (const char* bare :
       {R"({"jsonrpc":"2.0","id":7,"result":{}})",
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})",
        R"({"jsonrpc":"2.0","method":"bridge/answers","params":{"methods":[]}})"}) {
    OneClient t;
    t.modern(t.client, "9", "server/discover");
    t.client.feed = RingFeed::none;
    t.send(t.client, bare);
    CHECK(t.client.feed == RingFeed::none);
    t.request(t.client, "8", "tools/list");
    CHECK(t.client.feed == RingFeed::takes);  // a request changes that
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
    t.answer_probe("{}");
    client.take_lines();
    for (const int levels : {1000, 1020, 1021, 1022}) {
      t.initialize(client, "2", nested(levels));
      t.request(client, "4", "logging/setLevel", fmt::format(R"({{"level":{}}})", nested(levels)));
      const std::size_t before = t.upstream.count("tools/call");
      t.call(client, "3");
      CHECK(t.upstream.count("tools/call") == before + 1);
    }
  }
  SUBCASE("an error of a legacy upstream for a modern client") {
    OneClient t;
    for (const int levels : {1010, 1017, 1018, 1019}) {
      t.modern(t.client, "9", "tools/list");
      t.upstream.answer_error(
          t.upstream.id_of("tools/list"),
          fmt::format(R"({{"code":-32042,"message":"m","data":{{"elicitations":[{}]}}}})",
                      nested(levels)));
      CHECK(t.client.take_lines().size() == 1);
    }
  }
  SUBCASE("a notification in an answer of the bridge's own") {
    OneClient t;
    t.control.result = nested(1024);
    t.modern(t.client, "9", "bridge/notifications");
    CHECK(t.client.take_lines().size() == 1);
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
    answer_probe(R"({"tools":{"listChanged":true}})");
    listen(*this, modern_client, "1");
    advance(1s);
    acknowledge_listen(*this, tools);
    CHECK(contains(modern_client.take_line(), "acknowledged"));
  }
  FakeClient& modern_client = connect();
};

}  // namespace

TEST_CASE("beside a legacy session a listen is told what the modern side tells, not the ring") {
  BesideALegacySession t;
  CHECK(contains(t.upstream.last("subscriptions/listen").body, tools));
  tell_listen(t, changed);
  CHECK(contains(t.modern_client.take_line(), changed));
  CHECK(t.feed.ring().newest() == Sequence{});
  t.upstream.notify(changed);
  CHECK(t.feed.ring().newest() == Sequence{1});
  CHECK(t.modern_client.lines.empty());
}

TEST_CASE("a client that did not read what the modern side told is told that it may have changed") {
  BesideALegacySession t;
  t.modern_client.is_congested = true;
  tell_listen(t, changed);
  tell_listen(t, changed);
  CHECK(t.modern_client.lines.empty());
  t.congest(t.modern_client, false);
  CHECK(contains(t.modern_client.take_line(), changed));
  t.congest(t.modern_client, false);
  CHECK(t.modern_client.lines.empty());  // once
}

TEST_CASE(
    "a change while the legacy session is being opened fills the ring once, by either session") {
  RouterFixture t;
  t.upstream.modern_possible = true;
  t.in_turn([&] { t.session.require(Era::modern); });
  t.answer_probe();
  t.advance(1s);
  acknowledge_listen(t, tools);
  const auto in_modern = [&](std::string_view method = changed) { tell_listen(t, method); };
  const auto in_legacy = [&](std::string_view method = changed) { t.upstream.notify(method); };
  const auto count = [&] { return value_of(t.feed.ring().newest()); };
  t.in_turn([&] { t.session.require(Era::legacy); });
  REQUIRE_FALSE(t.session.side(Era::legacy).is_open());
  in_legacy();
  CHECK(count() == 1);
  in_modern();
  CHECK(count() == 1);
  in_modern();
  in_modern();
  CHECK(count() == 3);
  in_legacy();
  in_legacy();
  CHECK(count() == 3);
  in_legacy();  // its copy comes too late
  CHECK(count() == 4);
  in_modern("notifications/other");
  in_legacy("notifications/another");
  CHECK(count() == 6);
  in_modern("notifications/prompts/list_changed");
  CHECK(count() == 7);
  in_legacy("notifications/prompts/list_changed");
  CHECK(count() == 7);
  t.let_it_open();
  in_modern();
  in_legacy();
  CHECK(count() == 8);
}

TEST_CASE("a change in the next attempt to open the legacy session is no copy of one before") {
  RouterFixture t;
  t.upstream.modern_possible = true;
  t.in_turn([&] { t.session.require(Era::modern); });
  t.answer_probe();
  t.advance(1s);
  acknowledge_listen(t, tools);
  t.in_turn([&] { t.session.require(Era::legacy); });
  tell_listen(t, changed);
  CHECK(value_of(t.feed.ring().newest()) == 1);
  t.upstream.fail(t.upstream.id_of("initialize"),
                  failure_of(ErrorKind::http, Delivered::no, "HTTP 503"));
  t.in_turn([&] { t.session.require(Era::legacy); });
  t.advance(1s);
  REQUIRE(t.upstream.count("initialize") == 2);
  t.upstream.notify(changed);
  CHECK(value_of(t.feed.ring().newest()) == 2);
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
