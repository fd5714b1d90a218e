// The HTTP frontend over loopback, with a passive router, by a clock that the test
// advances.
#include "downstream/http/http_frontend.hpp"

#include <doctest/doctest.h>

#include "../../support/frontend_fixture.hpp"

namespace bridge {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE("a session is announced once, and its end told once, when the turn is over") {
  FrontendFixture http;
  const std::string session = http.open_session();
  REQUIRE(http.events.channels.size() == 1);
  CHECK(http.events.messages.front().method == "initialize");
  FakePeer waiting = http.connect();
  http.ask(waiting, http.post(FrontendFixture::call(1), json, session));
  FakePeer peer = http.connect();
  CHECK(is_status(http.answer_to(peer, http.request("DELETE /mcp", session)), 204));
  CHECK(http.events.left.size() == 1);
  CHECK(is_status(http.answer_to(waiting, ""), 404));
  CHECK(is_status(http.answer_to(peer, http.request("DELETE /mcp", session)), 404));
  CHECK(http.events.left.size() == 1);
}

TEST_CASE("a session that the router finishes in the middle of a call is there until its end") {
  FrontendFixture http;
  const std::string session = http.open_session();
  FakePeer stream_peer = http.open_stream(session);
  {
    const EventLoop::Turn turn(http.loop);
    http.events.channels[0]->finish();
    http.events.channels[0]->send(
        {Delivery::Kind::message, FrontendFixture::result(1)});  // it may not, but nothing breaks
  }
  CHECK(http.answer_to(stream_peer, "", "0\r\n\r\n").find("session has ended") !=
        std::string::npos);
  CHECK(http.events.left.empty());
  FakePeer peer = http.connect();
  CHECK(is_status(http.answer_to(peer, http.post(FrontendFixture::call(2), json, session)), 404));
}

TEST_CASE("a session whose initialize fails is none") {
  FrontendFixture http;
  FakePeer peer = http.connect();
  http.ask(peer, http.post(R"({"jsonrpc":"2.0","id":0,"method":"initialize"})", json));
  http.answer(0, R"({"jsonrpc":"2.0","id":0,"error":{"code":-1,"message":"no"}})");
  const std::string head = http.answer_to(peer, "");
  CHECK(is_status(head, 200));
  CHECK(head.find("Mcp-Session-Id") == head.npos);
  CHECK(http.events.left.size() == 1);
}

TEST_CASE("a session that nobody uses ends with its time, one with a stream does not") {
  FrontendFixture http;
  const std::string unused = http.open_session();
  const std::string used = http.open_session();
  const ClientId first = http.events.channels[0]->identity().id;
  FakePeer peer = http.open_stream(used);
  http.advance(std::chrono::minutes(30));
  REQUIRE(http.events.left.size() == 1);
  CHECK(http.events.left[0] == first);
}

TEST_CASE("a caller that waits too long gets 504, and the router is told to cancel") {
  FrontendFixture http;
  const std::string session = http.open_session();
  for (const std::string& headers : {session, std::string()}) {
    http.events.lines.clear();
    FakePeer peer = http.connect();
    http.ask(peer, http.post(FrontendFixture::call(7), json, headers));
    http.advance(milliseconds(59'999));
    CHECK(http.events.lines.empty());
    http.advance(milliseconds(1));
    const std::string answer = http.answer_to(peer, "", "}}");
    CHECK(is_status(answer, 504));
    CHECK(answer.find(R"("id":7,"error")") != answer.npos);
    REQUIRE(http.events.lines.size() == 1);
    CHECK(http.events.lines[0] ==
          R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,)"
          R"("reason":"timeout"}})");
  }
}

TEST_CASE("of a caller that takes a stream a quiet call becomes one, with a comment now and then") {
  FrontendFixture http;
  const std::string session = http.open_session();
  FakePeer peer = http.connect();
  http.ask(peer, http.post(FrontendFixture::call(7), json + ", " + stream, session));
  http.advance(seconds(15));
  CHECK(http.answer_to(peer, "", ": open").find("Content-Type: text/event-stream\r\n") !=
        std::string::npos);
  http.advance(seconds(15));
  CHECK(http.answer_to(peer, "", ": keep-alive").find("keep-alive") != std::string::npos);
  http.answer(7, FrontendFixture::result(7));
  CHECK(http.answer_to(peer, "", "0\r\n\r\n").find(R"("id":7,"result")") != std::string::npos);
}

TEST_CASE("a late answer that is not read costs its session's buffer and nothing else") {
  FrontendOptions options = on_loopback();
  options.stream_buffer = 64u << 10;
  FrontendFixture http(options);
  const std::string session = http.open_session();
  FakePeer frozen = http.open_stream(session, 4096);
  FakePeer caller = http.connect();
  for (int id = 1; id <= 12; ++id) {
    CHECK(is_status(http.answer_to(caller, http.post(FrontendFixture::call(id), json,
                                                     session + "Prefer: respond-async\r\n")),
                    202));
    http.answer(id, FrontendFixture::result(id, 1u << 20));
  }
  CHECK_FALSE(http.logged.has("was dropped"));
  http.advance(milliseconds(4999));
  CHECK_FALSE(http.logged.has("was dropped"));
  http.advance(milliseconds(1));
  CHECK(http.logged.has("an HTTP session's stream was dropped"));
  // Undelivered messages are not lost.
  FakePeer back = http.open_stream(session);
  CHECK(http.answer_to(back, "", R"("id":12,)").find(R"("id":12,)") != std::string::npos);
}

TEST_CASE("a session whose answers nobody fetches ends after --client-stall, and makes room") {
  FrontendOptions options = on_loopback();
  options.client_buffer = 100'000;
  FrontendFixture http(options);
  const std::string session = http.open_session();
  FakePeer caller = http.connect();
  for (int id = 1; id <= 3; ++id) {
    http.answer_to(
        caller, http.post(FrontendFixture::call(id), json, session + "Prefer: respond-async\r\n"));
    http.answer(id, FrontendFixture::result(id, 60'000));
  }
  CHECK(http.events.is_congested);
  CHECK(http.budget.used() > 180'000);
  http.advance(milliseconds(29'999));
  CHECK(http.events.left.empty());
  http.advance(milliseconds(1));
  CHECK(http.events.left.size() == 1);
  CHECK(http.budget.used() == 0);
  CHECK(http.logged.has("an HTTP session has ended: nothing was taken for 30000 ms"));
}

TEST_CASE("a POST without a session is a client until the router is done with it") {
  FrontendFixture http;
  FakePeer peer = http.connect();
  http.ask(peer,
           http.post("[" + FrontendFixture::call(1) + "," + FrontendFixture::call(2) + "]", json),
           2);
  REQUIRE(http.events.channels.size() == 1);
  CHECK(http.events.half_closed.size() == 1);
  {
    const EventLoop::Turn turn(http.loop);
    ClientChannel& client = *http.events.channels[0];
    client.send({Delivery::Kind::response, FrontendFixture::result(2), "2"});
    client.send({Delivery::Kind::response, FrontendFixture::result(1), "1"});
    client.finish();
  }
  CHECK(http.answer_to(peer, "", "]")
            .ends_with("[" + FrontendFixture::result(2) + "," + FrontendFixture::result(1) + "]"));
}

TEST_CASE("the end of the daemon answers who waits, and ends streams with a comment") {
  FrontendFixture http;
  const std::string session = http.open_session();
  FakePeer waiting = http.connect();
  http.ask(waiting, http.post(FrontendFixture::call(1), json));
  FakePeer listening = http.open_stream(session);
  {
    const EventLoop::Turn turn(http.loop);
    http.face.close_all();
  }
  CHECK(is_status(http.answer_to(waiting, ""), 503));
  CHECK(http.answer_to(listening, "", "0\r\n\r\n").find(": the bridge is shutting down") !=
        std::string::npos);
}

}  // namespace
}  // namespace bridge
