// The daemon is shutting down: held messages are answered, those in flight continue (BEHAVIOUR,
// "Shutdown").
#include <doctest/doctest.h>

#include "session_fixture.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

struct ShuttingDown : SessionFixture {
  void give_up() {
    in_turn([this] { session.give_up_held(shutdown()); });
  }
  bool is_given_up(UpstreamId id) const {
    const Ending* end = events.end_of(id);
    return end != nullptr && end->failure && end->failure->kind == ErrorKind::shutdown;
  }
  static Failure shutdown() {
    return failure_of(ErrorKind::shutdown, Delivered::no, "the daemon is ending");
  }
};

}  // namespace

TEST_CASE("what is held for another try is answered at once, what is under way goes on") {
  ShuttingDown t;
  t.open();
  const UpstreamId held = t.send();
  const UpstreamId later = t.send();
  const UpstreamId under_way = t.send();
  t.upstream.fail(later, t.come_again(503, 8s));
  t.upstream.fail(held, t.unreachable());
  t.give_up();
  CHECK(t.is_given_up(held));
  CHECK(t.is_given_up(later));
  CHECK(t.upstream.is_under_way(under_way));
  CHECK(t.upstream.given_up->kind == ErrorKind::shutdown);
  // And is not held if it fails then.
  t.upstream.fail(under_way, t.unreachable());
  CHECK(t.is_given_up(under_way));
}

TEST_CASE("a client's initialize is answered by its answer, or once its try has failed") {
  ShuttingDown answered;
  answered.open_with_clients();
  answered.give_up();
  CHECK(answered.events.ended.empty());
  answered.let_it_open();
  CHECK(answered.events.messages.size() == 1);

  for (const bool fails_first : {true, false}) {
    CAPTURE(fails_first);
    ShuttingDown failed;
    const UpstreamId id = failed.open_with_clients();
    if (!fails_first) failed.give_up();
    failed.upstream.fail(id, failed.unreachable());
    if (fails_first) failed.give_up();
    CHECK(failed.is_given_up(id));
    if (!fails_first) CHECK_FALSE(failed.loop.next_due());
  }
}

TEST_CASE("a session that is lost then is not opened again") {
  ShuttingDown t;
  t.open();
  const UpstreamId call = t.send();
  t.give_up();
  t.upstream.fail(call, t.status(404), SessionVerdict::lost);
  CHECK(t.is_given_up(call));
  CHECK(t.upstream.count("initialize") == 1);
}

TEST_CASE("after the end nothing is told, sent or awaited") {
  ShuttingDown t;
  t.open();
  const UpstreamId call = t.send();
  bool over = false;
  t.in_turn([&] { t.session.end([&over] { over = true; }); });
  t.events.told.clear();
  t.upstream.fail(call, t.status(404), SessionVerdict::lost);
  t.upstream.lose_session();
  t.upstream.say(R"({"jsonrpc":"2.0","method":"notifications/message"})");
  t.require();
  CHECK(t.events.told.empty());
  CHECK(t.upstream.count("initialize") == 1);
  CHECK_FALSE(t.loop.next_due());
  REQUIRE(t.upstream.ended);
  t.upstream.ended();
  CHECK(over);
}
