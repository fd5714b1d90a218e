// How many connections there may be, and which ones are closed for a new one: over loopback, by a
// clock that the test advances.
#include "http/server/http_server.hpp"

#include "../../support/captured_stderr.hpp"
#include "../../support/loopback_callers.hpp"
#include "http_fixture.hpp"

namespace bridge {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct ServerFixture : LoopbackCallers {
  explicit ServerFixture(std::size_t max_connections) {
    ListeningPort listening = ListeningPort::open(*parse_listen_address("127.0.0.1:0"));
    take_port(listening.authority);
    server = std::make_unique<HttpServer>(
        HttpConnectionContext{loop, budget, counts, requests, flush, 1 << 20, seconds(30)},
        std::move(listening), nullptr, max_connections, log);
    server->start();
  }

  /// A request whose response comes later.
  FakePeer connect_and_wait() {
    const std::size_t before = requests.requests.size();
    requests.answer = [this](HttpConnection& one) { one.set_responder(&responder); };
    FakePeer peer = connect();
    peer.send(get);
    CHECK(comes_true([&] { return requests.requests.size() > before; }));
    requests.answer = nullptr;
    return peer;
  }
  /// A request whose head has arrived, and the first byte of its body.
  FakePeer connect_and_upload() {
    FakePeer peer = connect();
    CHECK(is_status(answer_to(peer,
                              "POST /x HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
                              "Content-Length: 3\r\n\r\n"),
                    100));
    peer.send("a");
    return peer;
  }

  bool is_served(FakePeer& peer) { return is_status(answer_to(peer, get), 200); }

  CapturedStderr logged;
  ByteBudget budget{64u << 20};
  ByteCounts counts;
  FakeRequests requests;
  FakeResponder responder;
  Log log{LogLevel::warning};
  std::unique_ptr<HttpServer> server;
  Deferred flush{loop, [this] { server->flush(); }};
};

TEST_CASE("connections are bounded, and with all in use the next is told at once") {
  ServerFixture http(3);
  http.responder.ends_with_input_ = true;
  std::vector<FakePeer> waiting;
  for (int i = 0; i < 3; ++i) waiting.push_back(http.connect_and_wait());
  FakePeer another = http.connect();
  CHECK(is_status(http.answer_to(another, ""), 503));
  CHECK(http.logged.has("over 3 HTTP connections, all of them in use: one more was turned away"));
  waiting.pop_back();
  CHECK(http.comes_true([&] { return http.server->connections() == 2; }));
  FakePeer next = http.connect();
  CHECK(http.is_served(next));
}

TEST_CASE("the connection that was idle for longest gives way") {
  ServerFixture http(4);
  FakePeer silent = http.connect();
  CHECK(http.comes_true([&] { return http.server->connections() == 1; }));
  http.advance(milliseconds(10));
  FakePeer first = http.connect();
  CHECK(http.is_served(first));
  http.advance(milliseconds(10));
  FakePeer second = http.connect();
  CHECK(http.is_served(second));
  http.advance(milliseconds(10));
  FakePeer waiting = http.connect_and_wait();
  // Each of these is one more than allowed.
  std::vector<FakePeer> more;
  for (FakePeer* gone : {&silent, &first}) {
    http.advance(milliseconds(10));
    more.push_back(http.connect());
    CHECK(http.is_served(more.back()));
    CHECK(http.has_ended(*gone));
  }
  CHECK(http.is_served(second));
  CHECK_FALSE(http.responder.lost);
  CHECK(http.logged.has("the one that was idle for longest was closed"));
}

TEST_CASE("heads that never end keep nobody out") {
  ServerFixture http(4);
  std::vector<FakePeer> trickling;
  for (int i = 0; i < 12; ++i) {
    trickling.push_back(http.connect());
    trickling.back().send("GET /x HTTP/1.1\r\nHost: h");
    http.advance(milliseconds(1));
  }
  FakePeer caller = http.connect();
  CHECK(http.is_served(caller));
  CHECK(http.server->connections() == 4);
}

TEST_CASE("bodies that never end keep nobody out, once they have had five seconds") {
  ServerFixture http(3);
  std::vector<FakePeer> uploads;
  for (int i = 0; i < 3; ++i) {
    uploads.push_back(http.connect_and_upload());
    http.advance(milliseconds(10));
  }
  FakePeer too_soon = http.connect();
  CHECK(is_status(http.answer_to(too_soon, ""), 503));
  http.advance(milliseconds(4970));
  FakePeer caller = http.connect();
  CHECK(http.is_served(caller));
  CHECK(http.logged.has("the one with the oldest incomplete request was closed"));
  const std::string told = http.answer_to(uploads[0], "");
  CHECK(is_status(told, 503));
  CHECK(told.find("Retry-After: 1\r\n") != told.npos);
  // The younger ones continue.
  CHECK(is_status(http.answer_to(uploads[1], "bc"), 200));
  CHECK(http.requests.requests.back().body == "abc");
}

TEST_CASE("nobody is accepted after the stop, and those who are there are served to the end") {
  ServerFixture http(4);
  FakePeer peer = http.connect();
  CHECK(http.is_served(peer));
  http.server->stop_accepting();
  CHECK(http.is_served(peer));
  CHECK(http.server->connections() == 1);
  http.server->close_all();
  CHECK(http.has_ended(peer));
  CHECK(http.server->connections() == 0);
}

}  // namespace
}  // namespace bridge
