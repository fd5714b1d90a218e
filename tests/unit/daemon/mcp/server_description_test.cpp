#include "mcp/handshake.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

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

TEST_CASE("who asks for an unknown revision gets the kept result unchanged") {
  for (const char* asked :
       {"", "1999-01-01", "2024-10-07", "2026-07-28", "latest", "2025-06-1", "2024-11-05\""}) {
    CAPTURE(asked);
    CHECK(ServerDescription(result_with("2025-06-18")).initialize_result_for(asked) ==
          result_with("2025-06-18"));
  }
}

TEST_CASE("a kept result with an unknown newer revision still answers an older client") {
  CHECK(ServerDescription(result_with("2026-01-01")).initialize_result_for("2025-03-26") ==
        result_with("2025-03-26"));
}

TEST_CASE("a result without a revision is passed on as it is") {
  CHECK(ServerDescription("{}").initialize_result_for("2024-11-05") == "{}");
  CHECK(ServerDescription(R"({"protocolVersion":7})").initialize_result_for("2024-11-05") ==
        R"({"protocolVersion":7})");
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
