#include "http/client/response_head.hpp"

#include <doctest/doctest.h>

#include <ctime>
#include <initializer_list>
#include <string>
#include <vector>

#include "../../event/simulated_clock.hpp"
using bridge::ResponseHead;
using namespace std::chrono_literals;

namespace {

const bridge::SystemClock system_clock;

ResponseHead head_of(std::initializer_list<std::string_view> lines) {
  ResponseHead head;
  for (const std::string_view line : lines) head.line(std::string(line) + "\r\n", system_clock);
  head.line("\r\n", system_clock);
  return head;
}

}  // namespace

TEST_CASE("the status line is read in every version of HTTP") {
  CHECK(head_of({"HTTP/1.1 200 OK"}).status == 200);
  CHECK(head_of({"HTTP/1.0 404 Not Found"}).status == 404);
  CHECK(head_of({"HTTP/2 202"}).status == 202);
  CHECK(head_of({"HTTP/1.1 503"}).status == 503);
  CHECK(head_of({"HTTP/1.1 abc"}).status == 0);
  CHECK(head_of({"HTTP/1.1"}).status == 0);
  CHECK(ResponseHead{}.status == 0);
}

TEST_CASE("success is any status from 200 to 299") {
  for (const char* line : {"HTTP/1.1 200 OK", "HTTP/1.1 202 Accepted", "HTTP/1.1 299 x"})
    CHECK(head_of({line}).is_success());
  for (const char* line : {"HTTP/1.1 199 x", "HTTP/1.1 300 x", "HTTP/1.1 404 x"})
    CHECK_FALSE(head_of({line}).is_success());
}

TEST_CASE("only the last head of several remains") {
  const ResponseHead head =
      head_of({"HTTP/1.1 100 Continue", "Mcp-Session-Id: early", "Content-Length: 3", "",
               "HTTP/1.1 200 OK", "Content-Type: application/json"});
  CHECK(head.status == 200);
  CHECK(head.session_id.empty());
  CHECK_FALSE(head.content_length);
  CHECK(head.is_json());
}

TEST_CASE("a trailer is not merged into the head, whatever it says") {
  ResponseHead head =
      head_of({"HTTP/1.1 200 OK", "Content-Type: application/json", "Mcp-Session-Id: right"});
  REQUIRE(head.complete);
  for (const char* line :
       {"Content-Type: text/html\r\n", "Mcp-Session-Id: wrong\r\n", "Retry-After: 9\r\n",
        "WWW-Authenticate: Bearer\r\n", "Mcp-Auth-Server: x\r\n", "Location: /x\r\n",
        "Content-Length: 3\r\n", "Keep-Alive: timeout=1\r\n", "HTTP/1.1 500 x: y\r\n", "\r\n"}) {
    CHECK_FALSE(head.line(line, system_clock));
  }
  CHECK(head.status == 200);
  CHECK(head.is_json());
  CHECK(head.session_id == "right");
  CHECK_FALSE(head.retry_after);
  CHECK_FALSE(head.content_length);
  CHECK_FALSE(head.keep_alive_timeout);
  CHECK(head.www_authenticate.empty());
  CHECK(head.authorization_server.empty());
  CHECK(head.location.empty());
}

TEST_CASE("an informational head completes nothing") {
  ResponseHead head;
  CHECK_FALSE(head.line("HTTP/1.1 103 Early Hints\r\n", system_clock));
  CHECK_FALSE(head.line("Mcp-Session-Id: early\r\n", system_clock));
  CHECK_FALSE(head.line("\r\n", system_clock));
  CHECK_FALSE(head.complete);
  CHECK_FALSE(head.line("HTTP/1.1 202 Accepted\r\n", system_clock));
  CHECK(head.line("\r\n", system_clock));
  CHECK(head.session_id.empty());
}

TEST_CASE("names are compared without regard to case, values lose the blanks around them") {
  const ResponseHead head = head_of({"HTTP/1.1 401 x", "MCP-SESSION-ID:  aB%20=/+ \t",
                                     "www-Authenticate:Bearer realm=\"A\", error=\"b\"",
                                     "mcp-auth-server: https://Auth.example/",
                                     "LOCATION: /Other?x=1", "content-LENGTH: 42"});
  CHECK(head.session_id == "aB%20=/+");
  CHECK(head.www_authenticate == "Bearer realm=\"A\", error=\"b\"");
  CHECK(head.authorization_server == "https://Auth.example/");
  CHECK(head.location == "/Other?x=1");
  CHECK(head.content_length == 42);
}

TEST_CASE("lines that are no header, and other headers, are passed over") {
  const ResponseHead head =
      head_of({"HTTP/1.1 200 OK", "no colon here", ": no name", "X-Mcp-Session-Id: no",
               "Mcp-Session-Id2: no", "Mcp-Session-I: no"});
  CHECK(head.status == 200);
  CHECK(head.session_id.empty());
}

TEST_CASE("a content type is compared in lower case and without its parameters") {
  CHECK(head_of({"HTTP/1.1 200", "Content-Type: Application/JSON; charset=UTF-8"}).is_json());
  CHECK(head_of({"HTTP/1.1 200", "Content-Type: application/json ;x=y"}).is_json());
  CHECK(
      head_of({"HTTP/1.1 200", "Content-Type: text/event-stream;charset=utf-8"}).is_event_stream());
  for (const char* other :
       {"Content-Type: text/html", "Content-Type: application/json-rpc",
        "Content-Type:", "Content-Type: text/event-streams", "X-Content-Type: application/json"}) {
    CAPTURE(other);
    const ResponseHead head = head_of({"HTTP/1.1 200", other});
    CHECK_FALSE(head.is_json());
    CHECK_FALSE(head.is_event_stream());
  }
  const auto type_of = [](std::string_view value) {
    ResponseHead head;
    head.set_content_type(value);
    return std::string(head.content_type());
  };
  CHECK(type_of("Application/JSON; charset=UTF-8") == "application/json");
  CHECK(type_of("Text/Event-Stream") == "text/event-stream");
  CHECK(type_of("Text/HTML ;x") == "text/html");
  CHECK(type_of("").empty());
  CHECK(head_of({"HTTP/1.1 200", "Content-Type: application/json", "Content-Type: text/html"})
            .content_type() == "text/html");
}

TEST_CASE("a length that is none is not believed") {
  for (const char* line : {"Content-Length: -1", "Content-Length: 1, 1", "Content-Length: 0x10",
                           "Content-Length:", "Content-Length: 99999999999999999999999"})
    CHECK_FALSE_MESSAGE(head_of({"HTTP/1.1 200", line}).content_length, line);
}

TEST_CASE("Retry-After is seconds") {
  CHECK(head_of({"HTTP/1.1 429", "Retry-After: 0"}).retry_after == 0s);
  CHECK(head_of({"HTTP/1.1 429", "Retry-After: 120"}).retry_after == 120s);
  for (const char* line : {"Retry-After: soon", "Retry-After:", "Retry-After: x1"})
    CHECK_FALSE_MESSAGE(head_of({"HTTP/1.1 429", line}).retry_after, line);
  CHECK_FALSE(head_of({"HTTP/1.1 429"}).retry_after);
}

TEST_CASE("Retry-After is a date, counted from now, and one that is over is now") {
  const bridge::SimulatedClock clock;  // an hour after 1970 began
  const auto after = [&clock](const std::string& date) {
    ResponseHead head;
    head.line("HTTP/1.1 503\r\n", clock);
    head.line("Retry-After: " + date + "\r\n", clock);
    return head.retry_after;
  };
  CHECK(after("Thu, 01 Jan 1970 01:00:42 GMT") == 42s);
  CHECK(after("Thu, 01 Jan 1970 00:59:59 GMT") == 0s);
  for (const char* far : {"Fri, 31 Dec 9999 23:59:59 GMT", "4294967295"})
    CHECK(after(far) == std::chrono::hours(365 * 24));
}

TEST_CASE("the server says how long it keeps an idle connection") {
  CHECK(head_of({"HTTP/1.1 200", "Keep-Alive: timeout=5"}).keep_alive_timeout == 5s);
  CHECK(head_of({"HTTP/1.1 200", "Keep-Alive: timeout=72, max=100"}).keep_alive_timeout == 72s);
  CHECK(head_of({"HTTP/1.1 200", "Keep-Alive: max=100, timeout=3"}).keep_alive_timeout == 3s);
  for (const char* line : {"Keep-Alive: max=100", "Keep-Alive: timeout=", "Keep-Alive: timeout=x"})
    CHECK_FALSE_MESSAGE(head_of({"HTTP/1.1 200", line}).keep_alive_timeout, line);
}

TEST_CASE("only a single gzip or deflate is decoded") {
  const auto with = [](const std::vector<std::string>& lines) {
    std::vector<std::string> all{"HTTP/1.1 200"};
    for (const std::string& line : lines) all.push_back("Content-Encoding: " + line);
    ResponseHead head;
    for (const std::string& line : all) head.line(line + "\r\n", system_clock);
    return head;
  };
  CHECK_FALSE(with({}).is_encoded());
  CHECK_FALSE(with({"Identity"}).is_encoded());
  for (const char* coding : {"gzip", "x-gzip", "GZIP", "deflate"}) {
    CHECK(with({coding}).is_encoded());
    CHECK(with({coding}).can_be_decoded());
  }
  for (const char* coding : {"br", "zstd", "compress", "gzip, gzip", "gzip,br", ""}) {
    CAPTURE(coding);
    CHECK(with({coding}).can_be_decoded() == (*coding == '\0'));
  }
  CHECK(with({"gzip", "gzip"}).content_encoding == "gzip, gzip");
}
