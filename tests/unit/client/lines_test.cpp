// What passes through the daemon, in words.
#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "json/document.hpp"
#include "render/lines.hpp"

using namespace client;

namespace {

std::string shown(std::string_view method, std::string_view params) {
  const std::string line = bridge::own_notification(method, params);
  return notification_line(json::parse_message(line));
}

}  // namespace

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

TEST_CASE("what a server says by itself is one line for a person") {
  CHECK(shown("notifications/message", R"({"level":"warning","logger":"db","data":"slow"})") ==
        "server log, warning, db: slow");
  CHECK(shown("notifications/message", R"({"level":"info","data":{"n":1}})") ==
        R"(server log, info: {"n":1})");
  CHECK(shown("notifications/progress",
              R"({"progressToken":"t","progress":3,"total":5,"message":"half"})") ==
        "progress of t: 3 of 5, half");
  CHECK(shown("notifications/tools/list_changed", "") == "the server's tools have changed");
  CHECK(shown("notifications/resources/updated", R"({"uri":"demo://a"})") ==
        "the resource demo://a has changed");
  CHECK(shown("notifications/tasks/status",
              R"({"taskId":"7","status":"working","statusMessage":"soon"})") ==
        "task 7 of the server: working, soon");
}

TEST_CASE("a reopened session says what is gone, and why") {
  const auto reopened = [](std::string_view reason) {
    return shown("notifications/bridge/session_reopened",
                 R"({"reason":")" + std::string(reason) + R"(","at":"2026-11-23T01:30:06.120Z"})");
  };
  CHECK(reopened("child_ended") ==
        "the session with the server was reopened (its process had ended); what the server had "
        "kept in it is lost");
  CHECK(reopened("restarted").find("(the daemon was restarted)") != std::string::npos);
  CHECK(reopened("lost").find("(it was lost)") != std::string::npos);
}

TEST_CASE("a question without an answer is shown, and why it has none") {
  const std::string asked = shown("notifications/bridge/question_refused",
                                  R"({"method":"elicitation/create","message":"Which?"})");
  CHECK(asked == "the server asked a question, but there is no terminal to answer at: Which?");
  CHECK(
      shown("notifications/bridge/question_refused", R"({"method":"roots/list","message":null})") ==
      "the server sent roots/list, and no connected client answers it");
}

TEST_CASE("what is of no known form is shown as it came, on one line") {
  CHECK(shown("notifications/x/other", "{\"a\":\n1}") == "notifications/x/other {\"a\": 1}");
  CHECK(shown("notifications/message", "[1]") == "server log, no level: ");
  CHECK(shown("notifications/x/other", "") == "notifications/x/other");
}

TEST_CASE("a line of a log is JSON, whatever bytes it has") {
  CHECK(log_line_object("a \"b\"\t\x1b").text() + "\n" == "{\"line\":\"a \\\"b\\\"\\t\\u001b\"}\n");
  CHECK(log_line_object("\xff").text() + "\n" == "{\"line\":\"\\\\xff\"}\n");
}
