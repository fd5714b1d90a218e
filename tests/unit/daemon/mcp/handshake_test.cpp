#include "mcp/handshake.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "../json/frames.hpp"
#include "../lines.hpp"

using namespace bridge;

namespace {

const Lines versions = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"};

std::string result_with(const std::string& version) {
  return R"({ "serverInfo":{"name":"x","protocolVersion":"1"},)"
         "\t"
         R"("protocolVersion" : ")" +
         version + R"(", "capabilities":{"z":1e400,"a":[ ]} ,"a":0.10 })";
}

}  // namespace

TEST_CASE("the four revisions with an initialize are known, and no other") {
  for (const std::string& version : versions) CHECK(is_known_legacy_version(version));
  for (const char* version : {"2026-07-28", "2024-10-07", "2025-11-2", "2025-11-255", "", "1.0"})
    CHECK_FALSE_MESSAGE(is_known_legacy_version(version), version);
  CHECK(newest_legacy_version == "2025-11-25");
}

TEST_CASE("the revision is read from a result and from the params of an initialize") {
  CHECK(protocol_version_of(R"({"protocolVersion":"2025-06-18"})") == "2025-06-18");
  CHECK(protocol_version_of(R"({"capabilities":{"protocolVersion":"x"}})").empty());
  CHECK(protocol_version_of("{}").empty());
  CHECK(protocol_version_of("").empty());
}

TEST_CASE("the bridge's own messages are frames") {
  const Frame request =
      frame_of(own_request(UpstreamId{7}, "initialize", own_initialize_params(R"({"roots":{}})")));
  CHECK(request.is_request());
  CHECK(request.text(request.id) == "7");
  CHECK(request.method == "initialize");
  CHECK(request.text(request.params) ==
        R"({"protocolVersion":"2025-11-25","capabilities":{"roots":{}},)"
        R"("clientInfo":{"name":"mcp-session-bridge","version":")" MCP_BRIDGE_VERSION R"("}})");
  CHECK(request.bytes.starts_with(R"({"jsonrpc":"2.0",)"));
  const Frame ping = frame_of(own_request(UpstreamId{8}, "ping", {}));
  CHECK(ping.is_request());
  CHECK_FALSE(ping.params.present());
  const Frame notification = frame_of(own_notification("notifications/initialized"));
  CHECK(notification.is_notification());
  CHECK_FALSE(notification.params.present());
  CHECK(frame_of(own_notification("m", R"({"a":1})")).params.present());
}

TEST_CASE("the kept params of an initialize are as they came, but for the progress token") {
  const auto kept = [](std::string_view params) {
    return params_to_save(
        frame_of(fmt::format(R"({{"id":1,"method":"initialize","params":{}}})", params)));
  };
  CHECK(kept(R"({ "a" : 1e400 })") == R"({ "a" : 1e400 })");
  CHECK(kept(R"({"_meta":{"progressToken":7},"a":1})") == R"({"_meta":{},"a":1})");
  CHECK(kept(R"({"_meta":{"x":1, "progressToken" : "t" }})") == R"({"_meta":{"x":1 }})");
  CHECK(kept(R"({"_meta":{ "progressToken": "t" , "x":1}})") == R"({"_meta":{  "x":1}})");
  CHECK(kept(R"({"_meta":{"x":"a\",","progress\u0054oken":"}\"","y":[2]}})") ==
        R"({"_meta":{"x":"a\",","y":[2]}})");
  CHECK(kept(R"({"progressToken":1,"_meta":{"y":{"progressToken":2}}})") ==
        R"({"progressToken":1,"_meta":{"y":{"progressToken":2}}})");
  CHECK(params_to_save(frame_of(R"({"id":1,"method":"initialize"})")).empty());
}

TEST_CASE("a server that knows only revisions without an initialize is known by its error") {
  for (
      const char* error :
      {R"({"code":-32601,"message":"Method not found"})",
       R"({"code": -32022,"message":"Unsupported protocol version"})",
       R"({"code":-32602,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"]}})",
       R"({"code":-32000,"message":"this server speaks 2026-07-28 only"})"})
    CHECK_MESSAGE(speaks_only_newer(error), error);
  for (const char* error : {"", R"({"code":-32602,"message":"Unsupported protocol version"})",
                            R"({"code":-32600,"message":"Server already initialized"})",
                            R"({"code":-32000,"message":"supported: 2025-06-18"})"})
    CHECK_FALSE_MESSAGE(speaks_only_newer(error), error);
}

TEST_CASE("what the server said is kept as it came, and its parts are read from it") {
  const ServerDescription described(result_with("2025-06-18"));
  CHECK(described.result() == result_with("2025-06-18"));
  CHECK(described.protocol_version() == "2025-06-18");
  CHECK(described.server_info() == R"({"name":"x","protocolVersion":"1"})");
  CHECK(described.era() == Era::legacy);
  CHECK(ServerDescription("{}").protocol_version().empty());
  CHECK(ServerDescription("{}").server_info() == "null");
}

TEST_CASE("who asks for an older known revision gets it, everything else stays byte for byte") {
  for (const std::string& kept : versions) {
    for (const std::string& asked : versions) {
      CAPTURE(kept);
      CAPTURE(asked);
      CHECK(ServerDescription(result_with(kept)).initialize_result_for(asked) ==
            result_with(std::min(kept, asked)));
    }
  }
}

TEST_CASE("of an unknown revision nothing is known but its age") {
  const auto given = [](const std::string& kept, const char* asked) {
    return ServerDescription(kept).initialize_result_for(asked);
  };
  for (const char* asked :
       {"", "1999-01-01", "2024-10-07", "2026-07-28", "latest", "2025-06-1", "2024-11-05\""})
    CHECK_MESSAGE(given(result_with("2025-06-18"), asked) == result_with("2025-06-18"), asked);
  CHECK(given(result_with("2026-01-01"), "2025-03-26") == result_with("2025-03-26"));
  for (const char* kept : {"{}", R"({"protocolVersion":7})"})
    CHECK(given(kept, "2024-11-05") == kept);
}

TEST_CASE("the list changes a server declares, and only those") {
  CHECK(
      ServerDescription(
          R"({"capabilities":{"prompts":{"listChanged": true},"tools":{"x":1,"listChanged":true},)"
          R"("resources":{"subscribe":true,"listChanged":true},"other":{"listChanged":true}}})")
          .declared_list_changes() == Lines{"notifications/tools/list_changed",
                                            "notifications/resources/list_changed",
                                            "notifications/prompts/list_changed"});
  CHECK(ServerDescription(
            R"({"capabilities":{"tools":{"listChanged":false},"resources":{},"prompts":true}})")
            .declared_list_changes()
            .empty());
  CHECK(ServerDescription(R"({"tools":{"listChanged":true}})").declared_list_changes().empty());
  CHECK(ServerDescription("{}").declared_list_changes().empty());
  CHECK(ServerDescription("").declared_list_changes().empty());
}
