// Requests of MCP 2026-07-28 over loopback, with a passive router, by a clock that the test
// advances.
#include "downstream/http/post.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "../../support/frontend_fixture.hpp"

namespace bridge {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

const std::string both = "application/json, text/event-stream";
const std::string progress = R"({"jsonrpc":"2.0","method":"notifications/progress"})";

struct ModernFixture : FrontendFixture {
  using FrontendFixture::FrontendFixture;

  std::string modern(int id, const std::string& method, const std::string& accept = both) const {
    return post(
        R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + method +
            R"(","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})",
        accept, "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: " + method + "\r\n");
  }
  ClientChannel& last() { return *events.channels.back(); }
  /// Calls of the router to the last client's channel.
  template <class Tell>
  void tell(Tell&& what) {
    const EventLoop::Turn turn(loop);
    what(last());
  }
  void answer_last(int id, const std::string& message) {
    tell([&](ClientChannel& channel) {
      channel.send({Delivery::Kind::response, message, std::to_string(id)});
      channel.finish();
    });
  }
  /// A listen that was acknowledged.
  FakePeer listen(int receive_buffer = 0) {
    FakePeer peer = connect(receive_buffer);
    ask(peer, modern(1, "subscriptions/listen"));
    tell([](ClientChannel& channel) {
      channel.send({Delivery::Kind::about, R"({"acknowledged":1})", "1"});
    });
    CHECK(answer_to(peer, "", "\"acknowledged\"").find("200 OK") != std::string::npos);
    return peer;
  }
  /// Publishes entries of so many bytes in the ring, and sends them to the last client.
  void tell_of(int entries, std::size_t size) {
    for (int i = 0; i < entries; ++i) {
      feed.publish(std::string(size, 'x'), "notifications/x");
      tell([&](ClientChannel& channel) {
        if (!channel.congested())
          channel.send({Delivery::Kind::entry, std::string(size, 'x'), "1", AnswerOrder::in_order,
                        feed.ring().newest()});
      });
    }
  }
};

TEST_CASE_FIXTURE(ModernFixture,
                  "a request of the modern era is a client of its own, answered by one body") {
  FakePeer peer = connect();
  ask(peer, modern(1, "tools/list"));
  REQUIRE(events.channels.size() == 1);
  CHECK(events.half_closed.size() == 1);
  answer_last(1, result(1));
  const std::string head = answer_to(peer, "", "}}");
  CHECK(is_status(head, 200));
  CHECK(head.find("Content-Type: application/json\r\n") != head.npos);
  CHECK(head.find("Mcp-Session-Id") == head.npos);
  // The connection stays open, and the next request is another client.
  ask(peer, modern(1, "tools/list"));
  answer_last(1, R"({"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}})");
  CHECK(is_status(answer_to(peer, "", "}}"), 404));
  CHECK(events.channels.size() == 2);
  CHECK(events.left.empty());
}

TEST_CASE_FIXTURE(ModernFixture, "what comes before the answer makes its response a stream") {
  FakePeer peer = connect();
  ask(peer, modern(1, "tools/list"));
  tell([](ClientChannel& channel) { channel.send({Delivery::Kind::about, progress, "1"}); });
  const std::string head = answer_to(peer, "", "progress");
  CHECK(is_status(head, 200));
  CHECK(head.find("Content-Type: text/event-stream\r\n") != head.npos);
  CHECK(head.find("X-Accel-Buffering: no\r\n") != head.npos);
  answer_last(1, R"({"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}})");
  CHECK(answer_to(peer, "", "0\r\n\r\n").find("-32601") != std::string::npos);
  ask(peer, modern(2, "tools/list", "application/json"));
  tell([](ClientChannel& channel) { channel.send({Delivery::Kind::about, progress, "2"}); });
  answer_last(2, result(2));
  CHECK(answer_to(peer, "", "}}").find("progress") == std::string::npos);
}

TEST_CASE_FIXTURE(ModernFixture, "a caller that closes has cancelled, and is told nothing more") {
  for (const bool by_half : {false, true}) {
    events.left.clear();
    FakePeer peer = connect();
    ask(peer, modern(1, "tools/list"));
    const ClientId client = last().identity().id;
    by_half ? peer.half_close() : peer.close();
    CHECK(comes_true([&] { return !events.left.empty(); }));
    REQUIRE(events.left.size() == 1);
    CHECK(events.left[0] == client);
  }
}

TEST_CASE_FIXTURE(ModernFixture,
                  "a listen has all the time, gets comments, and what it has read is taken") {
  FakePeer peer = listen();
  advance(minutes(10));
  CHECK(answer_to(peer, "", ": keep-alive").find("keep-alive") != std::string::npos);
  CHECK(events.left.empty());
  tell_of(3, 100);
  CHECK(comes_true([&] {
    peer.read();
    frontend.acknowledge_read();
    return feed.ring().taken() == 3;
  }));
  answer_last(1, R"({"jsonrpc":"2.0","id":1,"result":{}})");
  CHECK(answer_to(peer, "", "0\r\n\r\n").find("\"result\"") != std::string::npos);
}

TEST_CASE_FIXTURE(ModernFixture,
                  "a listen that is not read is told nothing more, and goes in the end") {
  FakePeer peer = listen(4096);
  tell_of(500, 16u << 10);
  CHECK(last().congested());
  CHECK(last().state().queued_bytes < (256u << 10));
  CHECK(feed.ring().untaken() > 0);
  advance(seconds(30));
  CHECK(comes_true([&] { return events.left.size() == 1; }));
  CHECK(feed.ring().untaken() > 0);
}

TEST_CASE(
    "with --max-buffered used up the stream goes that is read too slowly, the largest first") {
  FrontendOptions options = on_loopback();
  options.stream_buffer = options.client_buffer = 1u << 30;
  ModernFixture http(options);
  const std::string part(1u << 20, 'x');
  std::vector<FakePeer> peers;
  for (const int parts : {8, 16}) {
    peers.push_back(http.connect(4096));
    http.ask(peers.back(), http.modern(1, "events/stream"));
    for (int i = 0; i < parts; ++i)
      http.tell([&](ClientChannel& channel) { channel.send({Delivery::Kind::about, part, "1"}); });
  }
  const ClientId larger = http.last().identity().id;
  std::vector<std::size_t> unread;
  for (ClientChannel* const channel : http.events.channels)
    unread.push_back(channel->state().queued_bytes);
  ByteBudget::Share others(http.budget);
  others.set(http.budget.limit() - (2u << 20));
  CHECK(http.budget.over());
  http.tell([](ClientChannel& channel) { channel.send({Delivery::Kind::about, progress, "1"}); });
  http.advance(seconds(20));
  for (std::size_t i = 0; i < peers.size(); ++i) {
    CHECK(http.comes_true([&] {  // it reads, but not enough
      peers[i].read();
      return http.events.channels[i]->state().queued_bytes < unread[i];
    }));
  }
  CHECK(http.budget.over());
  http.advance(milliseconds(9'999));
  CHECK(http.events.left.empty());
  http.advance(milliseconds(2));
  CHECK(http.logged.has("--max-buffered is used up"));
  REQUIRE_FALSE(http.events.left.empty());
  CHECK(http.events.left.front() == larger);
}

TEST_CASE_FIXTURE(ModernFixture, "a listen that is read again goes on") {
  FakePeer peer = listen(4096);
  tell_of(500, 16u << 10);
  CHECK(events.is_congested);
  CHECK(comes_true([&] {
    peer.read();
    return !events.is_congested;
  }));
  CHECK_FALSE(last().congested());
}

TEST_CASE("listens count as streams, and need a caller that takes one") {
  FrontendOptions options = on_loopback();
  options.max_streams = 1;
  ModernFixture http(options);
  FakePeer other = http.connect();
  CHECK(is_status(http.answer_to(other, http.modern(2, "subscriptions/listen", json)), 406));
  FakePeer peer = http.listen();
  CHECK(is_status(http.answer_to(other, http.modern(2, "subscriptions/listen")), 503));
  peer.close();
  CHECK(http.comes_true([&] { return http.events.left.size() == 1; }));
  http.ask(other, http.modern(2, "subscriptions/listen"));
}

TEST_CASE_FIXTURE(ModernFixture, "the modern era has neither a stream of its own nor sessions") {
  const std::string session = open_session();
  const std::string modern = session + "MCP-Protocol-Version: 2026-07-28\r\n";
  FakePeer peer = connect();
  for (const char* method : {"GET", "DELETE"}) {
    const std::string answer = answer_to(peer, request(std::string(method) + " /mcp", modern));
    CHECK(is_status(answer, 405));
    CHECK(answer.find("Allow: POST, OPTIONS\r\n") != answer.npos);
  }
  // A notification is accepted, whatever session it names.
  CHECK(is_status(
      answer_to(peer, post(R"({"jsonrpc":"2.0","method":"notifications/x"})", both, modern)), 202));
  CHECK(events.channels.size() == 2);
}

}  // namespace
}  // namespace bridge
