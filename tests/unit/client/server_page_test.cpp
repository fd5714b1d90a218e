#include "render/server_page.hpp"

#include <doctest/doctest.h>

using namespace client;

TEST_CASE("a server's capabilities are those it has declared, also those that are not translated") {
  const char* const discovered = R"({"capabilities":{"tools":{}}})";
  const char* const status = R"({"upstream":{"era":"legacy","capabilities":{"tools":{},
      "tasks":{"list":{},"cancel":{}},"extensions":{"io.modelcontextprotocol/skills":{}}}}})";
  CHECK(capability_names(read_server(discovered, status).capabilities) ==
        "tools, tasks (list, cancel), extensions (io.modelcontextprotocol/skills)");
  // A status without capabilities, or no status at all.
  CHECK(read_server(discovered, R"({"upstream":{"capabilities":null}})").capabilities ==
        R"({"tools":{}})");
  CHECK(read_server(discovered, "{}").capabilities == R"({"tools":{}})");
}

TEST_CASE("a server of both eras is shown as one") {
  const char* const both =
      R"({"upstream":{"era":"legacy","eras":"both","protocolVersion":"2025-11-25"}})";
  CHECK(render_server(read_server("{}", both), 0).find("2025-11-25 (legacy and modern)") !=
        std::string::npos);
}
