// The bridge's own subscriptions/listen at a modern upstream (BEHAVIOUR, "Eras: the listen
// stream").
#include "session/upstream_listen.hpp"

#include <doctest/doctest.h>

#include <string>

#include "session_fixture.hpp"

using namespace bridge;
using namespace std::chrono_literals;
using bridge::StreamOverlap;
using bridge::UpstreamId;

namespace {

constexpr std::string_view listening = "subscriptions/listen";

SubscriptionFilter of(std::initializer_list<std::string> uris) {
  SubscriptionFilter filter;
  filter.tools_list_changed = true;
  for (const std::string& uri : uris) filter.resources.insert(uri);
  return filter;
}

struct Listening : SessionFixture {
  Listening() {
    upstream.modern_possible = true;
    events.side = Era::modern;
    want({});
    require();
    upstream.answer(upstream.id_of("server/discover"),
                    R"({"supportedVersions":["2026-07-28"],"capabilities":{}})");
    REQUIRE(session.is_open());
    REQUIRE(upstream.count(listening) == 1);
  }
  void want(std::initializer_list<std::string> uris) {
    in_turn([&] { session.stateless().listen_for(of(uris), "{}"); });
  }
  UpstreamId stream() const { return upstream.id_of(listening); }
  void tell(UpstreamId on, std::string_view method, std::string_view params = "") {
    upstream.say(
        fmt::format(
            R"({{"jsonrpc":"2.0","method":"{}","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{}}}{}}}}})",
            method, value_of(on), params),
        on);
  }
  void acknowledge(UpstreamId on) {
    tell(on, "notifications/subscriptions/acknowledged", R"(,"notifications":{})");
  }
  void changed(UpstreamId on) { tell(on, "notifications/tools/list_changed"); }
  ServerStream state() const { return session.shown().record().server_stream; }
};

}  // namespace

TEST_CASE("it is opened with the session, and is open, without a deadline, when acknowledged") {
  Listening t;
  CHECK(t.upstream.last(listening).stays_open);
  CHECK_FALSE(t.upstream.last(listening).endless);
  CHECK_FALSE(t.upstream.last(listening).may_repeat);
  CHECK(t.upstream.lifted.empty());
  CHECK(t.state() == ServerStream::waiting);
  t.acknowledge(t.stream());
  CHECK(t.state() == ServerStream::open);
  REQUIRE_FALSE(t.upstream.lifted.empty());
  CHECK(t.upstream.lifted.back() == t.stream());
  CHECK(t.events.messages.empty());
}

TEST_CASE("what comes on it is the session's own, without its subscription") {
  Listening t;
  t.acknowledge(t.stream());
  t.changed(t.stream());
  REQUIRE(t.events.messages.size() == 1);
  CHECK(t.events.messages.front().find("subscriptionId") == std::string::npos);
}

TEST_CASE(
    "another filter opens a stream before the old one is closed, and what comes on both comes once") {
  Listening t;
  const UpstreamId old = t.stream();
  t.acknowledge(old);
  t.advance(1s);
  t.want({"a"});
  t.advance(1ms);
  const UpstreamId next = t.stream();
  REQUIRE(next != old);
  CHECK(t.upstream.is_under_way(old));
  t.changed(old);  // before the new one is acknowledged
  CHECK(t.events.messages.size() == 1);
  t.acknowledge(next);
  CHECK(t.upstream.is_under_way(old));
  t.changed(old);
  t.changed(next);
  CHECK(t.events.messages.size() == 2);
  t.changed(next);  // the one before the acknowledgement, or another: then it comes on both
  t.changed(old);
  CHECK(t.events.messages.size() == 3);
  t.advance(251ms);
  CHECK_FALSE(t.upstream.is_under_way(old));
  CHECK(t.upstream.is_under_way(next));
}

namespace {

/// One stream is replaced by another, which is acknowledged.
struct Replaced : Listening {
  Replaced() {
    old = stream();
    acknowledge(old);
    advance(1s);
    want({"a"});
    advance(1ms);
    next = stream();
    REQUIRE(next != old);
    acknowledge(next);
  }
  void updated(UpstreamId on, int number) {
    tell(on, "notifications/resources/updated", fmt::format(R"(,"uri":"u:{}")", number));
  }
  bool is_old_open() const { return upstream.is_under_way(old); }

  UpstreamId old{};
  UpstreamId next{};
};

}  // namespace

TEST_CASE("the old stream is read while it delivers what the new one does not") {
  Replaced t;
  for (int i = 0; i < 6; ++i) {
    t.advance(249ms);
    t.updated(t.old, i);
    CHECK(t.is_old_open());
  }
  CHECK(t.events.messages.size() == 6);
  SUBCASE("until it is silent") { t.advance(501ms); }
  SUBCASE("until the new one delivers the same") {
    t.updated(t.next, 5);
    t.updated(t.next, 6);
    t.updated(t.old, 6);
    CHECK(t.events.messages.size() == 7);
    t.advance(100ms);
  }
  SUBCASE("but for some seconds only") {
    for (int i = 6; i < 12; ++i) {
      t.advance(249ms);
      if (t.is_old_open()) t.updated(t.old, i);
    }
  }
  CHECK_FALSE(t.is_old_open());
  CHECK(t.upstream.is_under_way(t.next));
}

TEST_CASE("a daemon that was not run meanwhile reads the old stream before it closes it") {
  Replaced t;
  t.clock.advance(10s);  // what has come by now was not received
  t.in_turn([&] { t.loop.run_due(); });
  REQUIRE(t.is_old_open());
  for (int i = 0; i < 83; ++i) t.updated(t.old, i);
  CHECK(t.events.messages.size() == 83);
  t.advance(1ms);
  CHECK(t.is_old_open());  // more may have come
  t.advance(251ms);
  CHECK_FALSE(t.is_old_open());
}

TEST_CASE("another filter waits until the old stream is read") {
  Replaced t;
  for (int i = 0; i < 5; ++i) {
    t.advance(200ms);
    t.updated(t.old, i);
  }
  t.want({"b"});
  t.advance(200ms);
  t.updated(t.old, 5);
  CHECK(t.stream() == t.next);
  CHECK(t.is_old_open());
  SUBCASE("or has ended") { t.upstream.finish(t.old); }
  t.advance(502ms);
  CHECK(t.stream() != t.next);
  CHECK_FALSE(t.is_old_open());
}

TEST_CASE("what came before the new stream was acknowledged does not come again on it") {
  Listening t;
  const UpstreamId old = t.stream();
  t.acknowledge(old);
  t.advance(1s);
  t.changed(old);  // before the new one was requested: not on it
  t.want({"a"});
  t.advance(1ms);
  const UpstreamId next = t.stream();
  REQUIRE(next != old);
  t.changed(old);
  t.acknowledge(next);
  CHECK(t.events.messages.size() == 2);
  SUBCASE("nor after the old one has ended") { t.upstream.finish(old); }
  SUBCASE("nor while a third one is asked for") {
    t.advance(100ms);
    t.want({"a", "b"});
    t.advance(1s);
    t.changed(next);  // not delivered yet on the third
    t.acknowledge(t.stream());
    t.changed(t.stream());
    CHECK(t.events.messages.size() == 3);
    return;
  }
  t.changed(next);
  CHECK(t.events.messages.size() == 2);
  t.changed(next);
  CHECK(t.events.messages.size() == 3);
}

TEST_CASE("at most two openings a second, however often the filter changes") {
  Listening t;
  t.acknowledge(t.stream());
  t.want({});  // the same
  t.advance(10s);
  CHECK(t.upstream.count(listening) == 1);
  for (int i = 0; i < 100; ++i) {
    t.want({std::to_string(i)});
    t.advance(10ms);
  }
  CHECK(t.upstream.count(listening) <= 3);
}

TEST_CASE("however it ends it is opened again, and then what it was for counts as changed") {
  for (const int how : {0, 1, 2}) {
    CAPTURE(how);
    Listening t;
    const UpstreamId first = t.stream();
    t.acknowledge(first);
    t.advance(10s);
    if (how == 0) t.upstream.answer(first, R"({"resultType":"complete"})");
    if (how == 1) t.upstream.finish(first, true);
    if (how == 2) {
      t.upstream.say(fmt::format(
          R"({{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{}}}}})",
          value_of(first)));
    }
    t.advance(1s);
    REQUIRE(t.upstream.count(listening) == 2);
    t.events.told.clear();
    t.acknowledge(t.stream());
    CHECK(t.events.told == SessionFixture::Methods{R"(listen resumed {"toolsListChanged":true})"});
    CHECK(t.state() == ServerStream::open);
  }
}

TEST_CASE("a server that refuses to be listened to is not asked again with the same filter") {
  Listening t;
  t.upstream.answer_error(t.stream(), R"({"code":-32601,"message":"no"})");
  t.advance(10min);
  CHECK(t.upstream.count(listening) == 1);
  CHECK(t.state() == ServerStream::none);
  t.want({"a"});
  t.advance(1s);
  CHECK(t.upstream.count(listening) == 2);
}

TEST_CASE("one that fails again and again is opened ever more seldom") {
  Listening t;
  for (int i = 0; i < 100 && t.upstream.count(listening) < 100; ++i) {
    if (t.upstream.is_under_way(t.stream())) t.upstream.finish(t.stream());
    t.advance(1s);
  }
  CHECK(t.upstream.count(listening) < 15);
}

namespace {

constexpr UpstreamId one{1};
constexpr UpstreamId two{2};
constexpr UpstreamId three{3};

struct TwoStreams : StreamOverlap<UpstreamId> {
  TwoStreams() {
    begin(one);
    begin(two);
  }
};

}  // namespace

TEST_CASE("of one stream all is news") {
  StreamOverlap<UpstreamId> told;
  told.begin(one);
  CHECK(told.is_news(one, "a"));
  CHECK(told.is_news(one, "a"));
  CHECK_FALSE(told.has_several());
}

TEST_CASE("of two streams the n-th equal text is one, whichever tells it first") {
  TwoStreams told;
  CHECK(told.is_news(one, "a"));
  CHECK(told.is_news(two, "b"));
  CHECK(told.is_news(one, "a"));
  CHECK_FALSE(told.is_news(one, "b"));
  CHECK_FALSE(told.is_news(two, "a"));
  CHECK_FALSE(told.is_news(two, "a"));
  CHECK(told.is_news(two, "a"));
}

TEST_CASE("what was told before a stream was asked for does not come on it") {
  TwoStreams told;
  CHECK(told.is_news(one, "a"));
  CHECK_FALSE(told.is_news(two, "a"));
  told.begin(three);
  CHECK(told.is_news(three, "a"));
  CHECK_FALSE(told.is_news(two, "a"));
  CHECK_FALSE(told.is_news(one, "a"));
}

TEST_CASE("a stream of which two are left repeats them still, and alone nothing") {
  TwoStreams told;
  told.begin(three);
  CHECK(told.is_news(one, "a"));
  told.keep_only({two, three});
  CHECK_FALSE(told.is_news(two, "a"));
  told.keep_only({three});
  CHECK(told.is_news(three, "a"));
}

TEST_CASE("it is bounded") {
  TwoStreams told;
  for (std::size_t text = 0; text < 3 * StreamOverlap<UpstreamId>::max_texts; ++text)
    CHECK(told.is_news(one, std::to_string(text)));
  CHECK_FALSE(told.is_news(two, std::to_string(3 * StreamOverlap<UpstreamId>::max_texts - 1)));
  CHECK(told.is_news(two, "0"));
}

TEST_CASE("the last words of a stream that was given up are repeated, what was before is not") {
  TwoStreams told;
  CHECK(told.is_news(one, "a"));  // before the second was listened to
  told.acknowledged();
  CHECK(told.is_news(one, "b"));
  told.settle(two);
  CHECK_FALSE(told.is_news(two, "b"));
  CHECK(told.is_news(two, "a"));
  CHECK(told.is_news(two, "b"));
}
