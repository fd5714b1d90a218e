#include "router/suspended_calls.hpp"

#include <set>

#include "mcp/handshake.hpp"
#include "router_fixture.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view everything = R"({"sampling":{},"elicitation":{},"roots":{}})";

/// A legacy upstream, and a modern client of it.
struct LegacyUpstreamRouter : OpenRouter {
  explicit LegacyUpstreamRouter(const RouterOptions& options = {}) : OpenRouter(options) {}

  void modern(const FakeClient& from, std::string_view id, std::string_view params,
              std::string_view method = "tools/call", std::string_view capabilities = everything) {
    send(
        from,
        fmt::format(
            R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{{{},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}}}})",
            id, method, params, capabilities));
  }
  void modern_call(const FakeClient& from, std::string_view id, std::string_view name = "t") {
    modern(from, id, fmt::format(R"("name":"{}")", name));
  }
  void retry(const FakeClient& from, std::string_view id, std::string_view state,
             std::string_view result = R"({"role":"x"})", std::string_view name = "t") {
    modern(from, id,
           fmt::format(R"("requestState":"{}","inputResponses":{{"1":{}}},"name":"{}")", state,
                       result, name));
  }
  /// The state in the one line that the client was sent: an `input_required` result.
  static std::string state_of(FakeClient& to) {
    const std::string line = to.take_line();
    const std::string result(find_member(line, "result").value_or("{}"));
    CHECK(find_string(result, "resultType") == "input_required");
    return find_string(result, "requestState").value_or("");
  }
  bool has_nothing_left() const {
    return router.in_flight() == 0 &&
           std::none_of(upstream.sent.begin(), upstream.sent.end(), [this](const Outgoing& one) {
             return one.kind == OutgoingKind::request && upstream.is_under_way(one.id);
           });
  }
  bool refuses(FakeClient& whom) {
    return contains(whom.take_line(), R"("code":-32602)") && responses().empty();
  }
};

struct OneModern : LegacyUpstreamRouter {
  explicit OneModern(const RouterOptions& options = {}) : LegacyUpstreamRouter(options) {
    modern_call(client, R"("c")");
    call_id = id_of_call("t");
  }
  std::string ask_about(std::string_view raw_id = "77") {
    ask(raw_id, call_id);
    return state_of(client);
  }
  FakeClient& client = connect();
  UpstreamId call_id{};
};

Lines answer_of(std::string_view raw_id, std::string_view result = R"({"role":"x"})") {
  return {fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", raw_id, result)};
}

}  // namespace

TEST_CASE("a legacy upstream's request is asked in a result, and the retry goes on with the call") {
  OneModern t;
  t.upstream.say(
      R"({"jsonrpc":"2.0","id":"s\u0031","method":"sampling/createMessage","params":{"messages":[ 1e400 ]}})",
      t.call_id);
  const std::string line = t.client.take_line();
  CHECK(contains(
      line,
      R"({"jsonrpc":"2.0","id":"c","result":{"resultType":"input_required","inputRequests":{"1":{"method":"sampling/createMessage","params":{"messages":[ 1e400 ]}}},"requestState":"bridge-)"));
  CHECK(t.client.answered == Lines{R"("c")"});
  CHECK(t.responses().empty());
  CHECK(t.upstream.is_under_way(t.call_id));
  const std::string state =
      find_string(find_member(line, "result").value_or("{}"), "requestState").value_or("");
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
  t.modern(t.client, "5", R"("name":"p","_meta2":0)");
  t.answer_call("p");
  t.client.take_lines();
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
  const auto with_token = [&](std::string_view id, std::string_view token, std::string_view rest) {
    t.send(
        client,
        fmt::format(
            R"({{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{{"name":"t",{}"_meta":{{"progressToken":{},"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{"sampling":{{}}}}}}}}}})",
            id, rest, token));
  };
  with_token("1", R"("one")", "");
  const UpstreamId id = t.id_of_call("t");
  const auto progress = [&] {
    t.upstream.say(
        fmt::format(
            R"({{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{},"progress":1}}}})",
            value_of(id)),
        id);
  };
  progress();
  CHECK(contains(client.take_line(), R"("progressToken":"one")"));
  t.ask("77", id);
  const std::string state = t.state_of(client);
  progress();
  t.upstream.say(
      R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"x"}})",
      id);
  CHECK(client.lines.empty());
  with_token("2", R"("two")",
             fmt::format(R"("requestState":"{}","inputResponses":{{"1":{{}}}},)", state));
  progress();
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
  t.modern(t.client, "1", fmt::format(R"("requestState":"{}","name":"t","arguments":{{}})", state));
  CHECK(t.refuses(t.client));
  t.modern(t.client, "1", fmt::format(R"("requestState":"{}","name":"t")", state), "prompts/get");
  CHECK(t.refuses(t.client));
  t.modern(t.client, "1", R"("requestState":7,"name":"t")");
  CHECK(t.refuses(t.client));
  t.modern(t.client, "1",
           fmt::format(R"("name":"t","requestState":"{}","requestState":"{}")", state, state));
  t.client.take_lines();
  t.modern(t.client, "1",
           fmt::format(R"("name":"t","requestState":"{}","inputResponses":{{"1":{{}},"1":{{}}}})",
                       state));
  CHECK(t.refuses(t.client));
  std::string many;
  for (int key = 0; key < 65; ++key) many += fmt::format(R"({}"{}":{{}})", key ? "," : "", key);
  t.modern(t.client, "1",
           fmt::format(R"("name":"t","requestState":"{}","inputResponses":{{{}}})", state, many));
  CHECK(t.refuses(t.client));
  CHECK(t.calls() == Lines{"t"});
  t.retry(t.client, "1", state);
  CHECK(t.responses() == answer_of("77"));
}

TEST_CASE("answers without a state are nothing to a legacy server, which does not see them") {
  LegacyUpstreamRouter t;
  FakeClient& client = t.connect();
  t.modern(client, "1", R"("name":"t","inputResponses":{"1":{}})");
  CHECK_FALSE(contains(t.upstream.last("tools/call").body, "inputResponses"));
  t.answer_call("t");
  CHECK(t.has_nothing_left());
}

TEST_CASE("a retry without the answer is asked again, with another state") {
  OneModern t;
  const std::string first = t.ask_about();
  t.modern(t.client, "1", fmt::format(R"("name":"t","requestState":"{}")", first));
  const std::string second = t.state_of(t.client);
  CHECK(first != second);
  CHECK(t.responses().empty());
  t.retry(t.client, "2", second);
  CHECK(t.responses() == answer_of("77"));
}

TEST_CASE("a second question is asked when the first one is answered") {
  OneModern t;
  const std::string first = t.ask_about("77");
  t.ask("78", t.call_id, "roots/list");
  CHECK(t.client.lines.empty());
  t.retry(t.client, "1", first);
  CHECK(t.responses() == answer_of("77"));
  const std::string second = t.state_of(t.client);
  t.retry(t.client, "2", second, R"({"roots":[]})");
  CHECK(t.responses() == answer_of("78", R"({"roots":[]})"));
  t.answer_call("t");
  CHECK(contains(t.client.take_line(), R"("id":2)"));
  CHECK(t.has_nothing_left());
}

TEST_CASE("one call may leave 64 questions unasked; after 16 rounds none is asked any more") {
  OneModern t;
  std::string state = t.ask_about("1");
  for (int more = 2; more <= 64; ++more) t.ask(std::to_string(more), t.call_id);
  CHECK(t.responses().empty());
  t.ask("65", t.call_id);
  CHECK(t.is_refused());
  for (unsigned round = 1; round < SuspendedCalls::max_rounds; ++round) {
    t.retry(t.client, "1", state);
    CHECK(t.responses().size() == 1);
    state = t.state_of(t.client);
  }
  t.retry(t.client, "9", state);
  CHECK(t.responses().size() == 64 - SuspendedCalls::max_rounds + 1);
  CHECK(t.client.lines.empty());
  t.ask("66", t.call_id);
  CHECK(t.is_refused());
  t.answer_call("t");
  CHECK(contains(t.client.take_line(), R"("id":9)"));
  CHECK(t.has_nothing_left());
}

TEST_CASE("only what the request itself declares is asked in a result, and only of three methods") {
  LegacyUpstreamRouter t;
  FakeClient& client = t.connect();
  t.modern(client, "1", R"("name":"t")", "tools/call", R"({"elicitation":{}})");
  t.ask("1", t.id_of_call("t"));
  CHECK(t.is_refused());
  t.ask("2", t.id_of_call("t"), "x/y");
  CHECK(t.is_refused());
  CHECK(client.lines.empty());
  t.modern(client, "2", R"("x":1)", "tools/list");
  t.ask("3", t.upstream.id_of("tools/list"));
  CHECK(t.is_refused());
  // What it does not cover may still be asked of the user's other clients.
  FakeClient& helper = t.connect_answering(R"("sampling/createMessage")");
  t.ask("4", t.id_of_call("t"));
  CHECK(helper.lines.size() == 1);
}

TEST_CASE("a question that says no request goes to the call that is in flight") {
  LegacyUpstreamRouter t;
  FakeClient& client = t.connect();
  SUBCASE("of the only client that has one") {
    t.modern_call(client, "1");
    t.ask("7");
    const std::string state = t.state_of(client);
    // And to the suspended one, if there is no other.
    t.ask("8");
    t.retry(client, "2", state);
    CHECK(t.responses() == answer_of("7"));
    CHECK_FALSE(t.state_of(client).empty());
  }
  SUBCASE("but not if only a legacy client has one") {
    FakeClient& legacy = t.connect_answering(R"("sampling/createMessage")");
    t.call(legacy, "1", "l");
    t.ask("7");
    CHECK(legacy.lines.size() == 1);
  }
  SUBCASE("else it goes the old way") {
    t.ask("7");
    CHECK(t.is_refused());
  }
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

TEST_CASE("a question that the server takes back is not answered; the call goes on") {
  OneModern t;
  const std::string state = t.ask_about();
  t.upstream.say(
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}})");
  t.retry(t.client, "1", state);
  CHECK(t.responses().empty());
  CHECK(t.client.lines.empty());
  t.answer_call("t");
  CHECK(contains(t.client.take_line(), R"("id":1)"));
}

TEST_CASE("a suspended call takes no place, and the retry takes one again") {
  RouterOptions options;
  options.max_inflight = 1;
  OneModern t(options);
  t.modern_call(t.client, "2", "next");
  CHECK(t.calls() == Lines{"t"});
  t.ask("77", t.call_id);
  CHECK(t.calls() == Lines{"t", "next"});
  const std::string state = t.state_of(t.client);
  t.retry(t.client, "3", state);
  CHECK(t.responses().empty());  // it waits for the place
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
  RouterOptions options;
  options.client_inflight = 2;
  options.max_inflight = 3;
  LegacyUpstreamRouter t(options);
  const auto suspends = [&](FakeClient& client, std::string_view name) {
    t.modern_call(client, "1", name);
    t.ask("7", t.id_of_call(name));
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

TEST_CASE("a modern request that opens the session says what it declares, beside elicitation") {
  RouterFixture t;
  FakeClient& client = t.connect();
  t.send(
      client,
      R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":{}}}}})");
  const std::string& sent = t.upstream.last("initialize").body;
  CHECK(contains(sent, R"("roots":{})"));
  CHECK(contains(sent, R"("elicitation":{)"));
}
