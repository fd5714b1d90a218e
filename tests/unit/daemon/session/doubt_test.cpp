// Refusals that concern the session: does it still exist? (BEHAVIOUR, "Session: suspected loss")
#include <doctest/doctest.h>

#include "session_fixture.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

struct Doubted : OpenSession {
  using OpenSession::OpenSession;
  UpstreamId suspect() {
    const UpstreamId call = send();
    upstream.fail(call, about_session(), SessionVerdict::doubtful);
    return call;
  }
  static Failure about_session() {
    return refusal(400, R"({"code":-32000,"message":"session expired"})");
  }
};

}  // namespace

TEST_CASE("one ping asks for all; if it is answered the refusals are what the clients get") {
  Doubted t;
  const UpstreamId first = t.suspect();
  const UpstreamId second = t.suspect();
  CHECK(t.upstream.count("ping") == 1);
  CHECK(t.events.ended.empty());
  t.upstream.answer(t.upstream.id_of("ping"));
  for (const UpstreamId call : {first, second}) {
    REQUIRE(t.events.end_of(call) != nullptr);
    CHECK(t.events.end_of(call)->failure->error_object == t.about_session().error_object);
  }
  CHECK(t.session.is_open());
  CHECK(t.session.counts().reopened == 0);
}

TEST_CASE(
    "if the ping is refused alike the session is lost, and all are sent again in the next one") {
  for (const SessionVerdict verdict : {SessionVerdict::doubtful, SessionVerdict::lost}) {
    Doubted t;
    const UpstreamId first = t.suspect();
    const UpstreamId second = t.suspect();
    t.upstream.fail(t.upstream.id_of("ping"), t.about_session(), verdict);
    CHECK(t.session.state() == Session::State::reopening);
    CHECK(t.events.ended.empty());
    t.let_it_open();
    CHECK(t.upstream.is_under_way(first));
    CHECK(t.upstream.is_under_way(second));
    CHECK(t.session.counts().reopened == 1);
  }
}

TEST_CASE("a ping that is not answered says nothing: the refusals stand after --connect-wait") {
  for (const auto wait : {std::chrono::milliseconds(3s), std::chrono::milliseconds(100ms)}) {
    Doubted t({.connect_wait = wait});
    const UpstreamId call = t.suspect();
    // At least a second.
    t.advance(std::max<std::chrono::milliseconds>(wait, 1s) - 1ms);
    CHECK(t.events.end_of(call) == nullptr);
    t.advance(1ms);
    CHECK(t.events.end_of(call) != nullptr);
    CHECK_FALSE(t.upstream.is_under_way(t.upstream.id_of("ping")));
    CHECK(t.session.is_open());
    // The next doubt asks again.
    t.suspect();
    CHECK(t.upstream.count("ping") == 2);
  }
}

TEST_CASE("a ping whose connection breaks is sent again, twice, and then says nothing") {
  Doubted t;
  const UpstreamId call = t.suspect();
  for (std::size_t sent = 1; sent <= 3; ++sent) {
    CHECK(t.upstream.count("ping") == sent);
    CHECK(t.events.end_of(call) == nullptr);
    t.upstream.fail(t.upstream.id_of("ping"), t.broken());
  }
  CHECK(t.upstream.count("ping") == 3);
  CHECK(t.events.end_of(call) != nullptr);
  CHECK(t.session.is_open());
}

TEST_CASE("a ping that was sent before the refusal does not clear it up: another one is sent") {
  Doubted t({.keepalive = 5s});
  t.advance(5s);
  const UpstreamId before = t.upstream.id_of("ping");
  const UpstreamId call = t.suspect();
  CHECK(t.upstream.count("ping") == 2);
  CHECK_FALSE(t.upstream.is_under_way(before));
  t.upstream.answer(t.upstream.id_of("ping"));
  CHECK(t.events.end_of(call) != nullptr);
  t.advance(5s);
  CHECK(t.upstream.count("ping") == 3);
}

TEST_CASE("who gives its request up, or is answered, is not answered when the doubt ends") {
  for (const bool given_up : {true, false}) {
    CAPTURE(given_up);
    Doubted t;
    const UpstreamId call = t.suspect();
    if (given_up) t.in_turn([&] { t.session.abandon(call); });
    if (!given_up) t.upstream.answer(call);
    t.upstream.fail(t.upstream.id_of("ping"), t.about_session(), SessionVerdict::lost);
    t.let_it_open();
    CHECK(t.events.end_of(call) == nullptr);
    CHECK(t.upstream.count("tools/call") == 1);
  }
}

TEST_CASE("a doubt while the upstream is away is cleared up when it is back") {
  Doubted t;
  const UpstreamId call = t.send();
  const UpstreamId doubted = t.send();
  t.upstream.fail(call, t.unreachable());
  REQUIRE(t.session.state() == Session::State::waiting);
  t.upstream.fail(doubted, t.about_session(), SessionVerdict::doubtful);
  CHECK(t.upstream.count("ping") == 0);
  t.upstream.become_reachable();
  CHECK(t.session.is_open());
  CHECK(t.upstream.count("ping") == 1);
  t.upstream.answer(t.upstream.id_of("ping"));
  CHECK(t.events.end_of(doubted) != nullptr);
}

TEST_CASE("a doubt while the session is being opened again waits for the new one") {
  Doubted t;
  const UpstreamId call = t.send();
  t.upstream.lose_session();
  t.upstream.fail(call, t.about_session(), SessionVerdict::doubtful);
  CHECK(t.upstream.count("ping") == 0);
  t.let_it_open();
  CHECK(t.upstream.is_under_way(call));
}

TEST_CASE("a continuation that is refused so is asked about, too") {
  Doubted t;
  const UpstreamId call = t.send();
  t.upstream.break_off(call, t.about_session(), SessionVerdict::doubtful);
  CHECK(t.events.end_of(call) != nullptr);
  CHECK(t.upstream.count("ping") == 1);
}
