#include "mcp/methods.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <utility>

#include "../json/frames.hpp"

using namespace bridge;

TEST_CASE("these requests only read and may be sent twice, others may not") {
  for (const char* method :
       {"initialize", "ping", "tools/list", "resources/list", "resources/templates/list",
        "prompts/list", "tasks/list", "resources/read", "prompts/get", "completion/complete",
        "server/discover"})
    CHECK_MESSAGE(only_reads(method), method);
  for (const char* method :
       {"tools/call", "resources/subscribe", "resources/unsubscribe", "logging/setLevel",
        "tasks/cancel", "list", "tools/lists", "tools/list/x", "pings", "", "Ping"})
    CHECK_FALSE_MESSAGE(only_reads(method), method);
}

TEST_CASE("these notifications are the session's wherever they come from") {
  for (const char* method :
       {"notifications/tools/list_changed", "notifications/resources/list_changed",
        "notifications/prompts/list_changed", "notifications/resources/updated",
        "notifications/elicitation/complete", "notifications/tasks/status"})
    CHECK_MESSAGE(is_session_notification(method), method);
  for (const char* method :
       {"notifications/message", "notifications/progress", "notifications/cancelled",
        "notifications/resources/updated/x", "list_changed", ""})
    CHECK_FALSE_MESSAGE(is_session_notification(method), method);
}

TEST_CASE("a list_changed makes an older one of its kind superfluous, an update one of its uri") {
  const auto key_of = [](const char* text) { return coalesce_key(frame_of(text)); };
  const std::string tools = key_of(R"({"method":"notifications/tools/list_changed"})");
  CHECK_FALSE(tools.empty());
  CHECK(tools == key_of(R"({"method":"notifications/tools/list_changed","params":{"x":1}})"));
  CHECK(tools != key_of(R"({"method":"notifications/prompts/list_changed"})"));
  const std::string updated =
      key_of(R"({"method":"notifications/resources/updated","params":{"uri":"a://b"}})");
  CHECK_FALSE(updated.empty());
  CHECK(
      updated ==
      key_of(
          R"({"method":"notifications/resources/updated","params":{"x":1,"uri":"a:\/\/\u0062"}})"));
  CHECK(updated !=
        key_of(R"({"method":"notifications/resources/updated","params":{"uri":"a://c"}})"));
  CHECK(updated != key_of(R"({"method":"notifications/resources/updated","params":{"uri":""}})"));
  for (const char* text : {R"({"method":"notifications/resources/updated"})",
                           R"({"method":"notifications/resources/updated","params":{"uri":7}})",
                           R"({"method":"notifications/message","params":{"uri":"a://b"}})"})
    CHECK_MESSAGE(key_of(text).empty(), text);
}

TEST_CASE("methods fall into few classes, whatever clients send") {
  const std::pair<std::string_view, std::string_view> classes[] = {
      {"tools/call", "call"},
      {"tools/list", "list"},
      {"resources/list", "list"},
      {"resources/templates/list", "list"},
      {"resources/read", "read"},
      {"prompts/get", "read"},
      {"completion/complete", "read"},
      {"resources/subscribe", "subscribe"},
      {"subscriptions/listen", "subscribe"},
      {"resources/unsubscribe", "subscribe"},
      {"initialize", "session"},
      {"ping", "session"},
      {"logging/setLevel", "session"},
      {"server/discover", "session"},
      {"tasks/list", "task"},
      {"tasks/result", "task"},
      {"", "other"},
      {"tools/callx", "other"}};
  for (const auto& [method, name] : classes) {
    const auto& tried = method;  // clang 14 captures no structured binding
    CAPTURE(tried);
    CHECK(name_of(class_of(method)) == name);
  }
}

TEST_CASE(
    "a notification's name is no request's, and a request of the protocol is no notification") {
  const auto refused = [](const char* text) { return wrong_kind(frame_of(text)) != nullptr; };
  for (const char* text :
       {R"({"id":1,"method":"notifications/cancelled"})",
        R"({"id":1,"method":"notifications/anything"})",
        R"({"id":"a","method":"notific\u0061tions/initialized"})", R"({"method":"tools/call"})",
        R"({"method":"initialize"})", R"({"method":"server/discover"})", R"({"method":"ping"})",
        R"({"method":"anything/list"})", R"({"method":"elicitation/create"})",
        R"({"method":"resources/subscribe"})", R"({"method":"tasks/cancel"})"})
    CHECK_MESSAGE(refused(text), text);
  for (const char* text :
       {R"({"id":1,"method":"tools/call"})", R"({"id":1,"method":"foo/bar"})",
        R"({"id":1,"method":"notifications"})", R"({"method":"notifications/cancelled"})",
        R"({"method":"notifications/resources/list"})", R"({"method":"foo/bar"})",
        R"({"method":"bridge/peek"})", R"({"id":1,"result":{}})"})
    CHECK_FALSE_MESSAGE(refused(text), text);
}
