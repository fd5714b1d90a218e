#include "base/log_sinks.hpp"

#include <doctest/doctest.h>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

std::string text_of(const LogFields& fields, std::string_view message) {
  std::string line;
  append_text_line(line, fields, message);
  return line;
}

std::string json_of(const LogFields& fields, std::string_view message) {
  std::string line;
  const std::chrono::system_clock::time_point time(1'767'225'600'042ms);  // 2026-01-01
  append_json_line(line, time, LogLevel::warning, "request failed", fields, message);
  return line;
}

const LogFields all = {.client = ClientId{3},
                       .request = "\"a\"",
                       .upstream = UpstreamId{17},
                       .method = "tools/call",
                       .traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                       .outcome = "ok",
                       .duration = 1500us};

}  // namespace

TEST_CASE("a text line is the message and the fields that are set") {
  CHECK(text_of({}, "it is so") == "it is so");
  CHECK(
      text_of(all, "it is so") ==
      "it is so client=3 request=\"a\" upstream=17 method=tools/call "
      "traceparent=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 outcome=ok duration_ms=1.500");
}

TEST_CASE("a JSON line has time, level, event and message, and the fields under their names") {
  CHECK(
      json_of({}, "it is so") ==
      R"({"time":"2026-01-01T00:00:00.042Z","level":"warning","event":"request failed","message":"it is so"})");
  CHECK(
      json_of(all, "x") ==
      R"({"time":"2026-01-01T00:00:00.042Z","level":"warning","event":"request failed","message":"x",)"
      R"("client":3,"request":"a","upstream":17,"method":"tools/call",)"
      R"("traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","outcome":"ok","duration_ms":1.500})");
}

TEST_CASE("nothing can break a line or leave it") {
  CHECK(text_of({.request = "\"a\\n\""}, "one\ntwo\x1b[2J") ==
        R"(one\ntwo\u001b[2J request="a\n")");
  CHECK(text_of({.method = "a\nb"}, "x") == R"(x method=a\nb)");
  CHECK(json_of({.method = "a\nb"}, "one\ntwo\"").find('\n') == std::string::npos);
  CHECK(json_of({}, "one\ntwo\"").find(R"("message":"one\ntwo\"")") != std::string::npos);
}

TEST_CASE("nothing can hide in a line: what is not seen is an escape, in JSON text too") {
  const std::string evil =
      "a\xE2\x80\xAE"
      "b\xF3\xA0\x81\x81"
      "c\xE2\x80\xA8"
      "d\xC3\xA9";
  const std::string shown = R"(a\u202eb\udb40\udc41c\u2028d)"
                            "\xC3\xA9";
  CHECK(text_of({.method = evil}, evil) == shown + " method=" + shown);
  CHECK(
      json_of({.request = '"' + evil + '"', .method = evil}, evil) ==
      R"({"time":"2026-01-01T00:00:00.042Z","level":"warning","event":"request failed","message":")" +
          shown + R"(","request":")" + shown + R"(","method":")" + shown + R"("})");
}

TEST_CASE("what a peer has chosen is cut") {
  const std::string longest(5000, 'x');
  CHECK(text_of({.request = longest, .method = longest}, "").size() < 200);
  CHECK(json_of({.request = longest, .method = longest}, "").size() < 400);
}
