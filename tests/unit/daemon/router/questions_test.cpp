// BEHAVIOUR, "Server requests: who is asked", "Server requests: if no client can be asked" and
// "Server requests: how a server request ends".
#include "router/questions.hpp"

#include "router_fixture.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view sampling = R"("sampling/createMessage")";

std::string result_of(std::string_view raw_id, std::string_view result) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", raw_id, result);
}
/// A client that may be asked from now on, not before.
void declare(RouterFixture& t, const FakeClient& client) {
  t.notify(client, "bridge/answers", R"({"methods":["sampling/createMessage"]})");
}
/// The notice to the client about the call that the following question is about.
std::string told_caller(const FakeClient& client) {
  if (client.lines.size() != 2) return {};
  REQUIRE(find_string(client.lines[0], "method") == "notifications/bridge/question_about");
  const auto params = find_member(client.lines[0], "params");
  CHECK(find_member(*params, "requestId") == find_member(client.lines[1], "id"));
  return find_string(*params, "caller").value_or("");
}

}  // namespace

TEST_CASE("a request goes to who declared it, under an id of the bridge's, and its answer back") {
  OneClient t;
  t.call_and_answer(t.client);
  FakeClient& client = t.connect_answering(sampling);
  FakeClient& younger = t.connect_answering(sampling);
  t.ask(R"("srv")");
  const std::uint64_t id = asked(client);
  CHECK(id != 0);
  // Accepted only from the client that was asked, and only once.
  t.respond(younger, id, R"("stolen")");
  t.respond(client, id + 1, R"("other")");
  t.respond(client, id, R"("mine")");
  t.respond(client, id, R"("again")");
  CHECK(t.responses() == Lines{result_of(R"("srv")", R"("mine")")});
  CHECK(t.router.statistics().unknown_answers == 3);
  CHECK(t.client.lines.empty());
  CHECK(younger.lines.empty());
}

TEST_CASE("the upstream's ping is answered by the bridge") {
  OneClient t;
  t.ask("7", {}, "ping");
  CHECK(t.responses() == Lines{result_of("7", "{}")});
  CHECK(t.client.lines.empty());
}

TEST_CASE(
    "whose call it is about, and who has never said what it answers, is told of the refusal") {
  OneClient t;
  t.call(t.client, "5", "a");
  t.ask("1", t.id_of_call("a"), "elicitation/create", R"({"message":"Which \"one\"?"})");
  CHECK(t.is_refused());
  CHECK(t.client.about == Lines{"5"});
  CHECK(
      t.client.take_line() ==
      R"({"jsonrpc":"2.0","method":"notifications/bridge/question_refused","params":{"method":"elicitation/create","message":"Which \"one\"?"}})");
  // Without a request of the client that is surely meant.
  FakeClient& other = t.connect();
  t.call(other, "6", "b");
  t.ask("2", {}, "elicitation/create", R"({"message":"m"})");
  CHECK(t.is_refused());
  CHECK(t.client.take_lines().empty());
  CHECK(other.take_lines().empty());
}

TEST_CASE("by its initialize a client counts once it is complete, and is told no refusal") {
  OneClient t;
  t.initialize(t.client, "0", R"({"sampling":{}})");
  t.client.take_lines();
  t.ask("1");
  CHECK(t.is_refused());
  t.notify(t.client, "notifications/initialized");
  t.ask("2");
  CHECK(asked(t.client) != 0);
  t.call(t.client, "5", "a");
  t.ask("3", t.id_of_call("a"), "elicitation/create");
  CHECK(t.is_refused());
  CHECK(t.client.take_lines().empty());
}

TEST_CASE("it goes to the only client with requests in flight, else to the one connected longest") {
  OpenRouter t;
  FakeClient& oldest = t.connect_answering(sampling);
  FakeClient& busy = t.connect_answering(sampling);
  t.ask("1");
  CHECK(asked(oldest) != 0);
  t.call(busy, "1", "a");
  t.ask("2");
  CHECK(asked(busy) != 0);
  t.call(oldest, "1", "b");
  t.ask("3");
  CHECK(asked(oldest) != 0);
}

TEST_CASE("one about a request goes to its client first, and to its user's alone") {
  OpenRouter t;
  FakeClient& stranger = t.connect_answering(sampling, "unix", 2000);
  FakeClient& remote = t.connect_answering(sampling, "http");
  FakeClient& same = t.connect_answering(sampling);
  FakeClient& client = t.connect_answering(sampling);
  t.call(client, "5", "a");
  const UpstreamId about = t.id_of_call("a");
  t.ask("1", about);
  CHECK(client.about == Lines{"5"});
  t.decline(client, asked(client));
  const std::uint64_t id = asked(same);
  CHECK(id != 0);
  t.decline(same, id);
  CHECK(t.is_refused());
  CHECK(stranger.lines.empty());
  CHECK(remote.lines.empty());
  // Its user still counts when the client has left and the request goes on.
  t.leave(client);
  t.ask("2", about);
  CHECK(asked(same) != 0);
  CHECK(stranger.lines.empty());
  // On the server stream it is for every client.
  t.leave(same);
  t.ask("3");
  CHECK(asked(stranger) != 0);
}

TEST_CASE("a refusal passes it on, the last one's is the answer; any other error is an answer") {
  OpenRouter t;
  FakeClient& first = t.connect_answering(sampling);
  FakeClient& second = t.connect_answering(sampling);
  t.ask("1");
  t.decline(first, asked(first));
  t.decline(second, asked(second));
  CHECK(t.responses() ==
        Lines{R"({"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}})"});
  t.ask("2");
  t.decline(first, asked(first), -1);
  CHECK(t.responses() == Lines{R"({"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"no"}})"});
  CHECK(second.lines.empty());
}

TEST_CASE("one that has left a question open for 30 s is asked no further one") {
  OpenRouter t;
  FakeClient& silent = t.connect_answering(sampling);
  FakeClient& other = t.connect_answering(sampling);
  t.ask("1");
  const std::uint64_t id = asked(silent);
  CHECK(id != 0);
  t.advance(29999ms);
  t.ask("2");
  CHECK(asked(silent) != 0);
  t.advance(1ms);
  t.ask("3");
  CHECK(asked(other) != 0);
  CHECK(silent.lines.empty());
  // An open question stays with the client that has it.
  t.respond(silent, id, R"("late")");
  CHECK(t.responses() == Lines{result_of("1", R"("late")")});
}

TEST_CASE("with clients connected of whom none can be asked it is refused at once") {
  OneClient t;
  t.call_and_answer(t.client);
  t.ask("1");
  CHECK(t.is_refused());
  CHECK(t.router.parked() == 0);
}

TEST_CASE("with nobody connected, or only onlookers, it is parked for --park-requests") {
  for (const bool looks_on : {false, true}) {
    CAPTURE(looks_on);
    OpenRouter t;
    if (looks_on) t.send(t.connect(), R"({"jsonrpc":"2.0","id":1,"method":"bridge/status"})");
    t.ask(R"("srv")");
    t.advance(10s);
    t.ask(R"("later")");
    CHECK(t.router.parked() == 2);
    t.advance(19999ms);
    CHECK(t.responses().empty());
    t.advance(1ms);
    const Lines told = t.responses();
    REQUIRE(told.size() == 1);
    CHECK(contains(told[0], R"("id":"srv")"));
    CHECK(contains(told[0], R"("code":-32000)"));
    t.advance(10s);
    CHECK(t.responses().size() == 1);
    CHECK_FALSE(t.loop.next_due());
  }
}

TEST_CASE("a parked one goes to the first client that can be asked") {
  OpenRouter t;
  t.ask(R"("srv")");
  FakeClient& unfit = t.connect_answering(R"("roots/list")");
  FakeClient& unreachable = t.connect();
  unreachable.reachable = false;
  declare(t, unreachable);
  CHECK(unreachable.lines.empty());
  unreachable.reachable = true;
  t.in_turn([&] { t.router.from_clients().client_can_be_asked(unreachable.identity().id); });
  t.respond(unreachable, asked(unreachable));
  CHECK(t.responses().size() == 1);
  CHECK(unfit.lines.empty());
  t.advance(30s);
  CHECK(t.responses().empty());
}

TEST_CASE("at most 64 are parked; the next is told that it is too much") {
  OpenRouter t;
  for (int n = 0; n < 64; ++n) t.ask(std::to_string(n));
  CHECK(t.responses().empty());
  t.ask("64");
  CHECK(contains(t.responses().at(0), "overloaded"));
}

TEST_CASE("when the one that was asked leaves, the session's question waits for another") {
  OpenRouter t;
  FakeClient& first = t.connect_answering(sampling);
  t.ask("1");
  CHECK(asked(first) != 0);
  t.advance(20s);
  t.leave(first);
  CHECK(t.router.parked() == 1);
  t.advance(29s);
  FakeClient& second = t.connect();
  declare(t, second);
  t.respond(second, asked(second));
  CHECK(t.responses().size() == 1);
}

TEST_CASE("who is asked about another's call, or perhaps about one, is told so first") {
  OpenRouter t;
  FakeClient& first = t.connect_answering(sampling);
  FakeClient& second = t.connect_answering(sampling);
  t.ask("1");  // about no particular client's call
  CHECK(told_caller(first).empty());
  CHECK(asked(first) != 0);
  t.call(second, "5", "a");
  t.ask("2");
  CHECK(told_caller(second).empty());
  CHECK(asked(second) != 0);
  t.call(first, "5", "b");
  t.ask("3");
  CHECK(told_caller(first) == "unknown");
  CHECK(asked(first) != 0);
  t.ask("4", t.id_of_call("a"));
  CHECK(told_caller(second).empty());
  CHECK(asked(second) != 0);
}

TEST_CASE("so is who is asked what one that has left was asked") {
  for (const bool call_ends : {false, true}) {
    CAPTURE(call_ends);
    OpenRouter t;
    FakeClient& first = t.connect_answering(sampling);
    t.call(first, "5", "a");
    t.ask("1");
    t.leave(first);
    if (call_ends) t.answer_call("a");
    FakeClient& second = t.connect();
    t.call(second, "5", "b");
    declare(t, second);
    CHECK(told_caller(second) == "another");
    t.respond(second, asked(second));
    if (!call_ends) t.ask("2");
    if (!call_ends) CHECK(told_caller(second) == "unknown");
  }
}

TEST_CASE("one that has not named such requests by bridge/answers is told nothing of it") {
  OneClient t;
  t.initialize(t.client, "0", R"({"sampling":{}})");
  t.notify(t.client, "notifications/initialized");
  FakeClient& other = t.connect();
  t.call(other, "5", "a");
  t.client.take_lines();
  t.ask("1");
  CHECK(t.client.lines.size() == 1);
  CHECK(asked(t.client) != 0);
}

TEST_CASE("one that half-closes passes its question on, and is asked no other") {
  OpenRouter t;
  FakeClient& other = t.connect_answering(sampling);
  FakeClient& client = t.connect_answering(sampling);
  t.call(client, "5", "a");
  t.ask("1", t.id_of_call("a"));
  CHECK(asked(client) != 0);
  t.half_close(client);
  CHECK(asked(other) != 0);
  t.ask("2", t.id_of_call("a"));
  CHECK(asked(other) != 0);
  t.leave(other);
  CHECK(t.responses().size() == 2);
  t.ask("3", t.id_of_call("a"));
  CHECK(t.is_refused());
  CHECK(client.lines.empty());
}

TEST_CASE("a question about a request of a client that leaves is refused, not passed on") {
  OpenRouter t;
  FakeClient& other = t.connect_answering(sampling);
  FakeClient& client = t.connect_answering(sampling);
  t.call(client, "5", "a");
  t.ask("1", t.id_of_call("a"));
  CHECK(asked(client) != 0);
  t.leave(client);
  CHECK(t.is_refused());
  CHECK(other.lines.empty());
}

TEST_CASE("when a request ends, another who is asked about it is told, before the answer") {
  OpenRouter t;
  FakeClient& other = t.connect_answering(sampling);
  FakeClient& client = t.connect();
  t.call(client, "5", "a");
  t.ask("1", t.id_of_call("a"));
  const std::uint64_t id = asked(other);
  t.answer_call("a");
  const std::string told = other.take_line();
  CHECK(contains(told, "notifications/cancelled"));
  CHECK(contains(told, fmt::format(R"("requestId":{},)", id)));
  t.respond(other, id);
  CHECK(t.responses().empty());
}

TEST_CASE("the upstream's cancellation goes to who is asked with its id, or removes a parked one") {
  OpenRouter t;
  t.ask(R"("p")");
  t.upstream.notify("notifications/cancelled", R"({"requestId":"p"})");
  CHECK(t.router.parked() == 0);
  FakeClient& client = t.connect_answering(sampling);
  t.ask(R"("q")");
  const std::uint64_t id = asked(client);
  t.upstream.notify("notifications/cancelled", R"({"reason":"1.0","requestId":"q"})");
  CHECK(
      client.take_line() ==
      fmt::format(
          R"({{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"reason":"1.0","requestId":{}}}}})",
          id));
  t.respond(client, id);
  CHECK(t.responses().empty());
}

TEST_CASE("with the session its questions are lost: who was asked is told") {
  OpenRouter t;
  FakeClient& client = t.connect_answering(sampling);
  t.ask("1");
  const std::uint64_t id = asked(client);
  t.upstream.lose_session();
  t.let_it_open();
  CHECK(contains(client.take_line(), fmt::format(R"("requestId":{},)", id)));
  t.upstream.sent.clear();
  t.respond(client, id);
  CHECK(t.responses().empty());
}

TEST_CASE("what a client answers while no session is open is not said in the next one") {
  OpenRouter t;
  FakeClient& client = t.connect_answering(sampling);
  t.ask("1");
  const std::uint64_t id = asked(client);
  t.upstream.lose_session();
  t.respond(client, id);
  t.let_it_open();
  CHECK(t.responses().empty());
}

TEST_CASE("a question about a call that is repeated in the next session is over") {
  OpenRouter t;
  FakeClient& client = t.connect_answering(sampling);
  t.request(client, "5", "tools/list");
  t.ask("1", t.upstream.id_of("tools/list"));
  const std::uint64_t id = asked(client);
  t.upstream.fail(t.upstream.id_of("tools/list"),
                  failure_of(ErrorKind::session, Delivered::no, "unknown session"),
                  SessionVerdict::lost);
  t.let_it_open();
  CHECK(contains(client.take_line(), fmt::format(R"("requestId":{},)", id)));
  const UpstreamId repeated = t.upstream.id_of("tools/list");
  t.upstream.sent.clear();
  t.ask("1", repeated);
  const std::uint64_t again = asked(client);
  t.respond(client, id);
  CHECK(t.responses().empty());
  t.respond(client, again);
  CHECK(t.responses().size() == 1);
}

TEST_CASE("what the server asks while its next session is being opened is of that session") {
  OpenRouter t;
  FakeClient& client = t.connect_answering(sampling);
  t.upstream.lose_session();
  t.upstream.answer(t.upstream.id_of("initialize"), t.kept_result);
  t.upstream.server_stream(ServerStream::open);
  t.ask("1");
  const std::uint64_t id = asked(client);
  t.upstream.finish(t.upstream.id_of("notifications/initialized"));
  REQUIRE(t.session.is_open());
  client.take_lines();
  t.upstream.sent.clear();
  t.respond(client, id);
  CHECK(t.responses().size() == 1);
}

namespace {

struct FakeOnlookers final : RequestOnlookers {
  bool has_onlooker() const override { return true; }
  void show_request(const std::string& line) override { shown.push_back(line); }
  Lines shown;
};

}  // namespace

// Requests that name what only one client knows.

namespace {

constexpr std::string_view task_get = "tasks/get";

/// An older client has a call in flight; only the younger one knows the name.
struct Named : RouterFixture {
  explicit Named() {
    open();
    for (FakeClient* const one : {&busy, &knower})
      notify(*one, "bridge/answers",
             R"({"methods":["sampling/createMessage","elicitation/create"]})");
    call(knower, "0", "hello");
    answer_call("hello");
    knower.take_lines();
    call(busy, "1", "busy");
  }
  /// The knower answers a question with a task of its own.
  void knower_tells() {
    ask(R"("first")", ask_about_knower());
    respond(knower, asked(knower), R"({"task":{"taskId":"t-1","status":"working"}})");
    answer_call("mine");
    responses();
    knower.take_lines();
    busy.take_lines();
  }
  std::optional<UpstreamId> ask_about_knower() {
    call(knower, "2", "mine");
    return id_of_call("mine");
  }

  FakeClient& busy = connect();
  FakeClient& knower = connect();
};

}  // namespace

TEST_CASE("a request that names what one client knows is for that client alone") {
  struct Row {
    const char* of;
    void (*tell)(Named&);
    std::string_view method;
    const char* params;
    int refusal;  // when the client has left
  };
  const Row rows[] = {
      {"a task in a client's answer", [](Named& t) { t.knower_tells(); }, task_get,
       R"({"taskId":"t-1"})", -32602},
      {"its result", [](Named& t) { t.knower_tells(); }, "tasks/result", R"({"taskId":"t-1"})",
       -32602},
      {"its end", [](Named& t) { t.knower_tells(); }, "tasks/cancel", R"({"taskId":"t-1"})",
       -32602},
      {"a task that a client has notified of",
       [](Named& t) { t.notify(t.knower, "notifications/tasks/status", R"({"taskId":"t-1"})"); },
       task_get, R"({"taskId":"t-1"})", -32602},
      {"a task of the server",
       [](Named& t) {
         t.call(t.knower, "2", "mine");
         t.answer_call("mine", R"({"task":{"taskId":"t-1"}})");
       },
       "sampling/createMessage",
       R"({"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t-1"}}})", -32601},
      {"an elicitation in an error",
       [](Named& t) {
         t.call(t.knower, "2", "mine");
         t.upstream.answer_error(
             t.id_of_call("mine"),
             R"({"code":-32042,"message":"m","data":{"elicitations":[{"elicitationId":"t-1"}]}})");
       },
       "elicitation/create", R"({"mode":"url","elicitationId":"t-1"})", -32601},
      {"an elicitation that it was asked",
       [](Named& t) {
         t.ask("1", t.ask_about_knower(), "elicitation/create",
               R"({"mode":"url","elicitationId":"t-1"})");
       },
       "elicitation/create", R"({"mode":"url","elicitationId":"t-1"})", -32601},
  };
  for (const Row& row : rows) {
    INFO(row.of);
    Named t;
    row.tell(t);
    t.knower.take_lines();
    t.busy.take_lines();
    t.responses();
    t.ask(R"("named")", {}, row.method, row.params);
    CHECK(t.busy.lines.empty());
    const std::uint64_t id = asked(t.knower);
    REQUIRE(id != 0);
    t.respond(t.busy, id, R"("stolen")");
    CHECK(t.responses().empty());
    t.leave(t.knower);
    for (const std::string& told : t.responses())
      CHECK(contains(told, fmt::format(R"("code":{})", row.refusal)));
    t.ask(R"("later")", {}, row.method, row.params);
    const Lines told = t.responses();
    REQUIRE(told.size() == 1);
    CHECK(contains(told.front(), fmt::format(R"("code":{})", row.refusal)));
    CHECK(t.busy.lines.empty());
  }
}

TEST_CASE("a client keeps its task, and another session knows no name") {
  Named t;
  t.knower_tells();
  t.notify(t.busy, "notifications/tasks/status", R"({"taskId":"t-1"})");
  t.ask("1", {}, task_get, R"({"taskId":"t-1"})");
  CHECK(asked(t.knower) != 0);
  CHECK(t.busy.lines.empty());
}

TEST_CASE("names are bounded, each client's by its own") {
  ToldNames names;
  using Kind = ToldNames::Kind;
  const auto other = static_cast<ClientId>(1);
  const auto client = static_cast<ClientId>(2);
  names.note(Kind::client_task, "t", other);
  names.note(Kind::client_task, "t", client);
  CHECK(names.find(Kind::client_task, "t") == other);
  CHECK_FALSE(names.find(Kind::server_task, "t"));
  for (std::size_t count = 0; count <= ToldNames::most_of_client; ++count)
    names.note(Kind::client_task, std::to_string(count), client);
  CHECK_FALSE(names.find(Kind::client_task, "0"));
  CHECK(names.find(Kind::client_task, "1") == client);
  CHECK(names.find(Kind::client_task, "t") == other);
  names.note(Kind::client_task, std::string(ToldNames::longest + 1, 'x'), other);
  for (std::size_t count = 0; count < ToldNames::most; ++count)
    names.note(Kind::elicitation, std::to_string(count), static_cast<ClientId>(3 + count));
  CHECK(names.entries().size() == ToldNames::most);
  CHECK_FALSE(names.find(Kind::client_task, "t"));
}

TEST_CASE("onlookers see the session's questions and those about their own user's calls") {
  FakeOnlookers onlookers;
  RouterFixture t;
  t.router.set_onlookers(onlookers);
  t.open();
  FakeClient& local = t.connect();
  FakeClient& remote = t.connect("http");
  t.call(local, "1", "local");
  t.call(remote, "1", "remote");
  t.ask("1");
  CHECK(onlookers.shown.size() == 1);
  t.ask("2", t.id_of_call("remote"));
  CHECK(onlookers.shown.size() == 2);
  t.responses();
  t.ask("3", t.id_of_call("local"));
  CHECK(onlookers.shown.size() == 2);
  CHECK(t.is_refused());
}

TEST_CASE("what onlookers see is parked in every case and may be answered unasked") {
  FakeOnlookers onlookers;
  RouterFixture t;
  t.router.set_onlookers(onlookers);
  t.open();
  FakeClient& client = t.connect();
  t.call_and_answer(client);
  t.ask(R"("srv")");
  REQUIRE(onlookers.shown.size() == 1);
  const std::uint64_t id = id_in(onlookers.shown[0]);
  t.respond(client, id, R"("not allowed")");
  CHECK(t.responses().empty());
  client.takes_unasked = true;
  t.respond(client, id, R"("allowed")");
  CHECK(t.responses() == Lines{result_of(R"("srv")", R"("allowed")")});
}

TEST_CASE("a request that names a client's request is for that client, which knows it by its id") {
  for (const bool as_text : {false, true}) {
    Named t;
    const std::uint64_t call = value_of(*t.ask_about_knower());
    const std::string named = as_text ? fmt::format("\"{}\"", call) : std::to_string(call);
    t.ask(R"("named")", {}, "sampling/createMessage",
          fmt::format(R"({{"requestId":{},"n":1}})", named));
    CHECK(t.busy.lines.empty());
    REQUIRE(t.knower.lines.size() == 1);
    CHECK(contains(t.knower.lines.front(), R"({"requestId":2,"n":1})"));
    const std::uint64_t id = asked(t.knower);
    t.respond(t.knower, id, R"("mine")");
    CHECK(t.responses() == Lines{result_of(R"("named")", R"("mine")")});
  }
}

TEST_CASE("a request that names no request in flight is for the client that is likely meant") {
  for (const char* const named : {"999", R"("abc")", "{}", "null"}) {
    Named t;
    t.ask(R"("named")", {}, "sampling/createMessage", fmt::format(R"({{"requestId":{}}})", named));
    const FakeClient& likely = t.busy.lines.empty() ? t.knower : t.busy;
    CHECK(contains(likely.lines.back(), fmt::format(R"({{"requestId":{}}})", named)));
  }
}
