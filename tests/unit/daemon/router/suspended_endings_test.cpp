#include "suspended_calls_fixture.hpp"

using namespace bridge;
using namespace std::chrono_literals;

TEST_CASE("without a retry it ends after --input-wait, and the server is told") {
  OneModern t;
  const std::string state = t.ask_about();
  t.advance(5min - 1ms);
  CHECK(t.upstream.is_under_way(t.call_id));
  t.advance(1ms);
  CHECK(t.is_refused());
  CHECK(t.upstream.count("notifications/cancelled") == 1);
  CHECK_FALSE(t.upstream.is_under_way(t.call_id));
  CHECK(t.router.in_flight() == 0);
  t.retry(t.client, "1", state);
  CHECK(t.refuses(t.client));
}

TEST_CASE("each round has its own time, and none runs while the server works") {
  OneModern t;
  std::string state = t.ask_about();
  t.advance(4min);
  t.retry(t.client, "1", state);
  CHECK(t.responses().size() == 1);
  t.advance(10min);
  state = t.ask_about("78");
  t.advance(4min);
  t.retry(t.client, "2", state);
  CHECK(t.responses().size() == 1);
}

TEST_CASE("what comes meanwhile is kept for the retry") {
  OneModern t;
  const std::string state = t.ask_about();
  const std::size_t before = t.budget.used();
  SUBCASE("an answer") {
    t.answer_call("t", R"({"content":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22]})");
    CHECK(t.client.lines.empty());
    CHECK(t.budget.used() > before);
    t.retry(t.client, "1", state);
    CHECK(contains(t.client.take_line(), R"("id":1,"result":{"content":[1,2,3)"));
  }
  SUBCASE("a failure") {
    t.upstream.break_off(t.call_id,
                         failure_of(ErrorKind::closed, Delivered::unknown, "it was closed"));
    CHECK(t.client.lines.empty());
    t.retry(t.client, "1", state);
    CHECK(contains(t.client.take_line(), "it was closed"));
  }
  SUBCASE("for as long as a state holds") {
    t.answer_call("t");
    t.advance(5min);
    t.retry(t.client, "1", state);
    CHECK(t.refuses(t.client));
    CHECK(t.upstream.count("notifications/cancelled") == 0);
  }
  CHECK(t.responses().empty());
  CHECK(t.has_nothing_left());
  CHECK(t.budget.used() == 0);
}

TEST_CASE("a suspended call takes no place, and the retry takes one again") {
  OneModern t({.max_inflight = 1});
  t.modern_call(t.client, "2", "next");
  CHECK(t.calls() == Lines{"t"});
  t.ask("77", t.call_id);
  t.advance(SuspendedCalls::gathering_time);
  CHECK(t.calls() == Lines{"t", "next"});
  const std::string state = t.state_of(t.client);
  t.retry(t.client, "3", state);
  CHECK(t.responses().empty());  // it waits for a slot
  t.answer_call("next");
  CHECK(t.responses() == answer_of("77"));
  t.modern_call(t.client, "4", "last");
  CHECK(t.calls().back() == "next");
  t.answer_call("t");
  CHECK(t.calls().back() == "last");
  t.answer_call("last");
  CHECK(t.has_nothing_left());
}

TEST_CASE("so many calls of a user, and of all, may be suspended; then the server is told no") {
  LegacyUpstreamRouter t({.client_inflight = 2, .max_inflight = 3});
  const auto suspends = [&](FakeClient& client, std::string_view name) {
    t.modern_call(client, "1", name);
    t.ask("7", t.id_of_call(name));
    t.advance(SuspendedCalls::gathering_time);
    const bool refused = t.is_refused();
    if (refused) t.answer_call(name);
    client.take_lines();
    return !refused;
  };
  FakeClient& client = t.connect();
  FakeClient& same = t.connect();
  FakeClient& other = t.connect("unix", 2000);
  CHECK(suspends(client, "a"));
  CHECK(suspends(same, "b"));
  CHECK_FALSE(suspends(client, "c"));
  CHECK(suspends(other, "d"));
  CHECK_FALSE(suspends(other, "e"));
  t.advance(5min);
  CHECK(t.router.in_flight() == 0);
  CHECK(suspends(client, "f"));
}

TEST_CASE("a client that leaves after its retry cancels the call") {
  OneModern t;
  const std::string state = t.ask_about();
  FakeClient& other = t.connect();
  t.retry(other, "1", state);
  t.responses();
  t.leave(other);
  CHECK(t.upstream.count("notifications/cancelled") == 1);
  CHECK(t.router.in_flight() == 0);
  t.advance(1h);
  CHECK(t.responses().empty());
}

TEST_CASE("a session that is lost ends what it has asked for itself, and the call by its failure") {
  OneModern t;
  t.ask("77");
  const std::string state = t.state_of(t.client);
  t.upstream.break_off(t.call_id, failure_of(ErrorKind::closed, Delivered::unknown, "it died"));
  t.in_turn([&] { t.upstream.lose_session(); });
  t.in_turn([&] { t.session.require(); });
  t.let_it_open();
  t.retry(t.client, "1", state);
  CHECK(contains(t.client.take_line(), "it died"));
  CHECK(t.responses().empty());
  CHECK(t.router.in_flight() == 0);
}

TEST_CASE("at the daemon's end suspended calls end, and nothing more is asked") {
  OneModern t;
  t.modern_call(t.client, "2", "going");
  t.ask_about();
  bool idle = false;
  t.router.on_idle([&] { idle = true; });
  t.in_turn([&] { t.router.begin_shutdown(); });
  CHECK(t.is_refused());
  CHECK(t.upstream.count("notifications/cancelled") == 1);
  CHECK(t.router.in_flight() == 1);
  t.ask("78", t.id_of_call("going"));
  CHECK(t.is_refused());
  t.answer_call("going");
  CHECK(idle);
}
