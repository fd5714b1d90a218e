// BEHAVIOUR, "Eras: questions to a modern client".
#include <set>

#include "suspended_calls_fixture.hpp"

using namespace bridge;
using namespace std::chrono_literals;

TEST_CASE("a legacy upstream's request is asked in a result, and the retry goes on with the call") {
  OneModern t;
  t.ask(R"("s\u0031")", t.call_id, "sampling/createMessage", R"({"messages":[ 1e400 ]})");
  t.advance(ModernToLegacy::gathering_time);
  const std::string line = t.client.take_line();
  CHECK(contains(
      line,
      R"({"jsonrpc":"2.0","id":"c","result":{"resultType":"input_required","inputRequests":{"1":{"method":"sampling/createMessage","params":{"messages":[ 1e400 ]}}},"requestState":"bridge-)"));
  CHECK(t.client.answered == Lines{R"("c")"});
  CHECK(t.responses().empty());
  CHECK(t.upstream.is_under_way(t.call_id));
  const std::string state = t.state_in(line);
  CHECK(state.size() == 7 + 32);

  t.retry(t.client, R"("d")", state, R"({ "role" : "\u0078" })");
  CHECK(t.responses() == answer_of(R"("s\u0031")", R"({ "role" : "\u0078" })"));
  CHECK(t.calls() == Lines{"t"});  // it was sent once
  t.answer_call("t", R"({"content":[]})");
  CHECK(t.client.take_line() ==
        R"({"jsonrpc":"2.0","id":"d","result":{"content":[],"resultType":"complete"}})");
  CHECK(t.has_nothing_left());
}

TEST_CASE("each question has a state of its own, which counts once") {
  OneModern t;
  std::set<std::string> states;
  for (int round = 0; round < 3; ++round) {
    const std::string state = t.ask_about();
    CHECK(states.insert(state).second);
    t.retry(t.client, "1", state);
    CHECK(t.responses() == answer_of("77"));
    t.retry(t.client, "2", state);
    CHECK(t.refuses(t.client));
  }
  t.answer_call("t");
  CHECK(contains(t.client.take_line(), R"("id":1)"));
  CHECK(t.has_nothing_left());
}

TEST_CASE("two retries at once: the first one has it") {
  OneModern t;
  const std::string state = t.ask_about();
  FakeClient& other = t.connect();
  t.in_turn([&] {
    t.retry(t.client, "1", state);
    t.retry(other, "2", state);
  });
  CHECK(t.responses().size() == 1);
  CHECK(contains(other.take_line(), "requestState is not known"));
  t.answer_call("t");
  CHECK(t.client.answered.back() == "1");
  CHECK(t.has_nothing_left());
}

TEST_CASE("a successor of the same user goes on with it, with its own id and token") {
  OneModern t;
  const std::string state = t.ask_about();
  t.leave(t.client);
  CHECK(t.upstream.is_under_way(t.call_id));
  CHECK(t.upstream.count("notifications/cancelled") == 0);
  FakeClient& successor = t.connect();
  t.retry(successor, R"("mine")", state);
  CHECK(t.responses() == answer_of("77"));
  t.answer_call("t");
  CHECK(contains(successor.take_line(), R"("id":"mine","result")"));
  CHECK(t.has_nothing_left());
}

TEST_CASE("progress is for who waits for the call, by its token, and for nobody in between") {
  ModernClient t;
  t.modern(t.client, "1", "tools/call", R"("name":"t",)", everything, R"("progressToken":"one",)");
  const UpstreamId id = t.id_of_call("t");
  t.progress(id, id);
  CHECK(contains(t.client.take_line(), R"("progressToken":"one")"));
  t.ask("77", id);
  const std::string state = t.state_of(t.client);
  t.progress(id, id);
  t.log_message("error", id);
  CHECK(t.client.lines.empty());
  t.retry_with(t.client, "2", state, R"({"1":{}})", "t", R"("progressToken":"two",)");
  t.progress(id, id);
  CHECK(contains(t.client.take_line(), R"("progressToken":"two")"));
}

TEST_CASE("a state that is changed, of another user or for another request is refused, and holds") {
  OneModern t;
  const std::string state = t.ask_about();
  for (const std::string& wrong :
       {state + "0", state.substr(1), std::string(), std::string("\\u0000"), std::string("x")}) {
    t.retry(t.client, "1", wrong);
    CHECK(t.refuses(t.client));
  }
  FakeClient& stranger = t.connect("unix", 2000);
  FakeClient& remote = t.connect("http");
  for (FakeClient* const other : {&stranger, &remote}) {
    t.retry(*other, "1", state);
    CHECK(contains(other->take_line(), "requestState is not known"));
  }
  t.retry(t.client, "1", state, "{}", "other");
  CHECK(contains(t.client.take_line(), "for another request"));
  t.modern(t.client, "1", "tools/call",
           fmt::format(R"("requestState":"{}","name":"t","arguments":{{}},)", state), everything);
  CHECK(t.refuses(t.client));
  t.modern(t.client, "1", "prompts/get", fmt::format(R"("requestState":"{}","name":"t",)", state),
           everything);
  CHECK(t.refuses(t.client));
  t.retry_with(t.client, "1", state, "[]");
  CHECK(t.refuses(t.client));
  CHECK(t.calls() == Lines{"t"});
  t.retry(t.client, "1", state);
  CHECK(t.responses() == answer_of("77"));
}

TEST_CASE("answers without a state are nothing to a legacy server, which does not see them") {
  ModernClient t;
  t.modern(t.client, "1", "tools/call", R"("name":"t","inputResponses":{"1":{}},)", everything);
  CHECK_FALSE(contains(t.upstream.last("tools/call").body, "inputResponses"));
  t.answer_call("t");
  CHECK(t.has_nothing_left());
}

TEST_CASE("a retry without the answer is asked again, with another state") {
  OneModern t;
  const std::string first = t.ask_about();
  t.retry_with(t.client, "1", first, "{}");
  const std::string second = t.state_of(t.client);
  CHECK(first != second);
  CHECK(t.responses().empty());
  t.retry(t.client, "2", second);
  CHECK(t.responses() == answer_of("77"));
}

TEST_CASE("log messages that come while nobody waits are for the retry, from its level on") {
  OneModern t;
  const std::string state = t.ask_about();
  // A local server does not say which request they are about.
  std::optional<UpstreamId> origin = t.call_id;
  SUBCASE("on its stream") {}
  SUBCASE("of a server whose messages all come one way") { origin.reset(); }
  t.log_message("debug", origin, "first");
  t.log_message("warning", origin, "second");
  SUBCASE("the newest 64") {
    for (unsigned more = 0; more < ModernToLegacy::max_messages; ++more)
      t.log_message("error", origin, "more");
  }
  SUBCASE("so many bytes of them") {
    t.log_message("error", origin, std::string(ModernToLegacy::max_message_bytes - 1000, 'x'));
    t.log_message("error", origin, std::string(1000, 'y'));
    t.log_message("error", origin, std::string(ModernToLegacy::max_message_bytes, 'z'));
  }
  SUBCASE("all of them, if they are few") {}
  const std::size_t kept = t.budget.used();
  CHECK(kept <= ModernToLegacy::max_message_bytes + 64 * 1024);
  CHECK(t.client.lines.empty());
  t.retry_with(t.client, "2", state, R"({"1":{}})", "t",
               R"("io.modelcontextprotocol/logLevel":"info",)");
  const Lines lines = t.client.take_lines();
  REQUIRE_FALSE(lines.empty());
  for (const std::string& line : lines) CHECK_FALSE(contains(line, "first"));
  if (lines.size() == 1) {
    CHECK((contains(lines[0], "second") || contains(lines[0], "yyy")));
  } else {
    CHECK(lines.size() == ModernToLegacy::max_messages);
  }
  t.answer_call("t");
  CHECK(t.has_nothing_left());
  CHECK(t.budget.used() == 0);
}

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
  t.advance(ModernToLegacy::gathering_time);
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
    t.advance(ModernToLegacy::gathering_time);
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
