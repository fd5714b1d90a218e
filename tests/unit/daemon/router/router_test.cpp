#include "router/router.hpp"

#include "router_fixture.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

void subscribe(RouterFixture& t, const FakeClient& client, std::string_view uri,
               std::string_view verb = "subscribe") {
  t.request(client, "1", fmt::format("resources/{}", verb), fmt::format(R"({{"uri":"{}"}})", uri));
}

/// A part of the bridge that asks the server something.
struct AnOwnCaller final : OwnCaller {
  explicit AnOwnCaller(Router& its_router) : OwnCaller(its_router.budget()), router(its_router) {
    router.others().join(*this);
  }
  ~AnOwnCaller() override { router.others().leave(*this); }

  void call(std::string_view tool) {
    auto frame = parse_frame(fmt::format(
        R"({{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{}"}}}})", tool));
    router.others().request(*this, std::get<Frame>(std::move(frame)));
  }
  void answer(std::string_view, Frame&&) override { ++answers; }
  void fail(std::string_view, const Failure&) override { ++failures; }

  Router& router;
  int answers = 0;
  int failures = 0;
};

}  // namespace

TEST_CASE("a control method that is answered later holds nothing up, and its client stays") {
  OneClient t;
  t.request(t.client, "1", "bridge/later");
  t.request(t.client, "2", "bridge/status");
  t.call(t.client, "3", "a");
  t.answer_call("a");
  t.half_close(t.client);
  CHECK(t.client.answered == Lines{"2", "3"});
  CHECK_FALSE(t.client.finished);
  t.in_turn(t.control.later.at(0));
  CHECK(t.client.answered == Lines{"2", "3", "1"});
  CHECK(t.client.finished);
}

TEST_CASE("a control method that is answered when its client has left reaches nobody") {
  OneUnopened t;
  t.request(t.client, "1", "bridge/later");
  t.leave(t.client);
  FakeClient& next = t.connect();
  t.in_turn(t.control.later.at(0));
  CHECK(t.client.lines.empty());
  CHECK(next.lines.empty());
}

TEST_CASE("control methods of a client whose queue is full wait, and it is not read meanwhile") {
  OneUnopened t;
  t.client.is_congested = true;
  t.request(t.client, "1", "bridge/status");
  t.half_close(t.client);
  CHECK(t.client.input_paused);
  CHECK(t.client.lines.empty());
  CHECK_FALSE(t.client.finished);
  t.congest(t.client, false);
  CHECK(t.client.answered == Lines{"1"});
  CHECK_FALSE(t.client.input_paused);
  CHECK(t.client.finished);
}

TEST_CASE("whose input cannot be held is not answered when its queue is full") {
  OneUnopened t;
  t.client.is_congested = true;
  t.client.can_pause_input = false;
  t.request(t.client, "1", "bridge/status");
  t.send(t.client, "oops");
  CHECK(t.client.lines.empty());
}

TEST_CASE("bridge/* overtakes what waits, but for bridge/notifications") {
  OneUnopened t;
  t.client.lines = {"earlier"};
  t.request(t.client, "1", "bridge/status");
  t.request(t.client, "2", "bridge/notifications");
  CHECK(contains(t.client.lines.at(0), R"("id":1)"));
  CHECK(t.client.lines.at(1) == "earlier");
  CHECK(contains(t.client.lines.at(2), R"("id":2)"));
}

TEST_CASE("what a client sends says how it stands to the ring") {
  OneClient t;
  t.request(t.client, "1", "server/discover");
  CHECK(contains(t.client.take_line(), "supportedVersions"));
  CHECK(t.client.feed == RingFeed::reads);
  t.call(t.client, "2", "a");
  CHECK(t.client.feed == RingFeed::takes);
  t.notify(t.client, "bridge/peek");
  CHECK(t.client.feed == RingFeed::none);
  t.call(t.client, "3", "b");
  CHECK(t.client.feed == RingFeed::none);
}

TEST_CASE("a batch is taken apart, each of its messages for itself") {
  OneClient t;
  t.send(
      t.client,
      R"([{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}},[],{"id":2,"jsonrpc":"2.0","method":"bridge/status"}])");
  CHECK(t.calls() == Lines{"a"});
  CHECK(t.client.lines.size() == 2);
  t.send(t.client, "[]");
  CHECK(contains(t.client.lines.back(), "-32600"));
}

TEST_CASE("at the end what waits is answered, what is in flight has the grace") {
  ThreeClients t;
  t.call(t.client, "1", "a");
  t.call(t.other, "1", "b");
  t.leave(t.other);
  t.notify(t.third, "notifications/one");
  t.call(t.third, "2", "never");
  bool idle = false;
  t.router.on_idle([&] { idle = true; });
  t.in_turn([&] { t.router.begin_shutdown(); });
  CHECK(contains(t.third.take_line(), R"("kind":"shutdown","delivered":"no")"));
  CHECK(t.client.lines.empty());
  CHECK_FALSE(t.router.from_upstream().frames_wait(Era::legacy));
  t.call(t.third, "3", "too late");
  CHECK(contains(t.third.take_line(), R"("kind":"shutdown")"));
  t.answer_call("b");
  CHECK_FALSE(idle);
  t.answer_call("a");
  CHECK(t.client.answered == Lines{"1"});
  CHECK(idle);
}

TEST_CASE("when the grace is over, what is in flight is cancelled and answered") {
  TwoClients t;
  t.call(t.client, "1", "a");
  t.call(t.other, "2", "b");
  t.half_close(t.other);
  const UpstreamId a = t.id_of_call("a");
  t.in_turn([&] { t.router.begin_shutdown(); });
  t.in_turn([&] { t.router.end_shutdown(); });
  CHECK(contains(t.client.take_line(), R"("kind":"shutdown","delivered":"unknown")"));
  CHECK(t.upstream.count("notifications/cancelled") == 2);
  CHECK(std::find(t.upstream.abandoned.begin(), t.upstream.abandoned.end(), a) !=
        t.upstream.abandoned.end());
  CHECK_FALSE(t.router.has_requests_in_flight());
  CHECK(t.other.answered == Lines{"2"});
}

TEST_CASE("requests that wait to be sent again are answered at once at the end") {
  OneClient t;
  t.call(t.client, "1", "a");
  t.refuse_connection("tools/call");
  CHECK(t.client.lines.empty());
  t.in_turn([&] { t.router.begin_shutdown(); });
  CHECK(contains(t.client.take_line(), R"("kind":"shutdown")"));
}

TEST_CASE(
    "a new session gets the log level and the subscriptions; clients are told what may differ") {
  OneClient t;
  t.request(t.client, "1", "logging/setLevel", R"({"level":"debug"})");
  t.upstream.answer(t.upstream.id_of("logging/setLevel"));
  subscribe(t, t.client, "demo://a");
  t.upstream.answer(t.upstream.id_of("resources/subscribe"));
  subscribe(t, t.client, "demo://refused");
  t.upstream.answer_error(t.upstream.id_of("resources/subscribe"), R"({"code":-1,"message":"m"})");
  t.leave(t.client);  // a subscription outlives its client
  const SessionSettings set = t.router.from_upstream().settings();
  CHECK(set.log_level_params == R"({"level":"debug"})");
  CHECK(set.subscriptions == Lines{"demo://a"});
  RouterFixture later;
  later.router.from_upstream().take_settings(set);
  CHECK(later.router.from_upstream().settings().log_level_params == set.log_level_params);
  CHECK(later.router.from_upstream().settings().subscriptions == set.subscriptions);
  t.in_turn([&] {
    t.router.from_upstream().session_replaced(Era::legacy, {ReopeningReason::child_ended, {}},
                                              {"notifications/tools/list_changed"});
  });
  Lines told;
  t.feed.ring().each_after(Sequence{0}, [&](const RingEntry& entry) {
    told.push_back(entry.line);
    return true;
  });
  REQUIRE(told.size() == 3);
  CHECK(
      told[0] ==
      R"({"jsonrpc":"2.0","method":"notifications/bridge/session_reopened","params":{"reason":"child_ended","at":"1970-01-01T00:00:00.000Z"}})"
      "\n");
  CHECK(contains(told[1], "tools/list_changed"));
  CHECK(contains(told[2], "demo://a"));
}

TEST_CASE("an unsubscribe goes upstream when no other client wants the resource any more") {
  TwoClients t;
  for (FakeClient* client : {&t.client, &t.other}) {
    subscribe(t, *client, "demo://a");
    t.upstream.answer(t.upstream.id_of("resources/subscribe"));
    client->take_lines();
  }
  subscribe(t, t.client, "demo://a", "unsubscribe");
  CHECK(t.client.take_line() == R"({"jsonrpc":"2.0","id":1,"result":{}})");
  CHECK(t.upstream.count("resources/unsubscribe") == 0);
  subscribe(t, t.other, "demo://a", "unsubscribe");
  CHECK(t.upstream.count("resources/unsubscribe") == 1);
  t.upstream.answer(t.upstream.id_of("resources/unsubscribe"));
  CHECK(t.router.from_upstream().settings().subscriptions.empty());
}

TEST_CASE("every request ends in exactly one class of the statistics") {
  OneClient t({.client_inflight = 1});
  t.call(t.client, "1", "a");
  t.answer_call("a");
  t.call(t.client, "2", "b");
  t.upstream.answer_error(t.id_of_call("b"), R"({"code":-1,"message":"m"})");
  t.call(t.client, "3", "c");
  t.upstream.finish(t.id_of_call("c"));
  t.call(t.client, "4", "d");
  t.call(t.client, "5", "e");
  t.cancel(t.client, "5");
  t.cancel(t.client, "4");
  t.call(t.client, "6", "f");
  t.call(t.client, "7", "g");
  t.leave(t.client);
  t.answer_call("f");
  const auto& ended = t.router.statistics().ended[static_cast<std::size_t>(MethodClass::call)];
  const auto of = [&](Outcome outcome) { return ended[static_cast<std::size_t>(outcome)]; };
  CHECK(of(Outcome::ok) == 1);
  CHECK(of(Outcome::error) == 1);
  CHECK(of(Outcome::bridge_error) == 1);
  CHECK(of(Outcome::cancelled) == 2);
  CHECK(of(Outcome::left) == 2);
  CHECK(t.router.statistics().requests == 7);
}

TEST_CASE("requests of the bridge itself count neither as requests nor as errors") {
  OneClient t;
  const auto fail = [&t] {
    const UpstreamId id = t.id_of_call("x");
    t.upstream.say(fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{{"code":1,"message":"m"}}}})",
                               value_of(id)),
                   id);
  };
  const std::uint64_t before = t.router.statistics().requests;
  AnOwnCaller own(t.router);
  t.in_turn([&] { own.call("x"); });
  fail();
  CHECK(own.answers == 1);
  CHECK(t.router.statistics().requests == before);
  CHECK(t.router.statistics().errors == 0);
  t.call(t.connect(), "1", "x");
  fail();
  CHECK(t.router.statistics().requests == before + 1);
  CHECK(t.router.statistics().errors == 1);
}

TEST_CASE("notifications count as lost unless all clients were modern") {
  RouterFixture t;
  CHECK_FALSE(t.router.from_clients().served_only_modern());
  t.modern(t.connect(), "1", "tools/list");
  t.request(t.connect(), "1", "bridge/status");
  AnOwnCaller own(t.router);
  t.in_turn([&] { own.call("x"); });
  CHECK(t.router.from_clients().served_only_modern());
  t.call(t.connect(), "1");
  CHECK_FALSE(t.router.from_clients().served_only_modern());
}
