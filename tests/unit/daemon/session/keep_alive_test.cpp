// A ping after a period without messages (BEHAVIOUR, "Session: keep-alive").
#include <doctest/doctest.h>

#include "session_fixture.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

struct Idle : OpenSession {
  explicit Idle(std::chrono::milliseconds interval = 60s) : OpenSession({.keepalive = interval}) {}
  void fail_ping(const Failure& failure, SessionVerdict verdict = SessionVerdict::kept) {
    upstream.fail(upstream.id_of("ping"), failure, verdict);
  }
};

}  // namespace

TEST_CASE("a ping is sent when nothing was sent for the interval, and no sooner") {
  Idle t;
  t.advance(59s);
  t.send();
  t.advance(59'999ms);
  CHECK(t.upstream.count("ping") == 0);
  t.advance(1ms);
  CHECK(t.upstream.count("ping") == 1);
  t.upstream.answer(t.upstream.id_of("ping"));
  t.advance(60s);
  CHECK(t.upstream.count("ping") == 2);
  CHECK(t.events.messages.empty());
}

TEST_CASE("the next ping waits for the end of the one under way") {
  Idle t(200ms);
  t.advance(200ms);
  CHECK(t.upstream.count("ping") == 1);
  t.advance(14s);
  CHECK(t.upstream.count("ping") == 1);
  t.upstream.answer(t.upstream.id_of("ping"));
  t.advance(200ms);
  CHECK(t.upstream.count("ping") == 2);
}

TEST_CASE(
    "a ping without an answer for 15 s makes the connections anew, and that is no lost session") {
  Idle t;
  t.advance(60s);
  const UpstreamId ping = t.upstream.id_of("ping");
  t.advance(14'999ms);
  CHECK(t.upstream.refreshes == 0);
  t.advance(1ms);
  CHECK(t.upstream.refreshes == 1);
  CHECK_FALSE(t.upstream.is_under_way(ping));
  CHECK(t.session.is_open());
  CHECK(t.session.counts().reopened == 0);
  t.advance(60s);
  CHECK(t.upstream.count("ping") == 2);
}

TEST_CASE("a ping that is refused for being one too many, or broken off, is no absence") {
  for (const Failure& failure : {SessionFixture::come_again(429, 1s), SessionFixture::broken()}) {
    Idle t(200ms);
    for (std::size_t pings = 1; pings <= 3; ++pings) {
      t.advance(200ms);
      CHECK(t.upstream.count("ping") == pings);
      t.fail_ping(failure);
    }
    CHECK(t.session.is_open());
    CHECK(t.session.is_ready());
  }
}

TEST_CASE(
    "a ping that finds no session opens it again, one that finds nobody waits for the upstream") {
  Idle lost;
  lost.advance(60s);
  lost.fail_ping(lost.status(404), SessionVerdict::lost);
  CHECK(lost.session.state() == Session::State::reopening);

  Idle away;
  away.advance(60s);
  away.fail_ping(away.unreachable());
  CHECK(away.session.state() == Session::State::waiting);
}

TEST_CASE("a ping that is turned away makes the upstream unready, as often as it is") {
  Idle t;
  t.advance(60s);
  t.fail_ping(t.unauthorized());
  CHECK_FALSE(t.session.is_ready());
  CHECK(t.session.is_open());
  t.advance(60s);
  t.upstream.answer(t.upstream.id_of("ping"));
  CHECK(t.session.is_ready());
}

TEST_CASE("an interval of 0 is off, and another one is taken while the session is open") {
  Idle t(0s);
  t.advance(1h);
  CHECK(t.upstream.count("ping") == 0);
  t.session.reconfigure({.keepalive = 1s});
  t.advance(1s);
  CHECK(t.upstream.count("ping") == 1);
  t.upstream.answer(t.upstream.id_of("ping"));
  t.session.reconfigure({.keepalive = 0s});
  t.advance(1h);
  CHECK(t.upstream.count("ping") == 1);
  CHECK_FALSE(t.loop.next_due());
}

TEST_CASE("while there is no session nothing is pinged") {
  Idle t;
  t.upstream.lose_session();
  t.upstream.fail(t.upstream.id_of("initialize"), t.status(404));
  CHECK(t.session.state() == Session::State::refused);
  t.advance(1h);
  CHECK(t.upstream.count("ping") == 0);
}
