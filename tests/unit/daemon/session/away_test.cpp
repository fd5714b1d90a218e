// An unreachable upstream, and the requests that wait for it.
#include <doctest/doctest.h>

#include "session_fixture.hpp"

using namespace bridge;
using namespace std::chrono_literals;

using Methods = SessionFixture::Methods;

namespace {

struct Open : OpenSession {
  explicit Open(std::chrono::milliseconds connect_wait = 10s)
      : OpenSession({.connect_wait = connect_wait, .keepalive = 0s}) {}
  /// A call while the server is away.
  UpstreamId go_away() {
    const UpstreamId call = send();
    upstream.fail(call, unreachable());
    return call;
  }
};

}  // namespace

TEST_CASE(
    "while somebody waits what is held is tried every half second, and goes when one succeeds") {
  Open t;
  const UpstreamId call = t.go_away();
  CHECK(t.session.state() == Session::State::waiting);
  CHECK_FALSE(t.session.is_ready());
  CHECK(t.events.told == Methods{"failed", "away"});
  for (int tries = 0; tries < 12; ++tries) {
    const auto delay = t.until_next();
    CHECK((delay >= 375ms && delay <= 500ms));
    REQUIRE(t.upstream.is_under_way(call));
    t.upstream.fail(call, t.unreachable());
  }
  t.until_next();
  t.upstream.answer(call);
  CHECK(t.session.is_open());
  CHECK(t.session.is_ready());
  CHECK(t.session.counts().reconnects == 1);
  CHECK(t.upstream.count("initialize") == 1);
  CHECK(t.events.count("open") == 1);
}

TEST_CASE("what is answered on the server stream while it is held is not sent again") {
  Open t;
  const UpstreamId answered = t.go_away();
  t.advance(100ms);
  const UpstreamId other = t.send();
  t.upstream.fail(other, t.unreachable());
  t.upstream.say(fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{{}}}})", value_of(answered)));
  CHECK(t.session.is_open());
  CHECK_FALSE(t.upstream.is_under_way(answered));
  CHECK(t.upstream.is_under_way(other));
  t.advance(60s);
  CHECK(t.upstream.count("tools/call") == 3);
  CHECK(t.events.end_of(answered) == nullptr);
}

TEST_CASE("nor is what was told to come again, when its answer comes before") {
  Open t;
  const UpstreamId call = t.send();
  t.upstream.fail(call, t.come_again(503, 5s));
  t.upstream.answer(call);
  t.advance(60s);
  CHECK(t.upstream.count("tools/call") == 1);
  CHECK(t.events.end_of(call) == nullptr);
}

TEST_CASE("all that is held goes in the same moment in which the upstream is back") {
  Open t;
  t.go_away();
  t.advance(100ms);
  const UpstreamId second = t.send();
  t.upstream.fail(second, t.unreachable());
  t.upstream.become_reachable();
  CHECK(t.session.is_open());
  CHECK(t.upstream.under_way() == 2);
}

TEST_CASE(
    "what waits longer than --connect-wait is told what has failed, and that nothing was delivered") {
  Open t(1s);
  std::vector<UpstreamId> calls;
  for (int call = 0; call < 64; ++call) calls.push_back(t.send());
  for (const UpstreamId call : calls) t.upstream.fail(call, t.unreachable());
  // Each retry fails.
  for (int tries = 0; tries < 2; ++tries) {
    t.until_next();
    for (const UpstreamId call : calls)
      if (t.upstream.is_under_way(call)) t.upstream.fail(call, t.unreachable());
  }
  t.advance(1s);
  for (const UpstreamId call : calls) {
    REQUIRE(t.events.end_of(call) != nullptr);
    CHECK(t.events.end_of(call)->failure->kind == ErrorKind::connect);
    CHECK(t.events.end_of(call)->failure->delivered == Delivered::no);
  }
}

TEST_CASE("while no request waits it is asked, too") {
  Open t;
  const UpstreamId call = t.go_away();
  t.in_turn([&] { t.session.abandon(call); });
  t.advance(500ms);
  CHECK(t.upstream.count("ping") == 1);
}

TEST_CASE("a session that was lost while the upstream was away is opened again at once") {
  Open t;
  const UpstreamId call = t.go_away();
  for (int tries = 0; tries < 4; ++tries) {
    t.until_next();
    t.upstream.fail(call, t.unreachable());
  }
  t.until_next();
  t.upstream.fail(call, t.status(404), SessionVerdict::lost);
  CHECK(t.session.state() == Session::State::reopening);
  CHECK(t.upstream.count("initialize") == 2);
  t.let_it_open();
  CHECK(t.upstream.is_under_way(call));
}

TEST_CASE("what another try would not change is told to all who wait, and the session stays") {
  Open t;
  const UpstreamId held = t.go_away();
  const UpstreamId call = t.send();
  const Failure expired = definitive_failure_of(ErrorKind::tls, "the certificate has expired");
  t.upstream.fail(call, expired);
  for (const UpstreamId id : {held, call}) {
    REQUIRE(t.events.end_of(id) != nullptr);
    CHECK(t.events.end_of(id)->failure->kind == ErrorKind::tls);
    CHECK(t.events.end_of(id)->failure->delivered == Delivered::no);
  }
  CHECK(t.events.count("refused") == 1);
  CHECK_FALSE(t.session.is_ready());
  t.events.frames = true;
  t.require();
  t.advance(500ms);
  t.upstream.answer(t.upstream.id_of("ping"));
  CHECK(t.session.is_open());
  CHECK(t.upstream.count("initialize") == 1);
}

TEST_CASE("a request told to come again comes then, if it may wait so long") {
  Open t;
  const UpstreamId call = t.send();
  t.upstream.fail(call, t.come_again(503, 8s));
  CHECK(t.session.is_open());
  t.advance(7999ms);
  CHECK_FALSE(t.upstream.is_under_way(call));
  t.advance(1ms);
  CHECK(t.upstream.is_under_way(call));
  // --connect-wait limits the total wait.
  t.upstream.fail(call, t.come_again(503, 3s));
  REQUIRE(t.events.end_of(call) != nullptr);
  CHECK(t.events.end_of(call)->failure->status == 503);
}

TEST_CASE("what only reads is sent again when its connection breaks, twice at most") {
  Open t;
  const UpstreamId list = t.send("tools/list", true);
  t.upstream.fail(list, t.broken());
  t.upstream.fail(list, t.broken());
  CHECK(t.upstream.count("tools/list") == 3);
  t.upstream.fail(list, t.broken());
  CHECK(t.events.end_of(list)->failure->kind == ErrorKind::closed);

  const UpstreamId call = t.send();
  t.upstream.fail(call, t.broken());
  CHECK(t.events.end_of(call)->failure->delivered == Delivered::unknown);
  CHECK(t.upstream.count("tools/call") == 1);
}

TEST_CASE("who is turned away makes the upstream unready, until something is answered") {
  for (const int status : {401, 403}) {
    CAPTURE(status);
    Open t;
    t.upstream.fail(t.send(), t.unauthorized(status));
    CHECK_FALSE(t.session.is_ready());
    CHECK(t.session.is_open());
    // A 403 may concern that request alone: a ping finds out.
    CHECK(t.upstream.count("ping") == (status == 403 ? 1 : 0));
    t.upstream.answer(status == 403 ? t.upstream.id_of("ping") : t.send());
    CHECK(t.session.is_ready());
  }
}

TEST_CASE("a request that waits less than the time between attempts gets one") {
  struct Row {
    std::chrono::milliseconds connect_wait, pause;
  };
  for (const Row row : {Row{0ms, 50ms}, Row{300ms, 150ms}, Row{1s, 500ms}, Row{10s, 500ms}}) {
    CAPTURE(row.connect_wait.count());
    SessionFixture t({.connect_wait = row.connect_wait, .keepalive = 0s});
    t.require();
    for (int tries = 0; tries < 3; ++tries) {
      const std::size_t before = t.upstream.count("initialize");
      t.upstream.fail(t.upstream.id_of("initialize"), t.unreachable());
      t.require();
      const auto delay = t.time_until([&] { return t.upstream.count("initialize") > before; }, 1s);
      CHECK(delay <= row.pause);
      CHECK(delay >= row.pause * 3 / 4);
    }
  }
}
