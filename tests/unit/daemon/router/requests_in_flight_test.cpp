#include "router/requests_in_flight.hpp"

#include "router_fixture.hpp"

using namespace bridge;
using namespace std::chrono_literals;

TEST_CASE("equal ids of two clients go upstream under increasing numbers and come back") {
  TwoClients t;
  t.call(t.client, "1", "a");
  t.call(t.other, "1", "b");
  CHECK(t.id_of_call("a") < t.id_of_call("b"));
  t.answer_call("b", R"("for b")");
  CHECK(t.client.lines.empty());
  CHECK(t.other.take_line() == R"({"jsonrpc":"2.0","id":1,"result":"for b"})");
  t.answer_call("a", R"("for a")");
  CHECK(t.client.take_line() == R"({"jsonrpc":"2.0","id":1,"result":"for a"})");
  CHECK(t.other.lines.empty());
}

TEST_CASE("an answer and its progress are known by the value of the id") {
  for (const char* form : {R"("{}")", "{}.0", "{}e0", "{}0e-1", R"("{}.0")"}) {
    CAPTURE(form);
    OneClient t;
    t.call_with_token(t.client, R"("\u0078")", R"("t")", "a");
    const UpstreamId id = t.id_of_call("a");
    const std::string returned = fmt::format(fmt::runtime(form), value_of(id));
    t.upstream.notify("notifications/progress",
                      fmt::format(R"({{"progressToken":{},"progress":1}})", returned));
    CHECK(contains(t.client.take_line(), R"("progressToken":"t",)"));
    t.upstream.say(fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":1}})", returned));
    CHECK(t.client.take_line() == R"({"jsonrpc":"2.0","id":"\u0078","result":1})");
  }
  for (const char* form : {R"("0{}")", R"(" {}")", "{}.5", "-{}", R"("{}x")", "{}e1"}) {
    CAPTURE(form);
    OneClient t;
    t.call(t.client, "1", "a");
    const UpstreamId id = t.id_of_call("a");
    t.upstream.say(fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{{}}}})",
                               fmt::format(fmt::runtime(form), value_of(id))),
                   id);
    CHECK(t.client.lines.empty());
    CHECK(t.router.statistics().unknown_answers == 1);
    t.answer_call("a");
    CHECK(t.client.answered == Lines{"1"});
  }
}

TEST_CASE("an error without an id on a request's own stream is that request's") {
  OneClient t;
  t.call(t.client, R"("x")", "a");
  t.upstream.say(R"({"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"m"}})",
                 t.id_of_call("a"));
  CHECK(t.client.take_line() == R"({"jsonrpc":"2.0","id":"x","error":{"code":-1,"message":"m"}})");
}

TEST_CASE("a progress token comes back byte for byte, to its owner alone") {
  TwoClients t;
  for (const std::string token : {R"("t")", "0", R"("")", "1.5", R"("a\"b")", R"("\u0041")"}) {
    CAPTURE(token);
    t.upstream.sent.clear();
    t.call_with_token(t.other, "1", token, "b");  // an equal one of another client
    t.call_with_token(t.client, "1", token, "a");
    const UpstreamId id = t.id_of_call("a");
    CHECK(contains(t.upstream.last("tools/call").body,
                   fmt::format(R"("progressToken":{}}})", value_of(id))));
    // On either stream.
    t.progress(id, id);
    t.progress(id);
    for (const std::string& line : t.client.take_lines())
      CHECK(contains(line, fmt::format(R"("progressToken":{},)", token)));
    CHECK(t.client.about.size() == 2);
    t.client.about.clear();
    t.answer_call("a");
    // A stale token makes real clients hang up.
    t.progress(id);
    CHECK(t.client.take_lines().size() == 1);
    CHECK(t.other.lines.empty());
    t.answer_call("b");
    t.other.take_lines();
  }
  CHECK(t.feed.ring().size() == 0);
}

TEST_CASE("progress of a request without a token, or with an unknown one, is dropped") {
  OneClient t;
  t.call(t.client, "1", "a");
  t.progress(t.id_of_call("a"));
  t.progress(UpstreamId{999});
  CHECK(t.client.lines.empty());
  CHECK(t.router.statistics().dropped_notifications == 2);
}

TEST_CASE("a cancellation goes upstream with the bridge's id, and no answer comes") {
  OneClient t;
  t.call(t.client, R"("A")", "a");
  const UpstreamId id = t.id_of_call("a");
  // The same id in another spelling; the rest of the line stays unchanged.
  const std::string line =
      R"({{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"reason":"0.10 \u0041","requestId":{},"x":1e400}}}})";
  t.send(t.client, fmt::format(fmt::runtime(line), R"("\u0041")"));
  CHECK(t.upstream.last("notifications/cancelled").body ==
        fmt::format(fmt::runtime(line), value_of(id)));
  CHECK(t.upstream.abandoned == std::vector<UpstreamId>{id});
  CHECK(t.client.not_answered == Lines{R"("A")"});
  CHECK(t.router.in_flight() == 0);
  // A response that arrives nevertheless.
  t.answer_call("a");
  CHECK(t.client.lines.empty());
  CHECK(t.router.statistics().unknown_answers == 1);
}

TEST_CASE("a cancellation of an id that the client does not have in flight is dropped") {
  TwoClients t;
  t.call(t.other, "7", "a");
  for (const char* id : {"7", "1", R"("7")", "null", R"("never")", "0"}) t.cancel(t.client, id);
  t.cancel(t.other, R"("7")");
  t.notify(t.other, "notifications/cancelled");
  CHECK(t.upstream.count("notifications/cancelled") == 0);
  t.answer_call("a");
  CHECK(t.other.answered == Lines{"7"});
}

TEST_CASE("an initialize is never cancelled, and goes on without its sender") {
  for (const bool leaves : {false, true}) {
    CAPTURE(leaves);
    RouterFixture t({.orphans = Orphans::cancel});
    FakeClient& client = t.connect();
    t.initialize(client, "0");
    t.cancel(client, "0");
    if (leaves) t.leave(client);
    CHECK(t.upstream.abandoned.empty());
    t.let_it_open();
    CHECK(t.upstream.count("notifications/cancelled") == 0);
    CHECK(t.upstream.count("initialize") == 1);
    CHECK(client.answered == (leaves ? Lines{} : Lines{"0"}));
  }
}

TEST_CASE("the progress of an initialize is its sender's, and its token no part of what is kept") {
  OneUnopened t;
  t.request(
      t.client, "1", "initialize",
      R"({"protocolVersion":"2025-11-25","capabilities":{},"_meta":{"progressToken":"mine","kept":1}})");
  const UpstreamId id = t.upstream.id_of("initialize");
  t.progress(id, id);
  CHECK(contains(t.client.take_line(), R"("progressToken":"mine")"));
  t.let_it_open();
  t.upstream.lose_session();
  CHECK(t.upstream.count("initialize") == 2);
  const std::string& again = t.upstream.last("initialize").body;
  CHECK_FALSE(contains(again, "progressToken"));
  CHECK(contains(again, R"("kept":1)"));
}

TEST_CASE("when a client leaves, --orphans says what becomes of its requests") {
  for (const Orphans orphans : {Orphans::finish, Orphans::cancel}) {
    const bool finishes = orphans == Orphans::finish;
    CAPTURE(finishes);
    TwoClients t({.orphans = orphans});
    t.call(t.other, "1", "a");
    t.call(t.other, "2", "b");
    t.leave(t.other);
    const UpstreamId a = t.id_of_call("a");
    const UpstreamId b = t.id_of_call("b");
    CHECK(t.upstream.count("notifications/cancelled") == (finishes ? 0 : 2));
    CHECK(t.upstream.abandoned ==
          (finishes ? std::vector<UpstreamId>{} : std::vector<UpstreamId>{a, b}));
    CHECK(t.router.in_flight() == (finishes ? 2 : 0));
    // Late messages reach neither the remaining clients nor the next one.
    FakeClient& successor = t.connect();
    t.progress(a, a);
    t.log_message("info", a);
    t.answer_call("a");
    t.answer_call("b");
    CHECK(t.feed.ring().size() == (finishes ? 1 : 0));  // the session's
    for (const FakeClient* one : {&t.other, &t.client, &successor}) CHECK(one->lines.empty());
    CHECK(t.router.in_flight() == 0);
  }
}

TEST_CASE("a notification on a request's stream is its client's, also after the answer") {
  TwoClients t;
  t.call(t.client, "1", "a");
  const UpstreamId id = t.id_of_call("a");
  t.log_message("info", id);
  CHECK(t.client.about == Lines{"1"});
  t.answer_call("a");
  t.log_message("info", id);
  CHECK(t.client.about == Lines{"1"});
  CHECK(t.client.lines.size() == 3);
  CHECK(t.other.lines.empty());
  CHECK(t.feed.ring().size() == 0);
}

TEST_CASE("what belongs to the session is everybody's, wherever it comes from") {
  OneClient t;
  t.call(t.client, "1", "a");
  for (const char* method : {"notifications/tools/list_changed", "notifications/resources/updated",
                             "notifications/elicitation/complete", "notifications/tasks/status"})
    t.upstream.notify(method, "{}", t.id_of_call("a"));
  t.log_message("info");
  CHECK(t.feed.ring().size() == 5);
  CHECK(t.client.lines.empty());
}

TEST_CASE("a stream that ends without the answer says what came instead") {
  struct Row {
    std::string came, told;
  };
  for (const Row& row : {Row{"", R"("kind":"closed")"}, Row{"oops", "malformed answer"},
                         Row{R"({"jsonrpc":"2.0","method":"x/y"})", "ended without the answer"}}) {
    CAPTURE(row.told);
    OneClient t;
    t.call(t.client, "1", "a");
    const UpstreamId id = t.id_of_call("a");
    if (!row.came.empty()) t.upstream.say(row.came, id);
    t.client.take_lines();
    t.upstream.finish(id, !row.came.empty());
    CHECK(contains(t.client.take_line(), row.told));
  }
}

TEST_CASE("a request that was given too much time is cancelled upstream") {
  OneClient t;
  t.call(t.client, "1", "a");
  t.upstream.break_off(t.id_of_call("a"),
                       failure_of(ErrorKind::timeout, Delivered::unknown, "too long"));
  CHECK(contains(t.client.take_line(), R"("kind":"timeout")"));
  CHECK(t.upstream.count("notifications/cancelled") == 1);
}

TEST_CASE("a client whose queue is full has its answer streams paused, later ones too") {
  OneClient t;
  t.call(t.client, "1", "a");
  t.congest(t.client);
  t.call(t.client, "2", "b");
  const UpstreamId a = t.id_of_call("a");
  const UpstreamId b = t.id_of_call("b");
  CHECK(t.upstream.paused[a]);
  CHECK(t.upstream.paused[b]);
  t.congest(t.client, false);
  CHECK_FALSE(t.upstream.paused[a]);
  CHECK_FALSE(t.upstream.paused[b]);
  // Nothing is paused for a client that does not read.
  t.congest(t.client);
  t.leave(t.client);
  CHECK_FALSE(t.upstream.paused[a]);
}
