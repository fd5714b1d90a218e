#include "mcp/subscription_filter.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "../json/frames.hpp"
#include "mcp/request_meta.hpp"

using namespace bridge;

namespace {

std::variant<SubscriptionFilter, std::string_view> read(std::string_view params) {
  return read_filter(frame_of(fmt::format(
      R"({{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{}}})", params)));
}

SubscriptionFilter filter_of(std::string_view notifications) {
  return std::get<SubscriptionFilter>(
      read(fmt::format(R"({{"notifications":{}}})", notifications)));
}

bool is_refused(std::string_view params) {
  return std::holds_alternative<std::string_view>(read(params));
}

bool matches(const SubscriptionFilter& filter, std::string_view method,
             std::string_view params = "{}") {
  return filter.matches(
      frame_of(fmt::format(R"({{"method":"notifications/{}","params":{}}})", method, params)));
}

}  // namespace

TEST_CASE("a filter is read and written again") {
  CHECK(filter_of("{}").empty());
  CHECK(filter_of("{}").json() == "{}");
  const SubscriptionFilter filter = filter_of(
      R"({"toolsListChanged":true,"promptsListChanged":false,"resourceSubscriptions":["file:\/\/\/b","a","a"],"taskIds":["t"],"io.x\/y":{"z":[1]}})");
  CHECK(filter.tools_list_changed);
  CHECK_FALSE(filter.prompts_list_changed);
  CHECK(
      filter.json() ==
      R"({"toolsListChanged":true,"resourceSubscriptions":["a","file:///b"],"taskIds":["t"],"io.x/y":{"z":[1]}})");
  CHECK(filter_of(filter.json()) == filter);
}

TEST_CASE("what is no filter, or a too large one, is refused") {
  for (const char* params :
       {"{}", "[]", "null", R"({"notifications":null})", R"({"notifications":[]})",
        R"({"notifications":{"toolsListChanged":1}})",
        R"({"notifications":{"toolsListChanged":null}})",
        R"({"notifications":{"resourceSubscriptions":"a"}})",
        R"({"notifications":{"resourceSubscriptions":[1]}})", R"({"notifications":{"taskIds":{}}})",
        R"({"notifications":{},"notifications":{}})",
        R"({"notifications":{"toolsListChanged":true,"tools\u004cistChanged":false}})",
        R"({"notifications":{"x":1,"\u0078":2}})"})
    CHECK_MESSAGE(is_refused(params), params);
  const auto uris = [](int count, std::string_view uri) {
    std::string list;
    for (int i = 0; i < count; ++i) list += fmt::format(R"({}"{}{}")", i > 0 ? "," : "", uri, i);
    return fmt::format(R"({{"notifications":{{"resourceSubscriptions":[{}]}}}})", list);
  };
  CHECK_FALSE(is_refused(uris(1000, "u")));
  CHECK(is_refused(uris(1001, "u")));
  CHECK(is_refused(uris(900, std::string(1200, 'u'))));
  std::string members;
  for (int i = 0; i < 65; ++i) members += fmt::format(R"({}"x{}":1)", i > 0 ? "," : "", i);
  CHECK(is_refused(R"({"notifications":{)" + members + "}}"));
}

TEST_CASE("the union of filters asks for what any of them asks for") {
  SubscriptionFilter all =
      filter_of(R"({"toolsListChanged":true,"resourceSubscriptions":["a"],"x":[1],"y":1,"z":[ ]})");
  all.add(filter_of(
      R"({"resourcesListChanged":true,"resourceSubscriptions":["b","a"],"taskIds":["t"],"x":["]",2],"y":2,"z":[3],"w":[]})"));
  all.add(filter_of(R"({"x":[ ]})"));
  CHECK(
      all.json() ==
      R"({"toolsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["a","b"],"taskIds":["t"],"w":[],"x":[1,"]",2],"y":1,"z":[ 3]})");
}

TEST_CASE("a notification goes to those who asked for it") {
  const SubscriptionFilter nothing;
  const SubscriptionFilter filter = filter_of(
      R"({"toolsListChanged":true,"resourceSubscriptions":["file:///d","x:1/"],"taskIds":["t"]})");
  CHECK(matches(filter, "tools/list_changed"));
  CHECK_FALSE(matches(filter, "prompts/list_changed"));
  CHECK_FALSE(matches(filter, "resources/list_changed"));
  CHECK(matches(filter_of(R"({"promptsListChanged":true})"), "prompts/list_changed"));
  CHECK(matches(filter_of(R"({"resourcesListChanged":true})"), "resources/list_changed"));
  struct Row {
    const char* params;
    bool matches;
  };
  const Row rows[] = {
      {R"({"uri":"file:///d"})", true},     {R"({"uri":"file:\/\/\/\u0064"})", true},
      {R"({"uri":"file:///d/e/f"})", true}, {R"({"uri":"x:1/2"})", true},
      {R"({"uri":"file:///de"})", false},   {R"({"uri":"file:///"})", false},
      {R"({"uri":"x:1"})", false},          {R"({"uri":7})", false},
      {R"({"url":"file:///d"})", false},    {R"(["file:///d"])", false},
      {R"({"taskId":"file:///d"})", false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.params);
    CHECK(matches(filter, "resources/updated", row.params) == row.matches);
    CHECK_FALSE(matches(nothing, "resources/updated", row.params));
  }
  CHECK(matches(filter, "tasks", R"({"taskId":"t","status":"working"})"));
  CHECK_FALSE(matches(filter, "tasks", R"({"taskId":"u"})"));
  const SubscriptionFilter extended = filter_of(R"({"io.x/y":true})");
  CHECK(matches(extended, "io.x/y"));
  CHECK_FALSE(matches(filter, "io.x/y"));
  for (const char* method : {"progress", "message", "cancelled", "subscriptions/acknowledged",
                             "elicitation/complete", "tasks/status", "roots/list_changed"}) {
    CHECK_FALSE(matches(extended, method));
  }
}

TEST_CASE("the messages of a subscription name its listen") {
  const SubscriptionFilter filter = filter_of(R"({"toolsListChanged":true})");
  const Frame listen = frame_of(listen_request(UpstreamId{7}, filter, {}));
  CHECK(listen.is_modern());
  CHECK(missing_request_meta(listen) == nullptr);
  CHECK(std::get<SubscriptionFilter>(read_filter(listen)) == filter);
  const Frame acknowledged = frame_of(acknowledgement("\"l\\n\"", filter));
  CHECK(
      acknowledged.bytes ==
      R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"l\n"},"notifications":{"toolsListChanged":true}}})");
  CHECK(std::get<SubscriptionFilter>(read_acknowledged(acknowledged)) == filter);
  CHECK(
      listen_result("0") ==
      R"({"jsonrpc":"2.0","id":0,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":0}}})");
}

TEST_CASE("a notification's subscription is put in, replaced and taken out") {
  const auto with = [](std::string_view text) {
    return with_subscription_id(frame_of(std::string(text)), "5");
  };
  const auto without = [](std::string_view text) {
    return without_subscription_id(frame_of(std::string(text)));
  };
  CHECK(with(R"({"method":"a"})") ==
        R"({"method":"a","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":5}}})");
  CHECK(
      with(R"({"method":"a","params":{"uri":"u"}})") ==
      R"({"method":"a","params":{"uri":"u","_meta":{"io.modelcontextprotocol/subscriptionId":5}}})");
  CHECK(
      with(
          R"({"params":{"_meta":{"x":1,"io.modelcontextprotocol/subscriptionId": "old" },"uri":"u"},"method":"a"})") ==
      R"({"params":{"_meta":{"x":1,"io.modelcontextprotocol/subscriptionId": 5 },"uri":"u"},"method":"a"})");
  CHECK(with(R"({"method":"a","params":[1]})") == R"({"method":"a","params":[1]})");
  CHECK(
      without(
          R"({"params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"old"},"uri":"u"},"method":"a"})") ==
      R"({"params":{"uri":"u"},"method":"a"})");
  CHECK(
      without(
          R"({"params":{"_meta":{"io.modelcontextprotocol\/subscriptionId":null,"x":1}},"method":"a"})") ==
      R"({"params":{"_meta":{"x":1}},"method":"a"})");
  CHECK(without(R"({"method":"a","params":{}})") == R"({"method":"a","params":{}})");
}

TEST_CASE("what a filter asks for is told as changed one by one, each once") {
  SubscriptionFilter filter;
  filter.tools_list_changed = filter.resources_list_changed = true;
  filter.resources = {"demo://1", "demo://2"};
  filter.task_ids = {"t"};
  std::vector<std::string> told;
  while (const auto line = filter.take_changed()) told.push_back(*line);
  REQUIRE(told.size() == 4);
  CHECK(told[0].find("notifications/tools/list_changed") != std::string::npos);
  CHECK(told[1].find("notifications/resources/list_changed") != std::string::npos);
  CHECK(told[2].find(R"("uri":"demo://1")") != std::string::npos);
  CHECK(told[3].find(R"("uri":"demo://2")") != std::string::npos);
}

TEST_CASE("the part of a filter that asks for a notification is its kind or its uri") {
  SubscriptionFilter filter;
  filter.tools_list_changed = filter.prompts_list_changed = filter.resources_list_changed = true;
  filter.resources = {"demo://1", "demo://2"};
  const auto part_for = [&](std::string_view method, std::string_view params = "{}") {
    const auto frame = parse_frame(
        fmt::format(R"({{"jsonrpc":"2.0","method":"{}","params":{}}})", method, params));
    return filter.part_for(std::get<Frame>(frame)).json();
  };
  CHECK(part_for("notifications/tools/list_changed") == R"({"toolsListChanged":true})");
  CHECK(part_for("notifications/prompts/list_changed") == R"({"promptsListChanged":true})");
  CHECK(part_for("notifications/resources/list_changed") == R"({"resourcesListChanged":true})");
  CHECK(part_for("notifications/resources/updated", R"({"uri":"demo://2"})") ==
        R"({"resourceSubscriptions":["demo://2"]})");
  CHECK(part_for("notifications/resources/updated", R"({"uri":"demo://2/part"})") ==
        R"({"resourceSubscriptions":["demo://1","demo://2"]})");
}
