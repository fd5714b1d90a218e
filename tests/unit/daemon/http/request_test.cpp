#include "http/request.hpp"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

RequestHead head_of(std::string_view text) {
  return std::get<RequestHead>(parse_request_head(text));
}

int refused(std::string_view text) {
  const auto parsed = parse_request_head(text);
  const auto* fault = std::get_if<HttpFault>(&parsed);
  return fault == nullptr ? 0 : fault->status;
}

const std::string from_a = "\r\nHost: a";

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
  CHECK(head_of("GET http://a/mcp?x HTTP/1.1" + from_a).path == "/mcp");
  CHECK(head_of("GET http://a HTTP/1.1" + from_a).path == "/");
  CHECK(head_of("GET http://evil.example:1/mcp HTTP/1.1" + from_a).header("host") ==
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
  const std::string line = "GET / HTTP/1.1";
  for (const std::string& head :
       {line + "\r\nHost: a\nX: b", line + "\r\nHost: a\rX: b", line + "\r\nHost : a",
        line + from_a + "\r\n folded", line + from_a + from_a, line,
        std::string("GET / HTTP/1.1\r\nHost: a\0b", 26), "GET  / HTTP/1.1" + from_a,
        "GET /a b HTTP/1.1" + from_a, "GET mcp HTTP/1.1" + from_a, std::string()})
    CHECK_MESSAGE(refused(head) == 400, head);
  CHECK(refused("GET / HTTP/2.0" + from_a) == 505);
}

TEST_CASE("the number of headers is bounded") {
  std::string text = "GET / HTTP/1.1" + from_a;
  for (int i = 0; i < 100; ++i) text += "\r\nX: y";
  CHECK(refused(text) == 431);
}

int framing_refused(const std::string& headers) {
  const auto framing = body_framing(head_of("POST / HTTP/1.1" + from_a + headers));
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

TEST_CASE("the answer's form is what Accept ranks first") {
  CHECK(answer_form("") == AnswerForm::json);
  CHECK(answer_form("*/*") == AnswerForm::json);
  CHECK(answer_form("text/html") == AnswerForm::json);
  CHECK(answer_form("application/json") == AnswerForm::json);
  CHECK(answer_form("application/json, text/event-stream") == AnswerForm::either);
  CHECK(answer_form("text/event-stream") == AnswerForm::stream);
  CHECK(answer_form("Text/Event-Stream; charset=utf-8, application/json") == AnswerForm::stream);
  CHECK(answer_form("text/event-stream, */*") == AnswerForm::stream);
  CHECK(answer_form("text/event-stream;q=0.5, application/json") == AnswerForm::either);
  CHECK(answer_form("application/json;q=0.5, text/event-stream;q=0.9") == AnswerForm::stream);
  CHECK(answer_form("application/json, text/event-stream;q=0") == AnswerForm::json);
  CHECK(answer_form(",,;q=,") == AnswerForm::json);
}

TEST_CASE("a stream is sent to whom it is allowed") {
  for (const char* accept : {"", "*/*", "text/*;q=0.1", "application/json, text/event-stream"})
    CHECK_MESSAGE(accepts_stream(accept), accept);
  for (const char* accept : {"application/json", "text/event-stream;q=0"})
    CHECK_FALSE_MESSAGE(accepts_stream(accept), accept);
}

TEST_CASE("JSON is told from other types") {
  for (const char* type :
       {"application/json", "Application/JSON; charset=utf-8", "application/vnd.mcp+json"})
    CHECK_MESSAGE(is_json_type(type), type);
  for (const char* type : {"", "text/plain", "application/jsonx"})
    CHECK_FALSE_MESSAGE(is_json_type(type), type);
}

TEST_CASE("on loopback only loopback names are served") {
  const SiteCheck check{true, {}, {}};
  for (const char* host :
       {"localhost", "LOCALHOST:8080", "127.0.0.1", "127.1.2.3:1", "[::1]:80", "[::1]"}) {
    CHECK_MESSAGE(check.admits_host(host), host);
  }
  for (const char* host :
       {"evil.example", "evil.example:8080", "localhost.evil.example", "10.0.0.1", "",
        "127.0.0.1.evil.example", "localhost:evil.com", "[::1].evil.com", "[::1", "[::1]evil",
        "localhost:1:2", "127.0.0.1:80.evil.com", ":"}) {
    CHECK_FALSE_MESSAGE(check.admits_host(host), host);
  }
}

TEST_CASE("elsewhere addresses are served, and names that are listed") {
  const SiteCheck check{false, {"bridge.example"}, {}};
  CHECK(check.admits_host("10.0.0.1:8080"));
  CHECK(check.admits_host("[fe80::1]:8080"));
  CHECK(check.admits_host("Bridge.Example:443"));
  CHECK(check.admits_host("localhost"));
  CHECK_FALSE(check.admits_host("evil.example"));
  CHECK(SiteCheck{false, {"*"}, {}}.admits_host("evil.example"));
}

TEST_CASE("an origin is none, the site itself, or listed") {
  const SiteCheck check{true, {}, {"https://app.example"}};
  CHECK(check.admits_origin("", "127.0.0.1:1"));
  CHECK(check.admits_origin("http://127.0.0.1:1", "127.0.0.1:1"));
  CHECK(check.admits_origin("https://app.example", "127.0.0.1:1"));
  CHECK_FALSE(check.admits_origin("http://127.0.0.1:2", "127.0.0.1:1"));
  CHECK_FALSE(check.admits_origin("http://app.example", "127.0.0.1:1"));
  CHECK_FALSE(check.admits_origin("null", "127.0.0.1:1"));
  CHECK_FALSE(check.is_listed("http://127.0.0.1:1"));
}

using Event = RequestReader::Event;

/// Everything that is read from a connection's bytes, cut into pieces of `size`.
std::string transcript(std::string_view bytes, std::size_t size, std::size_t max_body = 100) {
  RequestReader reader(max_body);
  std::string result;
  while (!bytes.empty()) {
    std::string_view piece = bytes.substr(0, size);
    bytes.remove_prefix(piece.size());
    for (;;) {
      const Event event = reader.advance(piece);
      if (event == Event::more) break;
      if (event == Event::fault) return result + std::to_string(reader.fault().status);
      if (event == Event::head) {
        result += reader.head().method + ' ' + reader.head().path + ' ';
      } else {
        result += '[' + reader.take_body().bytes + "] ";
        reader.next();
        if (piece.empty()) break;
      }
    }
  }
  return result + (reader.is_idle() ? "" : "…");
}

/// The same for every way to cut them.
std::string read_as(std::string_view bytes, std::size_t max_body = 100) {
  const std::string whole = transcript(bytes, bytes.size(), max_body);
  for (const std::size_t size : {1u, 2u, 3u, 7u}) CHECK(transcript(bytes, size, max_body) == whole);
  return whole;
}

const std::string post = "POST /mcp HTTP/1.1\r\nHost: a\r\n";
const std::string chunked = post + "Transfer-Encoding: chunked\r\n\r\n";

TEST_CASE("requests follow one another on a connection") {
  CHECK(read_as(post + "Content-Length: 2\r\n\r\n{}" + "\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n") ==
        "POST /mcp [{}] GET /x [] ");
  CHECK(read_as(post + "Content-Length: 3\r\n\r\n{}") == "POST /mcp …");
}

TEST_CASE("a chunked body is put together, extensions and trailers are skipped") {
  CHECK(read_as(chunked + "3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nT: v\r\n\r\n" + post + "\r\n") ==
        "POST /mcp [abc0123456789] POST /mcp [] ");
}

TEST_CASE("chunks that are no chunks are refused") {
  for (const char* chunk : {"x\r\n", "\r\n", "3\nabc", "3\r\nabcd\r\n", "-1\r\n"})
    CHECK(read_as(chunked + chunk) == "POST /mcp 400");
}

TEST_CASE("what other parsers could read differently in a chunk's line is refused") {
  for (const std::string line :
       {"3 ", "3\t", "3 ;a", "3\t;a", " 3", "3;a\rb", "3\r", "3;a\001b", "3;\x7f", "0 ", "0;\r"})
    CHECK_MESSAGE(read_as(chunked + line + "\r\nabc\r\n0\r\n\r\n") == "POST /mcp 400", line);
  CHECK(read_as(chunked + "3;a=\"b c\"; d\r\nabc\r\n0\r\n\r\n") == "POST /mcp [abc] ");
}

TEST_CASE("a trailer that is no header line is refused") {
  for (const std::string line :
       {"GET / HTTP/1.1", "T", ": v", "T : v", " T: v", "T: a\rb", "T: \001"})
    CHECK_MESSAGE(read_as(chunked + "0\r\n" + line + "\r\n\r\n") == "POST /mcp 400", line);
  CHECK(read_as(chunked + "0\r\nT: v\r\nU:\r\n\r\n") == "POST /mcp [] ");
}

TEST_CASE("a large body is checked while it arrives, whichever way its length is told") {
  const auto taken = [](const std::string& bytes) {
    RequestReader reader(1 << 20);
    for (std::size_t at = 0; at < bytes.size(); at += 1000) {
      std::string_view piece = std::string_view(bytes).substr(at, 1000);
      while (!piece.empty() && reader.advance(piece) == Event::head) {
      }
    }
    std::string_view nothing;
    REQUIRE(reader.advance(nothing) == Event::complete);
    return reader.take_body();
  };
  const auto of_length = [&](const std::string& body) {
    ReceivedText text =
        taken(post + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    CHECK(text.bytes == body);
    return text;
  };
  const std::string padding(300'000, 'x');
  const std::string message = R"({"params":{"a":")" + padding + "\"},\n\"id\":1}";
  const ReceivedText known = of_length(message);
  REQUIRE(known.checked);
  CHECK(known.checked->has_line_breaks);
  CHECK_FALSE(of_length("{\"a\":\"" + padding + "\"").checked);
  CHECK_FALSE(of_length("{}").checked);  // nothing is known of a small one
  CHECK(taken(chunked + "493e8\r\n" + R"({"a":")" + padding + "\"}\r\n0\r\n\r\n").checked);
}

TEST_CASE("a body over the limit is refused, whichever way its length is told") {
  CHECK(read_as(post + "Content-Length: 11\r\n\r\n", 10) == "413");
  CHECK(read_as(chunked + "b\r\n", 10) == "POST /mcp 413");
  CHECK(read_as(chunked + "6\r\nabcdef\r\n5\r\n", 10) == "POST /mcp 413");
  CHECK(read_as(chunked + "fffffffffffffffff\r\n", 10) == "POST /mcp 413");
  CHECK(read_as(chunked + "a\r\n0123456789\r\n0\r\n\r\n", 10) == "POST /mcp [0123456789] ");
}

TEST_CASE("heads, chunk lines and trailers are bounded") {
  CHECK(read_as("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(RequestReader::max_head, 'x')) ==
        "431");
  CHECK(read_as(chunked + "1;" + std::string(RequestReader::max_line, 'x')) == "POST /mcp 400");
  std::string trailer = chunked + "0\r\n";
  for (int i = 0; i < 100; ++i) trailer += "T: " + std::string(100, 't') + "\r\n";
  CHECK(read_as(trailer) == "POST /mcp 431");
}

TEST_CASE("a client that ends lines with LF alone is told, not waited for") {
  CHECK(read_as("GET / HTTP/1.1\nHost: a\n\n") == "400");
}

}  // namespace
