// What is handed over to the next session, and a session of another daemon: continued if the server
// knows it, else lost (BEHAVIOUR, "State: at the start").
#include "session/saved_session.hpp"

#include <doctest/doctest.h>

#include "session_fixture.hpp"

using namespace bridge;

namespace {

SavedSession of_another_daemon() {
  SavedSession kept;
  kept.number = 3;
  kept.eras.legacy = Speaks::yes;
  kept.initialize_params = R"({"capabilities":{"roots":{}}})";
  kept.server.emplace(std::string(SessionFixture::result));
  kept.settings = {R"({"level":"info"})", {"demo://1"}};
  kept.unanswered = {UpstreamId{5}, UpstreamId{7}};
  kept.ids = UpstreamIdSource(UpstreamId{70});
  return kept;
}

struct Restoring : SessionFixture {
  void let_it_restore() {
    let_it_open();
    upstream.answer(upstream.id_of("logging/setLevel"));
    upstream.answer(upstream.id_of("resources/subscribe"));
  }
};
struct TakingUp : Restoring {
  explicit TakingUp(SavedSession kept = of_another_daemon(), bool outlives = true) {
    upstream.sessions_outlive_it = outlives;
    in_turn([&] { session.resume(std::move(kept), {"its id", "event 9"}); });
  }
};

}  // namespace

TEST_CASE("what a session was opened with and what was set in it is one value") {
  SessionFixture t;
  CHECK(t.session.save().number == 0);
  CHECK_FALSE(t.session.save().server);
  t.open_with_clients(R"({"capabilities":{"roots":{}}})");
  t.let_it_open();
  t.events.set = {R"({"level":"info"})", {"demo://1"}};
  SavedSession kept = t.session.save();
  CHECK(kept.number == 1);
  CHECK(kept.initialize_params == R"({"capabilities":{"roots":{}}})");
  CHECK(kept.server->result() == t.result);
  CHECK(kept.settings.log_level_params == R"({"level":"info"})");
  CHECK(kept.settings.subscriptions == std::vector<std::string>{"demo://1"});
  CHECK(kept.ids.next() == UpstreamId{3});
}

TEST_CASE("a session that goes on with it is opened as one that was lost is") {
  const SavedSession kept = of_another_daemon();
  Restoring t;
  t.session.restore(kept);
  CHECK(t.session.shown().server()->result() == t.result);
  CHECK_FALSE(t.session.wants_initialize());
  CHECK(t.session.state() == Session::State::idle);
  t.require();
  CHECK(t.session.state() == Session::State::reopening);
  CHECK(t.upstream.last("initialize").id == UpstreamId{71});
  CHECK(t.upstream.last("initialize").body.find(kept.initialize_params) != std::string::npos);
  t.let_it_restore();
  CHECK(t.session.is_open());
  CHECK(t.events.count("replaced") == 1);
  CHECK(t.events.replaced_for == "restarted");
  CHECK(t.session.save().number == 4);
}

TEST_CASE("a session that answers a ping is taken up, and what was unanswered in it cancelled") {
  TakingUp t;
  CHECK(t.upstream.continued == "its id");
  CHECK(t.upstream.version == "2025-11-25");
  CHECK(t.upstream.methods() == TakingUp::Methods{"ping"});
  CHECK(t.upstream.id_of("ping") == UpstreamId{71});
  CHECK(t.session.state() == Session::State::reopening);
  CHECK_FALSE(t.session.wants_initialize());
  t.upstream.answer(t.upstream.id_of("ping"));
  CHECK(t.session.is_open());
  CHECK(t.session.number() == 3);
  CHECK(t.upstream.count("notifications/cancelled") == 2);
  CHECK(t.upstream.last("notifications/cancelled").body.find(R"("requestId":7)") !=
        std::string::npos);
  CHECK(t.upstream.count("initialize") == 0);
  CHECK(t.events.count("replaced") == 0);
  CHECK(t.session.counts().reopened == 0);
}

TEST_CASE("a server that knows no ping knows the session") {
  TakingUp t;
  t.upstream.answer_error(t.upstream.id_of("ping"), R"({"code":-32601,"message":"no ping"})");
  CHECK(t.session.is_open());
}

TEST_CASE("a session that the server does not know is opened again and restored") {
  for (const int how : {0, 1, 2, 3}) {
    CAPTURE(how);
    TakingUp t;
    const UpstreamId ping = t.upstream.id_of("ping");
    if (how == 0) t.upstream.fail(ping, TakingUp::status(404), SessionVerdict::lost);
    if (how == 1) t.upstream.answer_error(ping, R"({"code":-32600,"message":"not initialized"})");
    if (how == 2) t.upstream.fail(ping, TakingUp::status(405));
    if (how == 3) t.upstream.lose_session();
    CHECK(t.session.state() == Session::State::reopening);
    CHECK(t.upstream.last("initialize").body.find(R"("roots":{})") != std::string::npos);
    t.let_it_restore();
    CHECK(t.session.is_open());
    CHECK(t.session.number() == 4);
    CHECK(t.events.count("replaced") == 1);
    CHECK(t.events.replaced_for == "restarted");
    t.upstream.lose_session();
    t.time_until([&] { return t.session.state() == Session::State::reopening; },
                 std::chrono::seconds(5));
    t.let_it_restore();
    CHECK(t.events.replaced_for == "lost");
    CHECK(t.upstream.count("notifications/cancelled") == 0);
    CHECK(t.session.save().unanswered.empty());
  }
}

TEST_CASE("while the server is away it is asked again, though nobody waits") {
  TakingUp t;
  t.upstream.fail(t.upstream.id_of("ping"), TakingUp::unreachable());
  CHECK_FALSE(t.session.is_open());
  t.time_until([&] { return t.upstream.count("ping") == 2; }, std::chrono::seconds(5));
  t.upstream.fail(t.upstream.id_of("ping"), TakingUp::status(503));
  // Whether another session would be opened is asked, too.
  t.upstream.fail(t.upstream.id_of("initialize"), TakingUp::status(503));
  CHECK(t.session.state() == Session::State::reopening);
  t.time_until([&] { return t.upstream.count("ping") == 3; }, std::chrono::seconds(10));
  t.upstream.answer(t.upstream.id_of("ping"));
  CHECK(t.session.is_open());
  CHECK(t.upstream.count("notifications/cancelled") == 2);
}

TEST_CASE("a ping that is not answered is given up and sent again") {
  TakingUp t;
  const UpstreamId first = t.upstream.id_of("ping");
  t.time_until([&] { return t.upstream.count("ping") == 2; }, std::chrono::minutes(2));
  CHECK_FALSE(t.upstream.is_under_way(first));
  t.upstream.answer(t.upstream.id_of("ping"));
  CHECK(t.session.is_open());
}

TEST_CASE("a session that ends with its transport is opened as a lost one is") {
  TakingUp t(of_another_daemon(), false);
  CHECK(t.upstream.methods() == TakingUp::Methods{"initialize"});
  CHECK(t.session.state() == Session::State::reopening);
}
