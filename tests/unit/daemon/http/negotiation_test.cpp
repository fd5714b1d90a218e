#include <doctest/doctest.h>

#include "http/request.hpp"

namespace bridge {
namespace {

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
  CHECK(accepts_stream(""));
  CHECK(accepts_stream("*/*"));
  CHECK(accepts_stream("text/*;q=0.1"));
  CHECK(accepts_stream("application/json, text/event-stream"));
  CHECK_FALSE(accepts_stream("application/json"));
  CHECK_FALSE(accepts_stream("text/event-stream;q=0"));
}

TEST_CASE("JSON is told from other types") {
  CHECK(is_json_type("application/json"));
  CHECK(is_json_type("Application/JSON; charset=utf-8"));
  CHECK(is_json_type("application/vnd.mcp+json"));
  CHECK_FALSE(is_json_type(""));
  CHECK_FALSE(is_json_type("text/plain"));
  CHECK_FALSE(is_json_type("application/jsonx"));
}

TEST_CASE("on loopback only loopback names are served") {
  const SiteCheck check{true, {}, {}};
  for (const char* host :
       {"localhost", "LOCALHOST:8080", "127.0.0.1", "127.1.2.3:1", "[::1]:80", "[::1]"}) {
    CHECK_MESSAGE(check.admits_host(host), host);
  }
  for (const char* host : {"evil.example", "evil.example:8080", "localhost.evil.example",
                           "10.0.0.1", "", "127.0.0.1.evil.example"}) {
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

TEST_CASE("what is no host is not admitted, whatever it begins with") {
  const SiteCheck check{true, {}, {}};
  for (const char* host : {"localhost:evil.com", "[::1].evil.com", "[::1", "[::1]evil",
                           "localhost:1:2", "127.0.0.1:80.evil.com", ":", ""}) {
    CHECK_FALSE_MESSAGE(check.admits_host(host), host);
  }
  CHECK(check.admits_host("[::1]:8080"));
  CHECK(check.admits_host("[::1]"));
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

}  // namespace
}  // namespace bridge
