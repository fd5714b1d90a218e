#include "http/request.hpp"

#include <doctest/doctest.h>

namespace bridge {
namespace {

RequestHead head_of(std::string_view text) {
  auto parsed = parse_request_head(text);
  REQUIRE(std::holds_alternative<RequestHead>(parsed));
  return std::get<RequestHead>(std::move(parsed));
}

int refused(std::string_view text) {
  const auto parsed = parse_request_head(text);
  const auto* fault = std::get_if<HttpFault>(&parsed);
  return fault == nullptr ? 0 : fault->status;
}

const std::string host = "\r\nHost: a";

TEST_CASE("a request line is read, its query apart") {
  const RequestHead head = head_of("GET /message?sessionId=a%2Fb&x=1+2 HTTP/1.1\r\nHost: a:1");
  CHECK(head.method == "GET");
  CHECK(head.path == "/message");
  CHECK(head.parameter("sessionId") == "a/b");
  CHECK(head.parameter("x") == "1 2");
  CHECK_FALSE(head.parameter("y"));
  CHECK(head.keeps_connection());
}

TEST_CASE("a whole address as the target is its path") {
  CHECK(head_of("GET http://a/mcp?x HTTP/1.1" + host).path == "/mcp");
  CHECK(head_of("GET http://a HTTP/1.1" + host).path == "/");
  CHECK(head_of("GET http://evil.example:1/mcp HTTP/1.1" + host).header("host") ==
        "evil.example:1");
}

TEST_CASE("names of headers are found in any case, values of equal ones are joined") {
  const RequestHead head =
      head_of("GET / HTTP/1.1\r\nHOST: a\r\nAccept:  text/event-stream \r\naccept: */*");
  CHECK(head.header("accept") == "text/event-stream, */*");
  CHECK(head.count("accept") == 2);
  CHECK(head.header("none").empty());
}

TEST_CASE("a word in a list is found in any case, with parameters") {
  const RequestHead head =
      head_of("GET / HTTP/1.1\r\nHost: a\r\nPrefer: wait=10, Respond-Async;x=1");
  CHECK(head.header_has("prefer", "respond-async"));
  CHECK_FALSE(head.header_has("prefer", "respond"));
}

TEST_CASE("the connection is kept by the rules of the version") {
  CHECK_FALSE(head_of("GET / HTTP/1.1\r\nHost: a\r\nConnection: Close").keeps_connection());
  CHECK_FALSE(head_of("GET / HTTP/1.0").keeps_connection());
  CHECK_FALSE(head_of("GET / HTTP/1.0\r\nConnection: keep-alive").keeps_connection());
}

TEST_CASE("what two parsers could read differently is refused") {
  CHECK(refused("GET / HTTP/1.1\r\nHost: a\nX: b") == 400);
  CHECK(refused("GET / HTTP/1.1\r\nHost: a\rX: b") == 400);
  CHECK(refused("GET / HTTP/1.1\r\nHost : a") == 400);
  CHECK(refused("GET / HTTP/1.1\r\nHost: a\r\n folded") == 400);
  CHECK(refused("GET / HTTP/1.1\r\nHost: a\r\nHost: a") == 400);
  CHECK(refused("GET / HTTP/1.1") == 400);
  CHECK(refused(std::string("GET / HTTP/1.1\r\nHost: a\0b", 26)) == 400);
  CHECK(refused("GET  / HTTP/1.1" + host) == 400);
  CHECK(refused("GET /a b HTTP/1.1" + host) == 400);
  CHECK(refused("GET mcp HTTP/1.1" + host) == 400);
  CHECK(refused("") == 400);
  CHECK(refused("GET / HTTP/2.0" + host) == 505);
}

TEST_CASE("the number of headers is bounded") {
  std::string text = "GET / HTTP/1.1" + host;
  for (int i = 0; i < 100; ++i) text += "\r\nX: y";
  CHECK(refused(text) == 431);
}

int framing_refused(const std::string& headers) {
  const auto framing = body_framing(head_of("POST / HTTP/1.1" + host + headers));
  const auto* fault = std::get_if<HttpFault>(&framing);
  return fault == nullptr ? 0 : fault->status;
}

TEST_CASE("the length of a body is told in one way only") {
  CHECK(framing_refused("\r\nContent-Length: 5") == 0);
  CHECK(framing_refused("\r\nTransfer-Encoding: Chunked") == 0);
  CHECK(framing_refused("\r\nContent-Length: 5\r\nTransfer-Encoding: chunked") == 400);
  CHECK(framing_refused("\r\nContent-Length: 5\r\nContent-Length: 5") == 400);
  CHECK(framing_refused("\r\nTransfer-Encoding: gzip, chunked") == 501);
  CHECK(framing_refused("\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked") == 501);
  for (const char* length : {"", "-1", "+1", "0x5", "5 5", "1e3"}) {
    CHECK(framing_refused(std::string("\r\nContent-Length: ") + length) == 400);
  }
  CHECK(framing_refused("\r\nContent-Length: 99999999999999999999999") == 413);
}

}  // namespace
}  // namespace bridge
