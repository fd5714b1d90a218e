// BEHAVIOUR, "Session: opening".
#include <doctest/doctest.h>

#include "session_fixture.hpp"

using namespace bridge;
using namespace std::chrono_literals;

using Methods = SessionFixture::Methods;

TEST_CASE("a session is opened step by step, each of which waits for the one before") {
  SessionFixture t;
  CHECK(t.session.state() == Session::State::idle);
  CHECK(t.session.shown().server() == nullptr);
  t.require();
  t.require();  // opens no second one
  CHECK(t.session.state() == Session::State::opening);
  CHECK(t.upstream.methods() == Methods{"initialize"});
  CHECK(t.upstream.last("initialize").opens_session);
  CHECK(t.upstream.sessions_opened == 0);

  t.upstream.answer(t.upstream.id_of("initialize"), t.result);
  CHECK(t.upstream.version == "2025-11-25");
  CHECK(t.upstream.sessions_opened == 1);
  CHECK(t.upstream.methods() == Methods{"initialize"});

  t.upstream.server_stream(ServerStream::open);
  CHECK(t.upstream.methods() == Methods{"initialize", "notifications/initialized"});
  CHECK_FALSE(t.session.is_open());

  t.upstream.finish(t.upstream.id_of("notifications/initialized"));
  CHECK(t.session.is_open());
  CHECK(t.events.told == Methods{"open"});
  CHECK(t.session.shown().server()->result() == t.result);
  CHECK(t.session.shown().server()->protocol_version() == "2025-11-25");
  t.require();
  CHECK(t.upstream.count("initialize") == 1);
  CHECK(t.session.counts().opened == 1);
}

TEST_CASE("the server stream is waited for a second, or until its first answer of any kind") {
  for (const char* first : {"silence", "refused", "none", "open"}) {
    CAPTURE(first);
    SessionFixture t;
    t.require();
    t.upstream.answer(t.upstream.id_of("initialize"), t.result);
    t.upstream.server_stream(ServerStream::waiting);
    t.advance(999ms);
    CHECK(t.upstream.count("notifications/initialized") == 0);
    const std::string_view what = first;
    if (what == "silence") t.advance(1ms);
    if (what == "refused") t.upstream.refuse_server_stream();
    if (what == "none") t.upstream.server_stream(ServerStream::none);
    if (what == "open") t.upstream.server_stream(ServerStream::open);
    CHECK(t.upstream.count("notifications/initialized") == 1);
    // Sent once, whatever happens to the stream later.
    t.upstream.server_stream(ServerStream::open);
    t.upstream.refuse_server_stream();
    CHECK(t.upstream.count("notifications/initialized") == 1);
  }
}

TEST_CASE(
    "an initialized that does not arrive does not keep the session shut, unless it cannot be sent") {
  SessionFixture t;
  t.require();
  t.upstream.answer(t.upstream.id_of("initialize"), t.result);
  t.upstream.server_stream(ServerStream::open);
  t.upstream.fail(t.upstream.id_of("notifications/initialized"), SessionFixture::broken());
  CHECK(t.session.is_open());

  SessionFixture lost;
  lost.require();
  lost.upstream.answer(lost.upstream.id_of("initialize"), lost.result);
  lost.upstream.server_stream(ServerStream::open);
  lost.upstream.fail(lost.upstream.id_of("notifications/initialized"),
                     SessionFixture::unreachable());
  CHECK(lost.session.state() == Session::State::waiting);
}

TEST_CASE("a client's initialize goes as it came, and its answer goes to the client") {
  SessionFixture t;
  const UpstreamId id = t.open_with_clients(R"({"capabilities":{"roots":{}}, "x":1e400})");
  CHECK(t.upstream.last("initialize").id == id);
  CHECK(
      t.upstream.last("initialize").body ==
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{"roots":{}}, "x":1e400}})");
  t.let_it_open();
  CHECK(t.events.told == Methods{"message", "open"});
  REQUIRE(t.events.messages.size() == 1);
  CHECK(t.events.messages[0].find("serverInfo") != std::string::npos);
  CHECK_FALSE(t.session.wants_initialize());
}

TEST_CASE(
    "an error to a client's initialize is that client's alone, and the next may try with another") {
  SessionFixture t;
  const UpstreamId id = t.open_with_clients();
  t.upstream.answer_error(id, R"({"code":-32602,"message":"Unsupported"})");
  CHECK(t.session.state() == Session::State::refused);
  CHECK(t.events.told == Methods{"message", "closed"});
  CHECK(t.session.wants_initialize());
  t.require();
  CHECK(t.upstream.last("initialize").body.find("mcp-session-bridge") != std::string::npos);
  t.let_it_open();
  CHECK(t.session.is_open());
}

TEST_CASE("an error to the bridge's own initialize is told to everybody who waits") {
  SessionFixture t;
  t.require();
  t.upstream.answer_error(t.upstream.id_of("initialize"), R"({"code":-32000,"message":"no"})");
  CHECK(t.session.state() == Session::State::refused);
  REQUIRE(t.events.refusals.size() == 1);
  CHECK(t.events.refusals[0].kind == ErrorKind::session);
  CHECK(t.events.refusals[0].opening);
  CHECK_FALSE(t.session.is_ready());
  CHECK(t.loop.next_due() == t.clock.now() + 60s);
}

TEST_CASE("with capabilities of its own the bridge always opens the session itself") {
  SessionOptions options;
  options.client_capabilities = R"({"sampling":{}})";
  SessionFixture t(options);
  CHECK_FALSE(t.session.wants_initialize());
  t.require();
  CHECK(t.upstream.last("initialize").body.find(R"("capabilities":{"sampling":{}})") !=
        std::string::npos);
}

TEST_CASE("a handshake of another revision is used, one that fits no header is refused") {
  SessionFixture t;
  t.require();
  t.upstream.answer(t.upstream.id_of("initialize"), R"({"protocolVersion":"2099-01-01"})");
  CHECK(t.upstream.version == "2099-01-01");

  SessionFixture odd;
  odd.require();
  odd.upstream.answer(odd.upstream.id_of("initialize"), R"({"protocolVersion":"2025\r\nX: y"})");
  CHECK(odd.session.state() == Session::State::refused);
  CHECK(odd.events.refusals.at(0).kind == ErrorKind::malformed);
}
