// Messages that pass through the daemon, for people.
#include <doctest/doctest.h>

#include "render/lines.hpp"

using namespace client;

TEST_CASE("a message that passes is one line: when, where, what") {
  CHECK(
      monitor_line(
          R"({"at":"2026-11-23T01:30:06.120Z","passage":"from_client","client":3,"message":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}})") ==
      R"(01:30:06.120 client 3 >  tools/call 1 {"name":"x"})");
  CHECK(
      monitor_line(
          R"({"at":"2026-11-23T01:30:06.120Z","passage":"to_server","message":{"jsonrpc":"2.0","method":"notifications/initialized"}})") ==
      "01:30:06.120 > server    notifications/initialized");
  CHECK(
      monitor_line(
          R"({"at":"2026-11-23T01:30:06.120Z","passage":"from_server","message":{"jsonrpc":"2.0","id":17,"result":{}}})") ==
      "01:30:06.120 < server    result 17 {}");
  CHECK(
      monitor_line(
          R"({"at":"2026-11-23T01:30:06.120Z","passage":"to_client","client":3,"message":{"jsonrpc":"2.0","id":"a","error":{"code":-1}}})") ==
      R"(01:30:06.120 client 3 <  error "a" {"code":-1})");
}

TEST_CASE("what was missed is said before what comes then, and what is shown in part as such") {
  CHECK(
      monitor_line(
          R"({"at":"2026-11-23T01:30:06.120Z","passage":"from_server","missed":7,"bytes":90000,"text":"{\"a"})") ==
      "(7 messages missed)\n01:30:06.120 < server    {\"a... (90000 bytes in all)");
}
