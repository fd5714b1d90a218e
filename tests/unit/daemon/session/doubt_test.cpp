// Refusals that concern the session: does it still exist? (BEHAVIOUR, "Session: suspected loss")
#include <doctest/doctest.h>

#include <functional>

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
  /// Refuses the ping of the check, then tells whether `initialize` was sent beside the session.
  void refuse_ping(Failure failure = about_session()) {
    upstream.fail(upstream.id_of("ping"), std::move(failure), SessionVerdict::doubtful);
  }
  static Failure about_session() {
    return refusal(400, R"({"code":-32000,"message":"session expired"})");
  }
};

/// Over HTTP the session is kept while another one is tried.
struct DoubtedOverHttp : Doubted {
  explicit DoubtedOverHttp(SessionOptions options = {}) : Doubted(std::move(options)) {
    upstream.session_id = "its id";
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

TEST_CASE("a ping that is not answered says nothing: the refusals stand after 5 s") {
  Doubted t;
  const UpstreamId call = t.suspect();
  t.advance(5s - 1ms);
  CHECK(t.events.end_of(call) == nullptr);
  t.advance(1ms);
  CHECK(t.events.end_of(call) != nullptr);
  CHECK_FALSE(t.upstream.is_under_way(t.upstream.id_of("ping")));
  CHECK(t.session.is_open());
  // For half a minute a doubt stands as it is; then it is checked again.
  t.advance(30s - 1ms);
  const UpstreamId early = t.suspect();
  CHECK(t.events.end_of(early) != nullptr);
  CHECK(t.upstream.count("ping") == 1);
  t.advance(1ms);
  t.suspect();
  CHECK(t.upstream.count("ping") == 2);
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

TEST_CASE(
    "if the ping is refused, and another session is not, that takes the place of the lost one") {
  // Whatever the refusal of the ping is.
  for (const int status : {0, 200, 400, 401, 403, 409, 429, 500, 503}) {
    CAPTURE(status);
    DoubtedOverHttp t;
    const UpstreamId first = t.suspect();
    const UpstreamId second = t.suspect();
    const std::size_t over = t.upstream.sessions_over;
    t.refuse_ping(t.status(status));
    CHECK(t.upstream.count("initialize") == 2);
    CHECK(t.upstream.sessions_over == over);  // kept until then
    CHECK(t.session.state() == Session::State::open);
    CHECK_FALSE(t.session.is_open());
    CHECK(t.events.ended.empty());
    t.let_it_open();
    CHECK(t.upstream.is_under_way(first));
    CHECK(t.upstream.is_under_way(second));
    CHECK(t.session.counts().reopened == 1);
    CHECK(t.session.is_ready());
    // The next one is checked two seconds later.
    t.upstream.answer(first);
    t.suspect();
    CHECK(t.upstream.count("ping") == 1);
    t.advance(2s);
    t.suspect();
    CHECK(t.upstream.count("ping") == 2);
  }
}

TEST_CASE("a ping that is answered with an error is refused, unless the method is unknown") {
  for (const bool is_unknown : {true, false}) {
    DoubtedOverHttp t;
    const UpstreamId call = t.suspect();
    t.upstream.answer_error(t.upstream.id_of("ping"), is_unknown
                                                          ? R"({"code":-32601,"message":"no ping"})"
                                                          : R"({"code":-32000,"message":"what?"})");
    CHECK(t.upstream.count("initialize") == (is_unknown ? 1 : 2));
    CHECK((t.events.end_of(call) != nullptr) == is_unknown);
  }
}

TEST_CASE("a server that refuses another session too keeps the one that there is, unready") {
  struct Row {
    const char* how;
    std::function<void(DoubtedOverHttp&)> end;
  };
  const Row rows[] = {
      {"refused", [](auto& t) { t.upstream.fail(t.upstream.id_of("initialize"), t.status(403)); }},
      {"an error",
       [](auto& t) {
         t.upstream.answer_error(t.upstream.id_of("initialize"), R"({"code":-1,"message":"no"})");
       }},
      {"unreachable",
       [](auto& t) {
         for (int i = 0; i < 3; ++i) {
           t.upstream.fail(t.upstream.id_of("initialize"), t.unreachable());
           t.advance(500ms);
         }
       }},
      {"not answered", [](auto& t) { t.advance(5s); }}};
  for (const Row& row : rows) {
    CAPTURE(row.how);
    DoubtedOverHttp t;
    const UpstreamId call = t.suspect();
    t.refuse_ping(t.unauthorized());
    const std::size_t over = t.upstream.sessions_over;
    row.end(t);
    CHECK_FALSE(t.upstream.is_under_way(t.upstream.id_of("initialize")));
    CHECK(t.session.is_open());
    CHECK_FALSE(t.session.is_ready());
    CHECK(t.session.state() == Session::State::refused);
    REQUIRE(t.events.end_of(call) != nullptr);
    CHECK(t.events.end_of(call)->failure->error_object == t.about_session().error_object);
    CHECK(t.upstream.sessions_over == over);
    CHECK(t.session.counts().reopened == 0);
    // It heals without being needed.
    t.advance(60s);
    t.upstream.answer(t.upstream.id_of("ping"));
    CHECK(t.session.is_ready());
  }
}

TEST_CASE("another session that fails in passing is tried again, twice, during the check") {
  const std::vector<std::function<Failure()>> in_passing = {
      [] { return SessionFixture::broken(); }, [] { return SessionFixture::unreachable(); },
      [] { return SessionFixture::status(503); },
      [] { return SessionFixture::come_again(429, 1s); }};
  for (const auto& failure : in_passing) {
    for (const int failures : {1, 2, 3}) {
      CAPTURE(failures);
      DoubtedOverHttp t;
      const UpstreamId call = t.suspect();
      t.refuse_ping();
      for (int i = 0; i < failures; ++i) {
        t.advance(500ms);
        CHECK(t.events.end_of(call) == nullptr);
        t.upstream.fail(t.upstream.id_of("initialize"), failure());
      }
      t.advance(500ms);
      CHECK(t.upstream.count("initialize") == static_cast<std::size_t>(std::min(failures, 2) + 2));
      if (failures > 2) {
        CHECK(t.events.end_of(call) != nullptr);
        continue;
      }
      t.let_it_open();
      CHECK(t.session.counts().reopened == 1);
      CHECK(t.upstream.is_under_way(call));
    }
  }
}

TEST_CASE("a server that refuses everything is checked once in 30 s, however many are refused") {
  DoubtedOverHttp t({.keepalive = 0s});
  for (int second = 0; second < 300; ++second) {
    t.suspect();
    if (t.upstream.is_under_way(t.upstream.id_of("initialize")))
      t.upstream.fail(t.upstream.id_of("initialize"), t.status(403));
    if (t.upstream.count("ping") != 0 && t.upstream.is_under_way(t.upstream.id_of("ping"))) {
      t.refuse_ping(t.status(403));
      t.upstream.fail(t.upstream.id_of("initialize"), t.status(403));
    }
    t.advance(1s);
  }
  CHECK(t.upstream.count("ping") <= 10);
  CHECK(t.upstream.count("initialize") <= 11);
  CHECK(t.events.ended.size() == 300);
}

TEST_CASE("a refusal that names no cause is checked when another message is refused so, too") {
  DoubtedOverHttp t;
  const UpstreamId first = t.send();
  t.upstream.fail(first, t.status(403), SessionVerdict::unclear);
  CHECK(t.events.end_of(first) != nullptr);
  CHECK(t.upstream.count("ping") == 0);
  t.upstream.answer(t.send());  // the session serves
  const UpstreamId second = t.send();
  t.upstream.fail(second, t.status(403), SessionVerdict::unclear);
  CHECK(t.upstream.count("ping") == 0);
  const UpstreamId third = t.send();
  t.upstream.fail(third, t.status(403), SessionVerdict::unclear);
  CHECK(t.upstream.count("ping") == 1);
  CHECK(t.events.end_of(third) == nullptr);
  t.refuse_ping();
  t.let_it_open();
  CHECK(t.upstream.is_under_way(third));
}

TEST_CASE("the server stream's refusals are doubts, too, and each is one of another request") {
  for (const SessionVerdict first : {SessionVerdict::unclear, SessionVerdict::doubtful}) {
    DoubtedOverHttp t;
    t.upstream.refuse_server_stream(SessionVerdict::kept);
    t.upstream.refuse_server_stream(first);
    CHECK(t.upstream.count("ping") == (first == SessionVerdict::doubtful ? 1 : 0));
    t.upstream.refuse_server_stream(SessionVerdict::unclear);
    CHECK(t.upstream.count("ping") == 1);
  }
}

TEST_CASE("an answer that denies the session is no acceptance") {
  struct Row {
    const char* error;
    bool accepts;
  };
  for (const Row& row : {Row{R"({"code":-32001,"message":"Session not found"})", false},
                         Row{R"({"code":-32002,"message":"Server not initialized"})", false},
                         Row{R"({"code":-32602,"message":"Unknown tool"})", true}}) {
    CAPTURE(row.error);
    DoubtedOverHttp t;
    t.suspect();
    t.refuse_ping(t.unauthorized());
    t.upstream.fail(t.upstream.id_of("initialize"), t.status(403));
    REQUIRE(t.session.state() == Session::State::refused);
    const UpstreamId call = t.send();
    t.upstream.answer_error(call, row.error);
    CHECK(t.events.count("message") == 1);
    CHECK(t.session.is_ready() == row.accepts);
    CHECK(t.upstream.count("ping") == 1);
  }
}

TEST_CASE("an answer that denies the session when the upstream is back is checked") {
  DoubtedOverHttp t;
  const UpstreamId call = t.send();
  t.upstream.fail(t.send(), t.unreachable());
  REQUIRE(t.session.state() == Session::State::waiting);
  t.upstream.answer_error(call, R"({"code":-32001,"message":"Session not found"})");
  CHECK(t.events.count("message") == 0);
  CHECK(t.upstream.count("ping") == 1);
  t.refuse_ping();
  t.let_it_open();
  CHECK(t.upstream.is_under_way(call));
}

TEST_CASE("a session that ends with its stream is lost if an answer and the ping deny it") {
  Doubted t;
  t.upstream.names_session_only = true;
  const UpstreamId call = t.send();
  const std::string denial = R"({"code":-32001,"message":"Session not found"})";
  t.upstream.answer_error(call, denial);
  CHECK(t.events.count("message") == 0);
  t.upstream.answer_error(t.upstream.id_of("ping"), denial);
  CHECK(t.session.state() == Session::State::reopening);
  t.let_it_open();
  CHECK(t.upstream.is_under_way(call));
}

TEST_CASE("what a fault refused may have been done: it is not sent again, unless it only reads") {
  DoubtedOverHttp t;
  const UpstreamId call = t.send();
  const UpstreamId reads = t.send("tools/list", true);
  for (const UpstreamId id : {call, reads})
    t.upstream.fail(id, t.status(500), SessionVerdict::doubtful, true);
  t.refuse_ping();
  t.let_it_open();
  CHECK(t.upstream.is_under_way(reads));
  REQUIRE(t.events.end_of(call) != nullptr);
  CHECK(t.events.end_of(call)->failure->delivered == Delivered::unknown);
}

TEST_CASE("a response that says so is checked: its request is sent again, or it is the response") {
  for (const bool is_lost : {true, false}) {
    CAPTURE(is_lost);
    DoubtedOverHttp t;
    const UpstreamId call = t.send();
    t.upstream.answer_error(call, R"({"code":-32002,"message":"Server not initialized"})");
    CHECK(t.events.count("message") == 0);
    if (is_lost) {
      t.refuse_ping();
      t.let_it_open();
      CHECK(t.upstream.is_under_way(call));
      CHECK(t.upstream.count("tools/call") == 2);
    } else {
      t.upstream.answer(t.upstream.id_of("ping"));
      CHECK(t.upstream.count("tools/call") == 1);
    }
    CHECK(t.session.is_open());
  }
}

TEST_CASE("a session that is lost during a check ends it, so that a later doubt is checked") {
  DoubtedOverHttp t;
  const UpstreamId call = t.suspect();
  REQUIRE(t.upstream.count("ping") == 1);
  t.upstream.lose_session();
  t.let_it_open();
  CHECK(t.upstream.is_under_way(call));
  t.upstream.answer(call);
  t.advance(2s);
  const UpstreamId later = t.suspect();
  CHECK(t.upstream.count("ping") == 2);
  t.upstream.answer(t.upstream.id_of("ping"));
  CHECK(t.events.end_of(later) != nullptr);
}

TEST_CASE("a server that only sends back what it is sent keeps the session that there is") {
  DoubtedOverHttp t;
  const UpstreamId call = t.suspect();
  t.refuse_ping();
  t.upstream.say(t.upstream.last("initialize").body);
  CHECK(t.session.is_open());
  CHECK_FALSE(t.session.is_ready());
  CHECK(t.events.end_of(call) != nullptr);
}
