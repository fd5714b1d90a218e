// BEHAVIOUR, "Eras: questions to a legacy client".
#include "router/crossing/legacy_to_modern.hpp"

#include "router/router_upgrade.hpp"
#include "router_fixture.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view all_three =
    R"("sampling/createMessage","elicitation/create","roots/list")";

std::string question(std::string_view key, std::string_view method) {
  return fmt::format(R"("{}":{{"method":"{}","params":{{"message":"m","messages":[]}}}})", key,
                     method);
}
std::string asks(std::string_view questions, std::string_view state = R"("requestState":"s")") {
  return fmt::format(R"({{"resultType":"input_required","inputRequests":{{{}}}{}{}}})", questions,
                     state.empty() ? "" : ",", state);
}
const std::string sampling = question("q", "sampling/createMessage");
const std::string elicitation = question("e", "elicitation/create");

/// A modern upstream, and a legacy client that answers everything.
struct ModernUpstreamRouter : RouterFixture {
  explicit ModernUpstreamRouter(const RouterOptions& options = {}) : RouterFixture(options) {
    open_modern();
  }

  FakeClient& connect_capable(std::string kind = "unix", uid_t uid = 1000) {
    return connect_answering(all_three, std::move(kind), uid);
  }
  std::string params_of_call(std::string_view name) const {
    for (auto message = upstream.sent.rbegin(); message != upstream.sent.rend(); ++message) {
      if (message->id == id_of_call(name))
        return std::string(find_member(message->body, "params").value_or(""));
    }
    return {};
  }
  /// No request is left in flight or at the upstream, except the bridge's own
  /// subscriptions/listen.
  bool has_nothing_left() const {
    return router.in_flight() == 0 &&
           upstream.under_way() == upstream.count("subscriptions/listen");
  }
};

struct OneCall : ModernUpstreamRouter {
  explicit OneCall(const RouterOptions& options = {}) : ModernUpstreamRouter(options) {
    call(client, "\"c\"", "t");
  }
  FakeClient& client = connect_capable();
};
/// A call of a client that answers nothing, beside another of its user's that does.
struct CallWithHelper : ModernUpstreamRouter {
  CallWithHelper() { call(client, "1", "t"); }
  FakeClient& helper = connect_capable();
  FakeClient& client = connect();
};
/// Its client has been asked a question.
struct AskedOnce : OneCall {
  explicit AskedOnce(const RouterOptions& options = {}) : OneCall(options) {
    answer_call("t", asks(sampling));
    id = asked(client);
  }
  std::uint64_t id = 0;
};

bool ends_with_kind(FakeClient& client, std::string_view kind) {
  const std::string line = client.take_line();
  return contains(line, R"("error":)") && contains(line, fmt::format(R"("kind":"{}")", kind));
}

}  // namespace

TEST_CASE("a question in a result is asked as a request, and its answer goes with the next try") {
  OneCall t;
  const UpstreamId first = t.id_of_call("t");
  t.answer_call("t", asks(question("k\\u0031", "sampling/createMessage"),
                          R"("requestState":"a\u0062 \"x\" ü")"));
  CHECK(t.client.about == Lines{R"("c")"});
  const std::string line = t.client.take_line();
  CHECK(contains(line, R"("method":"sampling/createMessage")"));
  CHECK(t.client.answered == Lines{"0"});
  CHECK(t.router.in_flight() == 1);
  CHECK(t.calls().size() == 2);  // hello, and the call

  t.respond(t.client, id_in(line), R"({"role":"x"})");
  const UpstreamId second = t.id_of_call("t");
  CHECK(value_of(second) > value_of(first));
  const std::string params = t.params_of_call("t");
  CHECK(contains(params, R"("inputResponses":{"k\u0031":{"role":"x"}})"));
  CHECK(contains(params, R"("requestState":"a\u0062 \"x\" ü")"));
  CHECK(contains(params, "io.modelcontextprotocol/protocolVersion"));
  const Outgoing& again = t.upstream.last("tools/call");
  CHECK(std::find(again.headers.begin(), again.headers.end(), "Mcp-Name: t") !=
        again.headers.end());

  t.answer_call("t", R"({"resultType":"complete","content":[]})");
  CHECK(t.client.take_line() ==
        R"({"jsonrpc":"2.0","id":"c","result":{"resultType":"complete","content":[]}})");
  CHECK(t.has_nothing_left());
}

TEST_CASE("all questions of a result are asked at once, and it goes on with the last answer") {
  OneCall t;
  t.answer_call("t", asks(sampling + "," + elicitation + "," + question("r", "roots/list"), ""));
  const Lines lines = t.client.take_lines();
  REQUIRE(lines.size() == 3);
  t.respond(t.client, id_in(lines[2]), R"({"roots":[]})");
  t.respond(t.client, id_in(lines[0]), R"({"role":"x"})");
  CHECK(t.calls().size() == 2);
  t.respond(t.client, id_in(lines[1]), R"({"action":"accept"})");
  CHECK(t.calls().size() == 3);
  const std::string params = t.params_of_call("t");
  CHECK(contains(
      params, R"("inputResponses":{"q":{"role":"x"},"e":{"action":"accept"},"r":{"roots":[]}})"));
  CHECK_FALSE(contains(params, "requestState"));
  // An answer counts once.
  t.respond(t.client, id_in(lines[1]), R"({"action":"decline"})");
  CHECK(t.router.statistics().unknown_answers == 1);
  CHECK(t.calls().size() == 3);
}

TEST_CASE("progress of the next try goes to the client under its own token") {
  ModernUpstreamRouter t;
  FakeClient& client = t.connect_capable();
  t.call_with_token(client, "1", R"("p")");
  const UpstreamId first = t.id_of_call("t");
  t.answer_call("t", asks(sampling));
  t.respond(client, asked(client));
  t.progress(first);
  CHECK(client.lines.empty());
  t.progress(t.id_of_call("t"));
  CHECK(contains(client.take_line(), R"("progressToken":"p")"));
}

TEST_CASE("its own client is asked first, then others of its user that declared it") {
  ModernUpstreamRouter t;
  FakeClient& stranger = t.connect_capable("unix", 2000);
  FakeClient& remote = t.connect_capable("http");
  FakeClient& helper = t.connect_capable();
  FakeClient& silent = t.connect();
  t.call(silent, "1", "t");
  t.answer_call("t", asks(sampling));
  CHECK(silent.lines.empty());
  CHECK(stranger.lines.empty());
  CHECK(remote.lines.empty());
  // A client that does not know the method passes it on; the last one's answer counts.
  FakeClient& other = t.connect_capable();
  t.decline(helper, asked(helper));
  t.decline(other, asked(other));
  CHECK(ends_with_kind(silent, "no_client"));
  CHECK(t.has_nothing_left());
}

TEST_CASE("an elicitation that nobody answers is cancelled, anything else ends the request") {
  ModernUpstreamRouter t;
  FakeClient& client = t.connect();
  SUBCASE("elicitation") {
    t.call(client, "1", "t");
    t.answer_call("t", asks(elicitation));
    CHECK(contains(t.params_of_call("t"), R"("inputResponses":{"e":{"action":"cancel"}})"));
    t.answer_call("t");
    CHECK(client.answered == Lines{"1"});
  }
  SUBCASE("sampling beside an elicitation") {
    t.call(client, "1", "t");
    t.answer_call("t", asks(elicitation + "," + sampling));
    CHECK(t.calls().size() == 1);
    const Lines lines = client.take_lines();
    REQUIRE(lines.size() == 2);
    CHECK(contains(lines.front(), "notifications/bridge/question_refused"));  // the elicitation
    const std::string& line = lines.back();
    CHECK(contains(line, R"("kind":"no_client")"));
    CHECK(contains(line, "sampling/createMessage"));
  }
  SUBCASE("roots") {
    t.call(client, "1", "t");
    t.answer_call("t", asks(question("r", "roots/list")));
    CHECK(ends_with_kind(client, "no_client"));
  }
  CHECK(t.has_nothing_left());
}

TEST_CASE("an error as the answer cancels an elicitation and ends the request for anything else") {
  OneCall t;
  t.answer_call("t", asks(elicitation));
  t.decline(t.client, asked(t.client), -1);
  CHECK(contains(t.params_of_call("t"), R"("e":{"action":"cancel"})"));
  t.answer_call("t", asks(sampling + "," + elicitation));
  const Lines lines = t.client.take_lines();
  t.decline(t.client, id_in(lines[0]), -1);
  // The other question is withdrawn before the request's end is reported.
  const Lines told = t.client.take_lines();
  REQUIRE(told.size() == 2);
  CHECK(contains(told[0], "notifications/cancelled"));
  CHECK(contains(told[1], R"("kind":"no_client")"));
  CHECK(t.has_nothing_left());
  t.respond(t.client, id_in(lines[1]));
  CHECK(t.router.statistics().unknown_answers == 1);
  CHECK(t.calls().size() == 3);
}

TEST_CASE("after 16 rounds the request ends") {
  OneCall t;
  for (unsigned round = 0; round < LegacyToModern::max_rounds; ++round) {
    t.answer_call("t", asks(sampling));
    t.respond(t.client, asked(t.client));
  }
  CHECK(t.calls().size() == 2 + LegacyToModern::max_rounds);
  t.answer_call("t", asks(sampling));
  CHECK(ends_with_kind(t.client, "overloaded"));
  CHECK(t.has_nothing_left());
}

TEST_CASE("a result without a question is followed by the next try after a pause that doubles") {
  OneCall t;
  std::size_t sent = t.calls().size();
  for (const auto pause : {100ms, 200ms, 400ms}) {
    t.answer_call("t", R"({"resultType":"input_required","requestState":"s"})");
    t.advance(pause - 1ms);
    CHECK(t.calls().size() == sent);
    t.advance(1ms);
    CHECK(t.calls().size() == ++sent);
    CHECK_FALSE(contains(t.params_of_call("t"), "inputResponses"));
    CHECK(contains(t.params_of_call("t"), R"("requestState":"s")"));
  }
  // A question in between begins again.
  t.answer_call("t", asks(sampling));
  t.respond(t.client, asked(t.client));
  t.answer_call("t", asks(""));
  t.advance(100ms);
  CHECK(t.calls().size() == sent + 2);
  for (int more = 0; more < 20 && t.router.in_flight() > 0; ++more) {
    t.answer_call("t", asks(""));
    t.advance(LegacyToModern::longest_pause);
  }
  CHECK(ends_with_kind(t.client, "overloaded"));
  CHECK(t.calls().size() == 2 + LegacyToModern::max_rounds);
}

TEST_CASE("a result that cannot be read ends the request") {
  OneCall t;
  t.answer_call("t", R"({"resultType":"input_required"})");
  CHECK(ends_with_kind(t.client, "malformed"));
  CHECK(t.client.lines.empty());
  CHECK(t.has_nothing_left());
}

TEST_CASE("only three methods may be answered so; to a legacy client's others it is an error") {
  ModernUpstreamRouter t;
  FakeClient& client = t.connect_capable();
  t.request(client, "1", "tools/list");
  t.upstream.answer(t.upstream.id_of("tools/list"), asks(sampling));
  CHECK(contains(client.take_line(), R"("kind":"malformed")"));
  CHECK(t.has_nothing_left());
}

TEST_CASE("a client that cancels while it is asked has it over with") {
  AskedOnce t;
  t.cancel(t.client, R"("c")");
  CHECK(contains(t.client.take_line(), "notifications/cancelled"));
  CHECK(t.client.not_answered == Lines{R"("c")"});
  CHECK(t.has_nothing_left());
  CHECK(t.upstream.count("notifications/cancelled") == 0);
  t.respond(t.client, t.id);
  t.advance(1h);
  CHECK(t.calls().size() == 2);
}

TEST_CASE("with the client that asked for it the request ends, whoever was asked") {
  CallWithHelper t;
  t.answer_call("t", asks(sampling));
  const std::uint64_t id = asked(t.helper);
  CHECK(id != 0);
  t.leave(t.client);
  CHECK(contains(t.helper.take_line(), "notifications/cancelled"));
  CHECK(t.has_nothing_left());
  t.respond(t.helper, id);
  CHECK(t.calls().size() == 2);
}

TEST_CASE("if who was asked leaves, another one is, or nobody answers") {
  CallWithHelper t;
  FakeClient& other = t.connect_capable();
  t.answer_call("t", asks(sampling));
  CHECK(asked(t.helper) != 0);
  t.leave(t.helper);
  CHECK(asked(other) != 0);
  t.half_close(other);
  CHECK(ends_with_kind(t.client, "no_client"));
  CHECK(t.has_nothing_left());
}

TEST_CASE("a request whose client has left asks its other clients (--orphans finish)") {
  CallWithHelper t;
  t.leave(t.client);
  t.answer_call("t", asks(sampling));
  t.respond(t.helper, asked(t.helper));
  t.answer_call("t");
  CHECK(t.has_nothing_left());
}

TEST_CASE("what is asked waits for --input-wait") {
  AskedOnce t({.input_wait = 10s});
  t.advance(9999ms);
  CHECK(t.client.lines.empty());
  t.advance(1ms);
  const Lines told = t.client.take_lines();
  REQUIRE(told.size() == 2);
  CHECK(contains(told[0], "notifications/cancelled"));
  CHECK(contains(told[1], R"("kind":"timeout")"));
  CHECK(t.has_nothing_left());
  t.respond(t.client, t.id);
  CHECK(t.calls().size() == 2);
}

TEST_CASE("a session that is lost while the client is asked is waited for") {
  AskedOnce t;
  t.lose_modern();
  CHECK_FALSE(t.session.is_open());
  t.respond(t.client, t.id);
  CHECK(t.router.in_flight() == 1);
  SUBCASE("until it is back") {
    t.answer_probe();
    CHECK(t.calls().size() == 3);
    t.answer_call("t");
    CHECK(contains(t.client.take_line(), R"("id":"c","result")"));
  }
  SUBCASE("for --connect-wait") {
    t.advance(10s);
    CHECK(ends_with_kind(t.client, "timeout"));
  }
  SUBCASE("but not for one of an older revision") {
    t.upstream.answer_error(t.upstream.id_of("server/discover"), R"({"code":-32601,"message":""})");
    t.let_it_open();
    CHECK(ends_with_kind(t.client, "session"));
  }
  SUBCASE("and not at the daemon's end") {
    t.in_turn([&] { t.router.begin_shutdown(); });
    CHECK(ends_with_kind(t.client, "shutdown"));
  }
  CHECK(t.router.in_flight() == 0);
}

TEST_CASE("at the daemon's end what is asked has the grace, then it ends") {
  AskedOnce t;
  t.in_turn([&] { t.router.begin_shutdown(); });
  SUBCASE("answered in time") {
    t.respond(t.client, t.id);
    t.answer_call("t");
    CHECK(contains(t.client.take_line(), R"("id":"c","result")"));
  }
  SUBCASE("not answered") {
    t.in_turn([&] { t.router.end_shutdown(); });
    const Lines told = t.client.take_lines();
    REQUIRE(told.size() == 2);
    CHECK(contains(told[1], R"("kind":"shutdown")"));
    t.respond(t.client, t.id);
  }
  CHECK(t.has_nothing_left());
}

TEST_CASE("while it is asked it keeps its place, and its bytes count") {
  OneCall t({.max_inflight = 1});
  const std::size_t before = t.budget.used();
  t.answer_call("t", asks(sampling));
  CHECK(t.budget.used() > before);
  const std::uint64_t id = asked(t.client);
  t.call(t.client, "2", "next");
  CHECK(t.calls().back() == "t");
  t.respond(t.client, id);
  t.answer_call("t");
  CHECK(t.calls().back() == "next");
  t.answer_call("next");
  CHECK(t.budget.used() == before);
  CHECK(t.has_nothing_left());
}

TEST_CASE(
    "a modern client's request gets the questions and the state of a modern upstream as they are") {
  ModernUpstreamRouter t;
  FakeClient& client = t.connect();
  t.modern(client, "7", "tools/call",
           R"("name":"t","requestState":"a\u0062","inputResponses":{"q":{}},)",
           R"({"sampling":{}})");
  CHECK(contains(t.params_of_call("t"), R"("requestState":"a\u0062","inputResponses":{"q":{}})"));
  const std::string result = asks(sampling, R"("requestState":"x\u0079")");
  t.answer_call("t", result);
  CHECK(client.take_line() == fmt::format(R"({{"jsonrpc":"2.0","id":7,"result":{}}})", result));
  CHECK(t.has_nothing_left());
}

TEST_CASE("a round that is handed over holds as much of the budget as before") {
  OneCall before;
  before.answer_call("t", asks(elicitation, fmt::format(R"("requestState":"{:1000}")", "")));
  before.client.take_lines();
  RouterSnapshot saved = RouterUpgrade(before.router).save(true);
  REQUIRE(saved.calls.size() == 1);
  REQUIRE(saved.calls.front().second.waits_at_bridge());
  REQUIRE(before.budget.used() > 1000);

  ModernUpstreamRouter after;
  after.connect_capable();
  RouterUpgrade upgrade(after.router);
  upgrade.restore_requests(saved, {});
  upgrade.restore_questions(saved);
  CHECK(after.budget.used() == before.budget.used());
}
