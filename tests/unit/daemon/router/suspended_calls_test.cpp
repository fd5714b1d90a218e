#include <set>

#include "suspended_calls_fixture.hpp"

using namespace bridge;
using namespace std::chrono_literals;

TEST_CASE("a legacy upstream's request is asked in a result, and the retry goes on with the call") {
  OneModern t;
  t.ask(R"("s\u0031")", t.call_id, "sampling/createMessage", R"({"messages":[ 1e400 ]})");
  t.advance(SuspendedCalls::gathering_time);
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
  LegacyUpstreamRouter t;
  FakeClient& client = t.connect();
  t.modern(client, "1", "tools/call", R"("name":"t",)", everything, R"("progressToken":"one",)");
  const UpstreamId id = t.id_of_call("t");
  t.progress(id, id);
  CHECK(contains(client.take_line(), R"("progressToken":"one")"));
  t.ask("77", id);
  const std::string state = t.state_of(client);
  t.progress(id, id);
  t.log_message("error", id);
  CHECK(client.lines.empty());
  t.retry_with(client, "2", state, R"({"1":{}})", "t", R"("progressToken":"two",)");
  t.progress(id, id);
  CHECK(contains(client.take_line(), R"("progressToken":"two")"));
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
  LegacyUpstreamRouter t;
  FakeClient& client = t.connect();
  t.modern(client, "1", "tools/call", R"("name":"t","inputResponses":{"1":{}},)", everything);
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
    for (unsigned more = 0; more < SuspendedCalls::max_messages; ++more)
      t.log_message("error", origin, "more");
  }
  SUBCASE("so many bytes of them") {
    t.log_message("error", origin, std::string(SuspendedCalls::max_message_bytes - 1000, 'x'));
    t.log_message("error", origin, std::string(1000, 'y'));
    t.log_message("error", origin, std::string(SuspendedCalls::max_message_bytes, 'z'));
  }
  SUBCASE("all of them, if they are few") {}
  const std::size_t kept = t.budget.used();
  CHECK(kept <= SuspendedCalls::max_message_bytes + 64 * 1024);
  CHECK(t.client.lines.empty());
  t.retry_with(t.client, "2", state, R"({"1":{}})", "t",
               R"("io.modelcontextprotocol/logLevel":"info",)");
  const Lines lines = t.client.take_lines();
  REQUIRE_FALSE(lines.empty());
  for (const std::string& line : lines) CHECK_FALSE(contains(line, "first"));
  if (lines.size() == 1) {
    CHECK((contains(lines[0], "second") || contains(lines[0], "yyy")));
  } else {
    CHECK(lines.size() == SuspendedCalls::max_messages);
  }
  t.answer_call("t");
  CHECK(t.has_nothing_left());
  CHECK(t.budget.used() == 0);
}
