#include "verbs/relay.hpp"

#include <doctest/doctest.h>

using namespace client;

namespace {

std::string line(const std::string& text) { return text + "\n"; }

std::string request(const std::string& id) {
  return line(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"x"})");
}

std::string result(const std::string& id) {
  return line(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{}})");
}

}  // namespace

TEST_CASE("a request is unanswered until its answer comes, an error or a result") {
  UnansweredRequests requests;
  CHECK(requests.empty());
  CHECK(requests.take_sent(request("1") + request("\"a\"")));
  requests.take_received(result("1"));
  CHECK_FALSE(requests.empty());
  requests.take_received(line(R"({"jsonrpc":"2.0","id":"a","error":{"code":1,"message":""}})"
                              "\r"));
  CHECK(requests.empty());
}

TEST_CASE("only requests wait, and only their own answers count") {
  UnansweredRequests requests;
  CHECK_FALSE(
      requests.take_sent(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"
                         "\n{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n\n  \r\nno JSON\n"));
  CHECK(requests.empty());
  CHECK(requests.take_sent(request("1")));
  requests.take_received(result("2") + result("\"1\"") + request("1") +
                         line(R"({"jsonrpc":"2.0","method":"notifications/message","params":{}})"));
  CHECK_FALSE(requests.empty());
  requests.take_received(result("1"));
  CHECK(requests.empty());
}

TEST_CASE("however the lines are cut, and whether or not the last one ends") {
  const std::string sent = request("12");
  const std::string received = result("12");
  for (std::size_t cut = 0; cut < received.size(); ++cut) {
    CAPTURE(cut);
    UnansweredRequests requests;
    CHECK_FALSE(requests.take_sent(sent.substr(0, cut)));
    CHECK(requests.take_sent(sent.substr(cut)));
    requests.take_received(received.substr(0, cut));
    CHECK_FALSE(requests.empty());
    requests.take_received(received.substr(cut));
    CHECK(requests.empty());
  }
  UnansweredRequests requests;
  CHECK_FALSE(requests.take_sent(sent.substr(0, sent.size() - 1)));
  CHECK(requests.take_sent("\n"));
  CHECK_FALSE(requests.empty());
}

TEST_CASE("the messages of a batch count one by one") {
  UnansweredRequests requests;
  CHECK(
      requests.take_sent(line(R"( [{"id":1,"method":"x"},{"method":"y"},{"id":2,"method":"x"}])")));
  requests.take_received(line(R"([{"id":2,"result":1}])"));
  CHECK_FALSE(requests.empty());
  requests.take_received(line(R"([{"id":1,"result":1}])"));
  CHECK(requests.empty());
}

TEST_CASE("what no answer need come to does not wait for ever") {
  UnansweredRequests requests;
  CHECK(requests.take_sent(request("1")));
  CHECK_FALSE(requests.take_sent(
      line(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})")));
  CHECK(requests.empty());
  CHECK(requests.take_sent(request("2")));
  requests.take_received(
      line(R"({"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":""}})"));
  CHECK(requests.empty());
}

TEST_CASE("what is kept is bounded") {
  UnansweredRequests requests;
  CHECK_FALSE(requests.take_sent(request(std::string(UnansweredRequests::longest_id + 1, '1'))));
  for (std::size_t id = 0; id < UnansweredRequests::most_requests; ++id) {
    CHECK(requests.take_sent(request(std::to_string(id))));
  }
  CHECK_FALSE(requests.take_sent(request("999999")));
  // The end of a line that was not scanned may have been any of the responses.
  const std::string piece(std::size_t{1} << 20, ' ');
  for (std::size_t size = 0; size <= UnansweredRequests::longest_line; size += piece.size()) {
    requests.take_received(piece);
  }
  CHECK_FALSE(requests.empty());
  requests.take_received("\n");
  CHECK(requests.empty());
  CHECK(requests.take_sent(request("1")));
}
