// The HTTP frontend over loopback, with a passive router, by a clock that the test
// advances.
#include "downstream/http/http_frontend.hpp"

#include <doctest/doctest.h>

#include "../../support/frontend_fixture.hpp"

namespace bridge {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE_FIXTURE(FrontendFixture,
                  "a session is announced once, and its end told once, when the turn is over") {
  const std::string session = open_session();
  REQUIRE(events.channels.size() == 1);
  CHECK(events.messages.front().method == "initialize");
  FakePeer waiting = connect();
  ask(waiting, post(call(1), json, session));
  FakePeer peer = connect();
  CHECK(is_status(answer_to(peer, request("DELETE /mcp", session)), 204));
  CHECK(events.left.size() == 1);
  CHECK(is_status(answer_to(waiting, ""), 404));
  CHECK(is_status(answer_to(peer, request("DELETE /mcp", session)), 404));
  CHECK(events.left.size() == 1);
}

TEST_CASE_FIXTURE(
    FrontendFixture,
    "a session that the router finishes in the middle of a call is there until its end") {
  const std::string session = open_session();
  FakePeer stream_peer = open_stream(session);
  {
    const EventLoop::Turn turn(loop);
    events.channels[0]->finish();
    events.channels[0]->send(
        {Delivery::Kind::message, result(1)});  // it may not, but nothing breaks
  }
  CHECK(answer_to(stream_peer, "", "0\r\n\r\n").find("session has ended") != std::string::npos);
  CHECK(events.left.empty());
  FakePeer peer = connect();
  CHECK(is_status(answer_to(peer, post(call(2), json, session)), 404));
}

TEST_CASE_FIXTURE(FrontendFixture,
                  "an Authorization with a grant that is not one Bearer is refused") {
  for (const char* headers :
       {"Authorization: mcpg_x\r\n", "Authorization: Bearer\tmcpg_x\r\n",
        "Authorization: Basic mcpg_x\r\n", "Authorization: Bearer x, Bearer mcpg_x\r\n",
        "Authorization: Bearer x\r\nAuthorization: Bearer mcpg_x\r\n"}) {
    INFO(headers);
    FakePeer peer = connect();
    CHECK(is_status(answer_to(peer, post(call(1), json, headers)), 401));
  }
  CHECK(events.messages.empty());
}

TEST_CASE_FIXTURE(FrontendFixture, "a session whose initialize fails is none") {
  FakePeer peer = connect();
  ask(peer, post(R"({"jsonrpc":"2.0","id":0,"method":"initialize"})", json));
  answer(0, R"({"jsonrpc":"2.0","id":0,"error":{"code":-1,"message":"no"}})");
  const std::string head = answer_to(peer, "");
  CHECK(is_status(head, 200));
  CHECK(head.find("Mcp-Session-Id") == head.npos);
  CHECK(events.left.size() == 1);
}

TEST_CASE_FIXTURE(FrontendFixture,
                  "a session that nobody uses ends with its time, one with a stream does not") {
  const std::string unused = open_session();
  const std::string used = open_session();
  const ClientId first = events.channels[0]->identity().id;
  FakePeer peer = open_stream(used);
  advance(std::chrono::minutes(30));
  REQUIRE(events.left.size() == 1);
  CHECK(events.left[0] == first);
}

TEST_CASE_FIXTURE(FrontendFixture,
                  "a caller that waits too long gets 504, and the router is told to cancel") {
  const std::string session = open_session();
  for (const std::string& headers : {session, std::string()}) {
    events.lines.clear();
    FakePeer peer = connect();
    ask(peer, post(call(7), json, headers));
    advance(milliseconds(59'999));
    CHECK(events.lines.empty());
    advance(milliseconds(1));
    const std::string answer = answer_to(peer, "", "}}");
    CHECK(is_status(answer, 504));
    CHECK(answer.find(R"("id":7,"error")") != answer.npos);
    REQUIRE(events.lines.size() == 1);
    CHECK(events.lines[0] ==
          R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,)"
          R"("reason":"timeout"}})");
  }
}

TEST_CASE_FIXTURE(
    FrontendFixture,
    "of a caller that takes a stream a quiet call becomes one, with a comment now and then") {
  const std::string session = open_session();
  FakePeer peer = connect();
  ask(peer, post(call(7), json + ", " + stream, session));
  advance(seconds(15));
  CHECK(answer_to(peer, "", ": open").find("Content-Type: text/event-stream\r\n") !=
        std::string::npos);
  advance(seconds(15));
  CHECK(answer_to(peer, "", ": keep-alive").find("keep-alive") != std::string::npos);
  answer(7, result(7));
  CHECK(answer_to(peer, "", "0\r\n\r\n").find(R"("id":7,"result")") != std::string::npos);
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

TEST_CASE_FIXTURE(FrontendFixture,
                  "a POST without a session is a client until the router is done with it") {
  FakePeer peer = connect();
  ask(peer, post("[" + call(1) + "," + call(2) + "]", json), 2);
  REQUIRE(events.channels.size() == 1);
  CHECK(events.half_closed.size() == 1);
  {
    const EventLoop::Turn turn(loop);
    ClientChannel& client = *events.channels[0];
    client.send({Delivery::Kind::response, result(2), "2"});
    client.send({Delivery::Kind::response, result(1), "1"});
    client.finish();
  }
  CHECK(answer_to(peer, "", "]").ends_with("[" + result(2) + "," + result(1) + "]"));
}

TEST_CASE_FIXTURE(FrontendFixture,
                  "the end of the daemon answers who waits, and ends streams with a comment") {
  const std::string session = open_session();
  FakePeer waiting = connect();
  ask(waiting, post(call(1), json));
  FakePeer listening = open_stream(session);
  {
    const EventLoop::Turn turn(loop);
    frontend.close_all();
  }
  CHECK(is_status(answer_to(waiting, ""), 503));
  CHECK(answer_to(listening, "", "0\r\n\r\n").find(": the bridge is shutting down") !=
        std::string::npos);
}

}  // namespace
}  // namespace bridge
