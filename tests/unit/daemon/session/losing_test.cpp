// A session that the upstream has forgotten, and its replacement (BEHAVIOUR, "Session: a lost
// session" and "Session: reopening").
#include <doctest/doctest.h>

#include <string>

#include "session_fixture.hpp"

using namespace bridge;
using namespace std::chrono_literals;

using Methods = SessionFixture::Methods;

TEST_CASE(
    "a lost session is opened again at once, once for all, and what was refused is sent again") {
  OpenSession t;
  std::vector<UpstreamId> calls;
  for (int call = 0; call < 50; ++call) calls.push_back(t.send());
  for (const UpstreamId id : calls) t.lose(id);
  CHECK(t.session.state() == Session::State::reopening);
  CHECK(t.upstream.count("initialize") == 2);
  CHECK(t.upstream.version.empty());
  t.let_it_open();
  CHECK(t.upstream.count("tools/call") == 100);
  for (const UpstreamId id : calls) CHECK(t.upstream.is_under_way(id));
  CHECK(t.session.counts().reopened == 1);
  CHECK(t.events.told == Methods{"away", "replaced", "open"});
  CHECK(t.events.replaced_for == "lost");
  CHECK(t.events.list_changes == Methods{"notifications/tools/list_changed"});
}

TEST_CASE("what was refused in a session that has been replaced is sent in the new one") {
  OpenSession t;
  const UpstreamId early = t.send();
  const UpstreamId late = t.send();
  t.lose(early);
  t.let_it_open();
  t.lose(late);
  CHECK(t.session.is_open());
  CHECK(t.upstream.is_under_way(late));
  CHECK(t.upstream.count("initialize") == 2);
}

TEST_CASE("a response is sent in no other session, whose requests have the same numbers") {
  OpenSession t;
  const auto respond = [&] {
    Outgoing response;
    response.id = t.ids.next();
    response.kind = OutgoingKind::response;
    response.body = R"({"jsonrpc":"2.0","id":1,"result":{}})";
    const UpstreamId id = response.id;
    t.in_turn([&] { t.session.side(Era::legacy).sender().send(std::move(response)); });
    return id;
  };
  const UpstreamId held = respond();
  const UpstreamId lost = respond();
  const UpstreamId late = respond();
  t.upstream.fail(held, OpenSession::unreachable());
  t.lose(lost);
  CHECK(t.session.state() == Session::State::reopening);
  t.let_it_open();
  t.lose(late);
  t.advance(30s);
  CHECK(t.session.is_open());
  CHECK(t.session.counts().reopened == 1);
  CHECK(t.upstream.count("response") == 3);
  for (const UpstreamId id : {held, lost, late}) CHECK(t.events.end_of(id) != nullptr);
}

TEST_CASE("the end of a local server's process is told as what it is") {
  OpenSession t;
  t.upstream.said_kind = "stdio";
  t.upstream.lose_session();
  t.let_it_open();
  CHECK(t.events.replaced_for == "child_ended");
  REQUIRE(t.session.shown().record().reopening);
  CHECK(t.session.shown().record().reopening->reason == ReopeningReason::child_ended);
}

TEST_CASE("it is opened with what it was opened with before") {
  SessionFixture t;
  t.open_with_clients(R"({"capabilities":{"roots":{"x":1e400}}})");
  t.let_it_open();
  t.upstream.lose_session();
  CHECK(
      t.upstream.last("initialize").body ==
      R"({"jsonrpc":"2.0","id":3,"method":"initialize","params":{"capabilities":{"roots":{"x":1e400}}}})");
  CHECK_FALSE(t.session.wants_initialize());
}

TEST_CASE(
    "the log level is restored first, then all subscriptions at once, then the rest goes on") {
  OpenSession t;
  t.events.set = {R"({"level":"warning"})", {"demo://1", "demo://2"}};
  const UpstreamId call = t.send();
  t.lose(call);
  t.let_it_open();
  CHECK_FALSE(t.session.is_open());
  CHECK(t.upstream.count("logging/setLevel") == 1);
  CHECK(t.upstream.last("logging/setLevel").body.find(R"({"level":"warning"})") !=
        std::string::npos);
  CHECK(t.upstream.count("resources/subscribe") == 0);
  t.upstream.answer(t.upstream.id_of("logging/setLevel"));
  REQUIRE(t.upstream.count("resources/subscribe") == 2);
  const UpstreamId second = t.upstream.id_of("resources/subscribe");
  CHECK(t.upstream.last("resources/subscribe").body.find(R"("params":{"uri":"demo://2"})") !=
        std::string::npos);
  // An error counts as a response; the order does not matter.
  t.upstream.answer_error(second, R"({"code":-32602,"message":"gone"})");
  CHECK_FALSE(t.session.is_open());
  t.upstream.answer(UpstreamId{value_of(second) - 1});
  CHECK(t.session.is_open());
  CHECK(t.upstream.methods().back() == "tools/call");
}

TEST_CASE("what does not answer while it is restored is passed over after five seconds") {
  OpenSession t;
  t.events.set = {"{}", {"demo://1"}};
  t.upstream.lose_session();
  t.let_it_open();
  const UpstreamId level = t.upstream.id_of("logging/setLevel");
  t.advance(4999ms);
  CHECK(t.upstream.is_under_way(level));
  t.advance(1ms);
  CHECK_FALSE(t.upstream.is_under_way(level));
  CHECK(t.upstream.count("resources/subscribe") == 1);
  t.advance(4999ms);
  CHECK_FALSE(t.session.is_open());
  t.advance(1ms);
  CHECK(t.session.is_open());
  CHECK(t.upstream.under_way() == 0);
}

TEST_CASE("many subscriptions delay the session for a second, and the rest of them follows") {
  OpenSession t;
  for (int n = 0; n < 40; ++n) t.events.set.subscriptions.push_back("demo://" + std::to_string(n));
  t.upstream.lose_session();
  t.let_it_open();
  const std::size_t at_once = t.upstream.count("resources/subscribe");
  REQUIRE(at_once < 40);
  auto next = value_of(t.upstream.id_of("resources/subscribe")) - at_once + 1;
  t.events.told.clear();
  t.advance(999ms);
  t.upstream.answer(UpstreamId{next++});
  CHECK(t.upstream.count("resources/subscribe") == at_once + 1);
  t.advance(1ms);
  while (t.upstream.under_way() > 0) {
    CHECK_FALSE(t.session.is_open());
    t.upstream.answer(UpstreamId{next++});
  }
  CHECK(t.session.is_open());
  CHECK(t.upstream.count("resources/subscribe") == at_once + 1);
  CHECK(t.events.count("unrestored") == 40 - at_once - 1);
}

TEST_CASE("what the server puts off while it is restored is sent again, and nothing else is") {
  OpenSession t;
  t.events.set = {"", {"demo://1", "demo://2"}};
  t.upstream.lose_session();
  t.let_it_open();
  REQUIRE(t.upstream.count("resources/subscribe") == 2);
  const UpstreamId second = t.upstream.id_of("resources/subscribe");
  t.upstream.fail(second, t.come_again(429, 2s));
  t.upstream.answer(UpstreamId{value_of(second) - 1});
  t.advance(1999ms);
  CHECK(t.upstream.count("resources/subscribe") == 2);
  t.advance(1ms);
  CHECK(t.upstream.count("resources/subscribe") == 3);
  CHECK(t.upstream.id_of("resources/subscribe") == second);
  CHECK_FALSE(t.session.is_open());
  t.upstream.answer(second);
  CHECK(t.session.is_open());
  CHECK(t.upstream.count("initialize") == 2);
}

TEST_CASE("a server that puts it off without end is not asked without pause, nor waited for") {
  OpenSession t;
  t.events.set = {"", {"demo://1"}};
  t.upstream.lose_session();
  t.let_it_open();
  for (int asked = 1; asked <= 10; ++asked) {
    REQUIRE(t.upstream.count("resources/subscribe") == static_cast<std::size_t>(asked));
    CHECK_FALSE(t.session.is_open());
    t.upstream.fail(t.upstream.id_of("resources/subscribe"),
                    asked % 2 == 0 ? t.status(429) : t.come_again(503, 0s));
    t.advance(500ms);
  }
  CHECK(t.session.is_open());
  CHECK(t.upstream.count("initialize") == 2);
}

TEST_CASE("what is put off for longer than the rest is waited for is not restored") {
  OpenSession t;
  t.events.set = {R"({"level":"warning"})", {"demo://1"}};
  t.upstream.lose_session();
  t.let_it_open();
  t.upstream.fail(t.upstream.id_of("logging/setLevel"), t.come_again(503, 1min));
  REQUIRE(t.upstream.count("resources/subscribe") == 1);
  t.upstream.answer(t.upstream.id_of("resources/subscribe"));
  CHECK(t.session.is_open());
}

TEST_CASE(
    "a reopening that finds the session lost again has failed, and what it has sent is given up") {
  OpenSession t;
  t.events.set = {"", {"demo://1", "demo://2"}};
  t.upstream.lose_session();
  t.let_it_open();
  REQUIRE(t.upstream.count("resources/subscribe") == 2);
  t.lose(t.upstream.id_of("resources/subscribe"));
  CHECK(t.session.state() == Session::State::waiting);
  CHECK(t.upstream.under_way() == 0);
  t.until_next("initialize");
  CHECK(t.session.state() == Session::State::reopening);
  t.let_it_open();
  CHECK(t.upstream.count("resources/subscribe") == 4);
}

TEST_CASE("a session that is lost while it is being opened is a try that has failed") {
  SessionFixture t;
  t.events.frames = true;
  t.require();
  t.upstream.answer(t.upstream.id_of("initialize"), t.result);
  t.upstream.lose_session();
  CHECK(t.session.state() == Session::State::waiting);
  CHECK(t.session.counts().failed_tries == 1);
  t.advance(500ms);
  CHECK(t.upstream.count("initialize") == 2);
}

TEST_CASE("a session that is lost before it has answered anything waits as any failed try does") {
  OpenSession t;
  t.upstream.lose_session();
  CHECK(t.upstream.count("initialize") == 2);
  t.let_it_open();
  t.upstream.lose_session();
  CHECK(t.session.state() == Session::State::waiting);
  CHECK(t.upstream.count("initialize") == 2);
  CHECK(t.until_next("initialize") >= 375ms);
  t.let_it_open();
  // Once it serves again, the next loss is repaired at once.
  t.upstream.answer(t.send());
  t.upstream.lose_session();
  CHECK(t.upstream.count("initialize") == 4);
}

TEST_CASE("a message that meets a lost session three times is answered, not sent again") {
  OpenSession t;
  const UpstreamId call = t.send();
  for (int losses = 0; losses < 3; ++losses) {
    CHECK(t.upstream.is_under_way(call));
    t.lose(call);
    if (losses == 2) break;
    t.time_until([&] { return t.session.state() == Session::State::reopening; }, 2s);
    t.let_it_open();
  }
  REQUIRE(t.events.end_of(call) != nullptr);
  CHECK(t.events.end_of(call)->failure->kind == ErrorKind::session);
  CHECK(t.upstream.count("tools/call") == 3);
}

TEST_CASE("what was refused waits no longer for a new session than --connect-wait in all") {
  OpenSession t({.connect_wait = 3s});
  const UpstreamId call = t.send();
  t.lose(call);
  t.advance(2999ms);
  CHECK(t.events.end_of(call) == nullptr);
  t.advance(1ms);
  REQUIRE(t.events.end_of(call) != nullptr);
  CHECK(t.events.end_of(call)->failure->kind == ErrorKind::session);
}

TEST_CASE("a continuation that is refused loses the session, and only its message") {
  OpenSession t;
  const UpstreamId call = t.send();
  t.upstream.break_off(call, t.status(404), SessionVerdict::lost);
  CHECK(t.events.end_of(call) != nullptr);
  CHECK(t.session.state() == Session::State::reopening);
}

TEST_CASE(
    "a lost session is tried again though nobody waits for it, also after a refusal of who it is") {
  OpenSession t;
  t.upstream.lose_session();
  t.upstream.fail(t.upstream.id_of("initialize"), t.unreachable());
  CHECK(t.session.state() == Session::State::waiting);
  t.time_until([&] { return t.session.state() == Session::State::reopening; }, 31s);
  t.upstream.answer(t.upstream.id_of("initialize"), t.result);
  t.upstream.server_stream(ServerStream::open);
  t.upstream.fail(t.upstream.id_of("notifications/initialized"), t.unauthorized());
  CHECK(t.session.state() == Session::State::refused);
  CHECK_FALSE(t.session.wants_initialize());
  t.require();
  CHECK(t.session.state() == Session::State::reopening);
}

TEST_CASE("another protocol version than before is used in the new session") {
  OpenSession t;
  t.upstream.lose_session();
  t.upstream.answer(t.upstream.id_of("initialize"), R"({"protocolVersion":"2025-06-18"})");
  CHECK(t.upstream.version == "2025-06-18");
  CHECK(t.session.shown().server()->protocol_version() == "2025-06-18");
}
