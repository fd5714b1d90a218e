// BEHAVIOUR, "Routing: order of a client's messages" and "Routing: requests in flight".
#include "router/client_frames.hpp"

#include "router_fixture.hpp"

using namespace bridge;
using namespace std::chrono_literals;

TEST_CASE("requests are started in the order they came and do not wait for one another") {
  OneUnopened t;
  for (const char* name : {"a", "b", "c"}) t.call(t.client, "1", name);
  CHECK(t.calls().empty());
  t.let_it_open();
  CHECK(t.calls() == Lines{"a", "b", "c"});
  t.answer_call("c");
  CHECK(t.client.lines.size() == 1);
}

TEST_CASE("frames that fail at once follow one another, however many they are") {
  OneUnopened t;
  t.upstream.answer_streams = true;
  t.be_modern();
  constexpr int many = 20'000;  // more than the stack has room for
  for (int i = 0; i < many; ++i) t.modern(t.client, std::to_string(i), "\u00e9");
  CHECK(t.client.lines.empty());
  t.answer_probe(R"({"tools":{}})");
  CHECK(t.client.lines.size() == many);
  CHECK(contains(t.client.lines.back(), "cannot be sent: its header"));
  CHECK(contains(t.client.lines.back(), fmt::format(R"("id":{},)", many - 1)));
}

TEST_CASE("a notification is handed over before the next frame of its client starts") {
  TwoClients t;
  t.notify(t.client, roots_changed);
  t.call(t.client, "1", "after");
  t.call(t.other, "1", "other");
  CHECK(t.calls() == Lines{"other"});  // another client does not wait for it
  CHECK(t.loop.next_due());
  t.hand_over(roots_changed);
  CHECK(t.calls() == Lines{"other", "after"});
  CHECK_FALSE(t.loop.next_due());
}

TEST_CASE("a notification that is not handed over holds its client up for 30 s") {
  TwoClients t;
  t.notify(t.client, roots_changed);
  t.call(t.client, "1", "a");
  t.advance(10s);
  t.notify(t.other, roots_changed);
  t.call(t.other, "1", "b");
  t.advance(19999ms);
  CHECK(t.calls().empty());
  t.advance(1ms);
  CHECK(t.calls() == Lines{"a"});
  t.advance(9999ms);
  CHECK(t.calls() == Lines{"a"});
  t.advance(1ms);
  CHECK(t.calls() == Lines{"a", "b"});
  CHECK_FALSE(t.loop.next_due());
}

TEST_CASE("a request whose turn was that of a cancelled one is answered here if it can be") {
  RouterFixture t({.max_inflight = 1});
  t.open_modern();
  FakeClient& first = t.connect();
  FakeClient& second = t.connect();
  t.call(first, "1", "a");
  t.call(second, "1", "b");
  t.request(second, "2", "ping");
  t.request(second, "3", "server/discover");
  t.cancel(second, "1");
  t.call(second, "4", "c");
  t.answer_call("a");
  const Lines lines = second.take_lines();
  REQUIRE(lines.size() == 2);
  CHECK(contains(lines[0], R"("result":{})"));
  CHECK(contains(lines[1], "supportedVersions"));
  CHECK(t.upstream.count("ping") == 0);
  CHECK(t.calls() == Lines{"a", "c"});
}

TEST_CASE("with --max-inflight 1 requests go strictly one at a time, each client in turn") {
  ThreeClients t({.max_inflight = 1});
  for (const char* name : {"a1", "a2", "a3"}) t.call(t.client, "1", name);
  for (const char* name : {"b1", "b2"}) t.call(t.other, "1", name);
  t.call(t.third, "1", "c1");
  Lines started;
  for (std::size_t n = 1; n <= 6; ++n) {
    REQUIRE(t.calls().size() == n);
    started.push_back(t.calls().back());
    t.answer_call(started.back());
  }
  CHECK(started == Lines{"a1", "a2", "b1", "c1", "a3", "b2"});
  CHECK(t.router.in_flight() == 0);
}

TEST_CASE("a free place is no newcomer's while somebody waits, nor one's who has left") {
  ThreeClients t({.max_inflight = 1});
  t.call(t.client, "1", "a");
  t.call(t.other, "1", "never");
  t.call(t.third, "1", "c");
  t.leave(t.other);
  t.answer_call("a");
  CHECK(t.calls() == Lines{"a", "c"});
}

TEST_CASE("--client-inflight bounds one client and not the other") {
  TwoClients t({.client_inflight = 2});
  for (const char* name : {"a1", "a2", "a3"}) t.call(t.client, "1", name);
  t.call(t.other, "1", "b");
  CHECK(t.calls() == Lines{"a1", "a2", "b"});
  CHECK(t.router.queued() == 1);
  t.answer_call("a2");
  CHECK(t.calls() == Lines{"a1", "a2", "b", "a3"});
}

TEST_CASE("who leaves its answers unread takes half of the places, and one at least") {
  TwoClients t({.max_inflight = 4});
  t.client.queued_bytes = 1u << 20;
  for (const char* name : {"a1", "a2", "a3", "a4"}) t.call(t.client, "1", name);
  for (const char* name : {"b1", "b2", "b3"}) t.call(t.other, "1", name);
  CHECK(t.calls() == Lines{"a1", "a2", "b1", "b2"});
  t.answer_call("a1");
  CHECK(t.calls() == Lines{"a1", "a2", "b1", "b2", "b3"});
  t.answer_call("a2");
  CHECK(t.calls() == Lines{"a1", "a2", "b1", "b2", "b3", "a3"});
  t.client.queued_bytes = 0;
  t.answer_call("a3");
  CHECK(t.calls().back() == "a4");
}

TEST_CASE("notifications take no place, and keep theirs in the order") {
  for (const RouterOptions& options :
       {RouterOptions{.max_inflight = 1}, RouterOptions{.client_inflight = 1}}) {
    OneClient t(options);
    t.call(t.client, "1", "a");
    t.notify(t.client, roots_changed);
    CHECK(t.upstream.count(roots_changed) == 1);
    t.hand_over(roots_changed);
    t.call(t.client, "2", "b");
    t.notify(t.client, roots_changed);
    CHECK(t.upstream.count(roots_changed) == 1);
    // A cancellation overtakes pending frames, and makes room.
    t.cancel(t.client, "1");
    CHECK(t.calls() == Lines{"a", "b"});
    CHECK(t.upstream.count(roots_changed) == 2);
  }
}

TEST_CASE("a cancelled request that waits is simply removed") {
  OneClient t({.client_inflight = 1});
  for (const char* id : {"1", "2", "3"}) t.call(t.client, id, id);
  t.cancel(t.client, "2");
  CHECK(t.client.not_answered == Lines{"2"});
  t.answer_call("1");
  t.answer_call("3");
  CHECK(t.client.answered == Lines{"1", "3"});
  CHECK(t.upstream.count("notifications/cancelled") == 0);
  CHECK(t.calls() == Lines{"1", "3"});
}

TEST_CASE("also while the session is being opened, but an initialize is not") {
  OneUnopened t;
  FakeClient& second = t.connect();
  t.call(t.client, "1", "a");
  t.call(t.client, "2", "b");
  t.initialize(second, "i");
  t.cancel(t.client, "1");
  t.cancel(second, "i");
  t.let_it_open();
  CHECK(t.calls() == Lines{"b"});
  CHECK(second.answered.empty());
}

TEST_CASE("beyond --client-buffer a request is answered overloaded, a notification dropped") {
  OneClient t({.client_inflight = 1, .client_buffer = 4096});
  t.call(t.client, "1", "a");
  const std::string long_name(3000, 'x');
  t.call(t.client, "2", long_name);
  t.call(t.client, "3", long_name);
  t.notify(t.client, "notifications/" + long_name);
  const std::string refused = t.client.take_line();
  CHECK(contains(refused, R"("id":3)"));
  CHECK(contains(refused, R"("kind":"overloaded","delivered":"no")"));
  CHECK(t.router.statistics().dropped_notifications == 1);
  t.answer_call("a");
  CHECK(t.calls().size() == 2);
  // A single frame is admitted whatever its size.
  t.call(t.client, "4", std::string(9000, 'y'));
  CHECK(t.router.queued() == 1);
}

TEST_CASE("who waits for a session is answered after --connect-wait, with the last failure") {
  OneUnopened t;
  t.call(t.client, "1", "a");
  t.notify(t.client, roots_changed);
  t.refuse_connection("initialize");
  t.advance(6s);
  t.call(t.client, "2", "b");
  t.advance(3999ms);
  CHECK(t.client.lines.empty());
  t.advance(1ms);
  const std::string told = t.client.take_line();
  CHECK(contains(told, R"("id":1)"));
  CHECK(contains(told, "waited 10000 ms, --connect-wait"));
  CHECK(contains(told, R"("delivered":"no")"));
  t.advance(6s);
  CHECK(t.client.answered == Lines{"1", "2"});
  CHECK(t.router.queued() == 0);
}

TEST_CASE("an initialize that opens the session is answered after --connect-wait too") {
  OneUnopened t;
  t.initialize(t.client, "0");
  t.refuse_connection("initialize");
  for (int tries = 0; tries < 2000 && t.client.lines.empty(); ++tries) {
    if (t.upstream.is_under_way(t.upstream.id_of("initialize"))) t.refuse_connection("initialize");
    t.advance(10ms);
  }
  CHECK(contains(t.client.take_line(), "--connect-wait"));
  CHECK(t.clock.now() - SteadyTime{} < 1h + 11s);
  CHECK(t.router.in_flight() == 0);
}

TEST_CASE("a notification alone opens no session, and waits for one no longer than a request") {
  OneUnopened t;
  t.notify(t.client, roots_changed);
  CHECK(t.upstream.sent.empty());
  t.advance(10s);
  CHECK(t.router.queued() == 0);
  CHECK(t.router.statistics().dropped_notifications == 1);
}

TEST_CASE("with --handshake client anything before an initialize is refused") {
  RouterFixture t({.handshake = Handshake::client});
  FakeClient& client = t.connect();
  t.call(client, "1", "a");
  CHECK(contains(client.take_line(), R"("kind":"not_initialized")"));
  CHECK(t.upstream.sent.empty());
  t.initialize(client, "0");
  t.call(client, "2", "b");
  t.let_it_open();
  CHECK(t.calls() == Lines{"b"});
}

TEST_CASE("a further initialize is answered from what is kept, in the asker's version") {
  OneClient t;
  t.request(t.client, "\"i\"", "initialize",
            R"({"protocolVersion":"2025-03-26","capabilities":{}})");
  CHECK(t.upstream.sent.empty());
  const std::string answer = t.client.take_line();
  CHECK(contains(answer, R"("id":"i")"));
  CHECK(contains(answer, R"("protocolVersion":"2025-03-26")"));
}

TEST_CASE("what a client that leaves had not sent is dropped, its notifications still go in turn") {
  for (const bool wait : {true, false}) {  // or the first is being handed over
    CAPTURE(wait);
    OneClient t({.client_inflight = 1});
    if (wait) t.call(t.client, "1", "a");
    if (wait) t.call(t.client, "2", "never");
    t.notify(t.client, "notifications/one");
    t.notify(t.client, "notifications/two");
    t.leave(t.client);
    CHECK(t.upstream.count("notifications/one") == 1);
    CHECK(t.upstream.count("notifications/two") == 0);
    t.hand_over("notifications/one");
    CHECK(t.upstream.count("notifications/two") == 1);
    t.hand_over("notifications/two");
    CHECK(t.calls() == (wait ? Lines{"a"} : Lines{}));
    CHECK(t.budget.used() == 0);
  }
}

TEST_CASE("without a session they wait for one, for --connect-wait, within --max-buffered") {
  for (const bool comes : {true, false}) {
    CAPTURE(comes);
    RouterFixture t;
    FakeClient& client = t.connect();
    t.notify(client, "notifications/one");
    t.leave(client);
    CHECK(t.budget.used() > 0);
    t.advance(comes ? 9s : 11s);
    t.in_turn([&] { t.session.require(); });
    t.let_it_open();
    CHECK(t.upstream.count("notifications/one") == (comes ? 1 : 0));
    CHECK(t.budget.used() == 0);
    CHECK(t.router.statistics().dropped_notifications == (comes ? 0 : 1));
  }
}

TEST_CASE("with --max-clients 1 clients are served one after the other") {
  ThreeClients t({.sequential = true});
  CHECK(t.other.feed == RingFeed::none);
  t.call(t.client, "1", "a");
  t.call(t.other, "1", "b");
  t.call(t.third, "1", "c");
  CHECK(t.calls() == Lines{"a"});
  // The bridge's own methods are answered at once.
  t.request(t.third, R"("s")", "bridge/status");
  CHECK(t.third.answered == Lines{R"("s")"});
  t.leave(t.client);
  CHECK(t.calls() == Lines{"a", "b"});
  CHECK(t.other.feed == RingFeed::takes);
  t.half_close(t.other);
  CHECK(t.calls() == Lines{"a", "b"});
  t.answer_call("b");
  CHECK(t.other.finished);
  CHECK(t.calls() == Lines{"a", "b", "c"});
}

TEST_CASE("one that only looks on is not the one that is served") {
  TwoClients t({.sequential = true});
  t.call(t.other, "1", "b");
  CHECK(t.calls().empty());
  t.request(t.client, "1", "bridge/status");
  CHECK(t.calls() == Lines{"b"});
  t.call(t.client, "2", "a");
  CHECK(t.calls() == Lines{"b"});
  t.leave(t.other);
  CHECK(t.calls() == Lines{"b", "a"});
}

TEST_CASE("a client that half-closes has all its answers, then it is done at the turn's end") {
  OneClient t;
  t.call(t.client, "1", "a");
  t.notify(t.client, roots_changed);
  t.half_close(t.client);
  t.answer_call("a");
  CHECK_FALSE(t.client.finished);
  t.in_turn([&] {
    t.hand_over(roots_changed);
    CHECK_FALSE(t.client.finished);
  });
  CHECK(t.client.finished);
  CHECK_FALSE(t.knows(t.client));
  FakeClient& silent = t.connect();
  t.half_close(silent);
  CHECK(silent.finished);
}

TEST_CASE("one that half-closes while the session is being opened is waited for") {
  OneUnopened t;
  t.call(t.client, "1", "a");
  t.half_close(t.client);
  CHECK_FALSE(t.client.finished);
  t.let_it_open();
  t.answer_call("a");
  CHECK(t.client.answered == Lines{"1"});
  CHECK(t.client.finished);
}
