// Failed attempts to open a session, and when the next one is made.
#include "session/opening.hpp"

#include <doctest/doctest.h>

#include "json/reply.hpp"
#include "session_fixture.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

/// A frame waits, and the first attempt has failed.
struct Failed : SessionFixture {
  Failed() {
    events.frames = true;
    require();
    fail_try();
  }
  void fail_try(Failure failure = unreachable()) {
    upstream.fail(upstream.id_of("initialize"), std::move(failure));
  }
};
/// Nothing waits, but a session is wanted.
struct Eager : SessionFixture {
  Eager() {
    events.wanted = true;
    require();
  }
  std::chrono::milliseconds fail_and_wait(const Failure& failure) {
    upstream.fail(upstream.id_of("initialize"), failure);
    return until_next("initialize");
  }
};

}  // namespace

TEST_CASE("while somebody waits the next try comes after half a second, however many have failed") {
  Failed t;
  CHECK(t.session.state() == Session::State::waiting);
  CHECK_FALSE(t.session.is_ready());
  for (int tries = 0; tries < 8; ++tries) {
    const auto delay = t.until_next("initialize");
    CHECK(delay >= 375ms);
    CHECK(delay <= 500ms);
    t.fail_try();
  }
  CHECK(t.session.counts().failed_tries == 9);
  t.until_next("initialize");
  t.let_it_open();
  CHECK(t.session.is_open());
  CHECK(t.session.is_ready());
}

TEST_CASE(
    "while nobody waits an eager session is tried less and less often, up to every 30 seconds") {
  Eager t;
  std::chrono::milliseconds expected = 500ms;
  for (int tries = 0; tries < 9; ++tries) {
    const auto delay = t.fail_and_wait(t.unreachable());
    CHECK(delay >= expected * 3 / 4);
    CHECK(delay <= expected);
    expected = std::min<std::chrono::milliseconds>(expected * 2, 30s);
  }
}

TEST_CASE("a first session that nobody waits for is not tried again, until somebody does") {
  SessionFixture t;
  t.require();
  t.upstream.fail(t.upstream.id_of("initialize"), t.unreachable());
  CHECK_FALSE(t.loop.next_due());
  t.advance(60s);
  t.require();
  CHECK(t.upstream.count("initialize") == 2);
}

TEST_CASE(
    "who comes while the next try is far away brings it to half a second after the last one") {
  for (const Failure& failure :
       {SessionFixture::unreachable(), SessionFixture::come_again(503, 0s)}) {
    CAPTURE(failure.message);
    Eager t;
    for (int tries = 0; tries < 7; ++tries) t.fail_and_wait(failure);
    t.upstream.fail(t.upstream.id_of("initialize"), failure);
    const std::size_t before = t.upstream.count("initialize");
    t.advance(100ms);
    t.require();
    t.advance(399ms);
    CHECK(t.upstream.count("initialize") == before);
    t.advance(1ms);
    CHECK(t.upstream.count("initialize") == before + 1);
  }
}

TEST_CASE(
    "a try that is told to come again comes no sooner, whoever asks, and 30 seconds later at most") {
  Failed t;
  t.until_next("initialize");
  t.fail_try(t.come_again(429, 2s));
  for (int asked = 0; asked < 3; ++asked) {
    t.advance(500ms);
    t.require();
  }
  CHECK(t.upstream.count("initialize") == 2);
  t.advance(499ms);
  CHECK(t.upstream.count("initialize") == 2);
  t.advance(1ms);
  CHECK(t.upstream.count("initialize") == 3);
  t.fail_try(t.come_again(503, 10min));
  CHECK(t.until_next("initialize") == 30s);
}

TEST_CASE(
    "an initialize has six times --connect-wait, six seconds at least, and twice as long at each "
    "further try") {
  struct Row {
    std::chrono::milliseconds connect_wait, first, longest;
  };
  for (const Row& row : {Row{2s, 12s, 192s}, Row{100ms, 6s, 96s}}) {
    SessionFixture t({.connect_wait = row.connect_wait});
    t.events.frames = true;
    t.require();
    std::chrono::milliseconds timeout = row.first;
    for (int tries = 0; tries < 7; ++tries) {
      const UpstreamId id = t.upstream.id_of("initialize");
      t.advance(timeout - 1ms);
      CHECK(t.upstream.is_under_way(id));
      t.advance(1ms);
      CHECK_FALSE(t.upstream.is_under_way(id));
      CHECK(t.events.failures.back().kind == ErrorKind::timeout);
      CHECK(t.session.state() == Session::State::waiting);
      t.time_until([&] { return t.session.state() == Session::State::opening; }, 1s);
      timeout = std::min(timeout * 2, row.longest);
    }
    t.let_it_open();
    CHECK(t.session.is_open());
  }
}

TEST_CASE(
    "what another try would not change is told at once, and tried anew by the next who asks") {
  Failure certificate = definitive_failure_of(ErrorKind::tls, "the certificate has expired");
  const Failure of_its_own =
      SessionFixture::refusal(400, R"({"code":-32000,"message":"who are you?"})");
  for (const Failure& failure : {SessionFixture::status(404), SessionFixture::status(418),
                                 SessionFixture::status(408), certificate, of_its_own}) {
    CAPTURE(failure.message);
    SessionFixture t;
    t.events.frames = true;
    t.require();
    t.upstream.fail(t.upstream.id_of("initialize"), failure);
    CHECK(t.session.state() == Session::State::refused);
    REQUIRE(t.events.refusals.size() == 1);
    CHECK(t.events.refusals[0].opening);
    CHECK_FALSE(t.loop.next_due());
    CHECK_FALSE(t.session.is_ready());
    t.require();
    t.let_it_open();
    CHECK(t.session.is_ready());
  }
  for (const Failure& failure :
       {SessionFixture::status(429), SessionFixture::status(500), SessionFixture::status(503),
        SessionFixture::unreachable(), SessionFixture::broken()}) {
    CAPTURE(failure.message);
    Failed t;
    t.until_next("initialize");
    t.fail_try(failure);
    CHECK(t.session.state() == Session::State::waiting);
    CHECK(t.events.refusals.empty());
  }
}

namespace {

/// A local server, for which a request and a client's `initialize` wait.
struct LocalServer : SessionFixture {
  LocalServer() {
    upstream.said_kind = "stdio";
    upstream.answer_streams = false;
    events.frames = true;
  }
  void end_run(Failure failure = broken()) {
    upstream.fail(upstream.id_of("initialize"), std::move(failure));
  }
};

}  // namespace

TEST_CASE("a local server that ends at its start runs once more, then what waits is answered") {
  for (const Failure& failure : {SessionFixture::broken(), SessionFixture::unreachable()}) {
    CAPTURE(failure.message);
    LocalServer t;
    const UpstreamId id = t.open_with_clients();
    t.end_run(failure);
    CHECK(t.events.refusals.empty());
    CHECK(t.events.end_of(id) == nullptr);
    t.until_next("initialize");
    t.end_run(failure);
    REQUIRE(t.events.refusals.size() == 1);
    CHECK(t.events.refusals[0].message == failure.message);
    CHECK(t.events.refusals[0].opening);
    REQUIRE(t.events.end_of(id) != nullptr);
    CHECK(t.events.end_of(id)->failure->delivered == Delivered::no);
    CHECK_FALSE(t.session.is_ready());
    // The next attempt is another client's, and one end of it is enough.
    CHECK(t.session.wants_initialize());
    const UpstreamId next = t.open_with_clients();
    t.until_next("initialize");
    t.end_run(failure);
    CHECK(t.events.end_of(next) != nullptr);
    // An answer counts anew.
    t.require();
    t.until_next("initialize");
    t.let_it_open();
    CHECK(t.session.is_ready());
  }
  // A server behind a connection may be starting: it has --connect-wait.
  LocalServer old;
  old.upstream.said_kind = "sse";
  old.require();
  for (int tries = 0; tries < 3; ++tries) {
    old.end_run();
    old.until_next("initialize");
  }
  CHECK(old.events.refusals.empty());
}

TEST_CASE("a server that was in use has another run too, if that ends before it has answered") {
  LocalServer t;
  t.require();
  t.let_it_open();
  t.upstream.lose_session();
  t.end_run();
  CHECK(t.events.refusals.empty());
  t.until_next("initialize");
  t.end_run();
  CHECK(t.events.refusals.size() == 1);
  // It is still tried for those who come.
  t.until_next("initialize");
  t.let_it_open();
  CHECK(t.session.counts().reopened == 1);
}

TEST_CASE("a client's initialize waits for the next try, until it is withdrawn") {
  SessionFixture t;
  const UpstreamId id = t.open_with_clients();
  CHECK(t.session.is_coming());
  t.upstream.fail(id, t.unreachable());
  CHECK(t.session.is_coming());
  CHECK_FALSE(t.session.wants_initialize());
  t.advance(500ms);
  REQUIRE(t.upstream.count("initialize") == 2);
  CHECK(t.upstream.last("initialize").id == id);
  t.upstream.fail(id, t.unreachable());
  t.in_turn([&] { t.session.withdraw_initialize(id); });
  t.advance(60s);
  CHECK(t.upstream.count("initialize") == 2);
  CHECK(t.session.wants_initialize());
  // A later client does not inherit it.
  t.require();
  CHECK(t.upstream.last("initialize").body.find("mcp-session-bridge") != std::string::npos);
}

TEST_CASE(
    "a client's initialize that is refused for good is answered with the bridge's own error") {
  SessionFixture t;
  const UpstreamId id = t.open_with_clients();
  t.upstream.fail(id, t.status(403));
  REQUIRE(t.events.end_of(id) != nullptr);
  CHECK(t.events.end_of(id)->failure->status == 403);
  CHECK(t.events.end_of(id)->failure->delivered == Delivered::no);
  CHECK(t.events.count("refused") == 1);

  // But the server's own error is passed to that client unchanged.
  SessionFixture own;
  const Failure refused = own.refusal(400, R"({"code":-32602,"message":"Unsupported"})");
  const UpstreamId asked = own.open_with_clients();
  own.upstream.fail(asked, refused);
  REQUIRE(own.events.end_of(asked) != nullptr);
  CHECK(own.events.end_of(asked)->failure->error_object == refused.error_object);
  CHECK(own.events.refusals.empty());
  CHECK(own.events.count("closed") == 1);
}

TEST_CASE("a server that sends back what it is sent is told as what it is") {
  SessionFixture t;
  t.require();
  t.upstream.say(t.upstream.last("initialize").body);
  CHECK(t.session.state() == Session::State::refused);
  CHECK(t.events.refusals.at(0).kind == ErrorKind::malformed);
  CHECK(t.events.refusals.at(0).message.find("not an MCP server") != std::string::npos);
  CHECK(t.upstream.under_way() == 0);
  CHECK(t.events.messages.empty());

  SessionFixture clients;
  const UpstreamId id = clients.open_with_clients();
  clients.upstream.say(clients.upstream.last("initialize").body);
  CHECK(clients.events.end_of(id)->failure->kind == ErrorKind::malformed);
}

TEST_CASE("a server of the newer revision alone is told as that, in an answer and in a refusal") {
  const std::string unsupported = R"({"code":-32022,"message":"Unsupported protocol version"})";
  const std::string unknown = R"({"code":-32601,"message":"Method not found"})";
  for (const std::string& error : {unsupported, unknown})
    for (const bool as_answer : {true, false})
      for (const bool is_clients : {true, false}) {
        CAPTURE(error);
        CAPTURE(as_answer);
        SessionFixture t;
        const UpstreamId id = is_clients ? t.open_with_clients() : UpstreamId{1};
        if (!is_clients) t.require();
        if (as_answer) t.upstream.answer_error(id, error);
        if (!as_answer) t.upstream.fail(id, t.refusal(404, error));
        CHECK(t.session.state() == Session::State::refused);
        REQUIRE(t.events.refusals.size() == 1);
        const Failure& told = is_clients ? *t.events.end_of(id)->failure : t.events.refusals[0];
        CHECK(told.kind == ErrorKind::session);
        CHECK(told.message.find("speaks only MCP 2026-07-28") != std::string::npos);
        CHECK(told.upstream_error == error);
      }
}

TEST_CASE("an answer to initialize that is none says so, and is asked for again") {
  SessionFixture t;
  t.events.frames = true;
  t.require();
  const UpstreamId id = t.upstream.id_of("initialize");
  t.upstream.say("<html>", id);
  t.upstream.finish(id, true);
  CHECK(t.session.state() == Session::State::waiting);
  CHECK(t.events.failures.at(0).kind == ErrorKind::malformed);
  CHECK(t.events.failures.at(0).message.find("is malformed: ") != std::string::npos);

  SessionFixture empty;
  empty.require();
  empty.upstream.finish(empty.upstream.id_of("initialize"));
  CHECK(empty.events.failures.at(0).kind == ErrorKind::closed);
}

TEST_CASE("who waits for a session is told that its opening has failed") {
  const Failure failure = SessionFixture::status(500);
  CHECK(error_reply("1", failure).find("opening") == std::string::npos);
  CHECK(
      error_reply("1", failure_of_opening(failure)) ==
      R"({"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"HTTP 500","data":{"source":"bridge",)"
      R"("kind":"http","delivered":"no","status":500,"opening":true}}})");
}

TEST_CASE("an error to initialize is not the answer to what waits: it is told as data") {
  Failure failure = failure_of(ErrorKind::http, Delivered::no, "HTTP 400: {}");
  failure.error_object =
      R"({"code":-32022,"message":"Unsupported version","data":{"supported":[]}})";
  const Failure told = failure_of_opening(failure);
  CHECK(told.kind == ErrorKind::session);
  CHECK(log_text(told) == "an error of the upstream's own, code -32022");
  CHECK(error_reply("1", told) ==
        R"({"jsonrpc":"2.0","id":1,"error":{"code":-32000,)"
        R"("message":"the upstream refuses to initialize a session",)"
        R"("data":{"source":"bridge","kind":"session","delivered":"no","opening":true,)"
        R"("upstream":{"code":-32022,"message":"Unsupported version","data":{"supported":[]}}}}})");
  failure.error_object = R"({"code":1})";
  CHECK(failure_of_opening(failure).message == "the upstream refuses to initialize a session");
}
