// What is handed over to the next session, as one value.
#include "session/saved_session.hpp"

#include <doctest/doctest.h>

#include "session_fixture.hpp"

using namespace bridge;

TEST_CASE("before the first handshake nothing is kept") {
  SessionFixture t;
  SavedSession kept = t.session.save();
  CHECK(kept.number == 0);
  CHECK_FALSE(kept.server);
  CHECK(kept.initialize_params.empty());
  CHECK(kept.ids.next() == UpstreamId{1});
}

TEST_CASE("what a session was opened with and what was set in it is one value") {
  SessionFixture t;
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
  SavedSession kept;
  kept.number = 3;
  kept.initialize_params = R"({"capabilities":{"roots":{}}})";
  kept.server.emplace(std::string(SessionFixture::result));
  kept.settings = {R"({"level":"info"})", {"demo://1"}};
  for (int id = 1; id <= 70; ++id) kept.ids.next();

  SessionFixture t;
  t.session.restore(kept);
  CHECK(t.session.server()->result() == t.result);
  CHECK_FALSE(t.session.wants_initialize());
  CHECK(t.session.state() == Session::State::idle);
  t.require();
  CHECK(t.session.state() == Session::State::reopening);
  CHECK(t.upstream.last("initialize").id == UpstreamId{71});
  CHECK(t.upstream.last("initialize").body.find(kept.initialize_params) != std::string::npos);
  t.let_it_open();
  t.upstream.answer(t.upstream.id_of("logging/setLevel"));
  t.upstream.answer(t.upstream.id_of("resources/subscribe"));
  CHECK(t.session.is_open());
  CHECK(t.events.count("replaced") == 1);
  CHECK(t.events.replaced_for == "restarted");
  CHECK(t.session.save().number == 4);
}
