// Output of mcp-nc for programs: one value of a result, the format of errors, a page for a model.
#include <doctest/doctest.h>

#include "json/document.hpp"
#include "render/content.hpp"
#include "render/failure.hpp"
#include "render/server_page.hpp"

using namespace client;

TEST_CASE("a command to be copied names the server as it was named") {
  Options options;
  CHECK(typed_program(options) == "mcp-nc");
  options.server = "github";
  CHECK(typed_program(options) == "mcp-nc @github");
  options.server = "my server";
  options.config = "a.json";
  CHECK(typed_program(options) == "mcp-nc --config a.json '@my server'");
  options = {};
  options.socket = "/run/x y";
  CHECK(typed_program(options) == "mcp-nc -s '/run/x y'");
  options = {};
  options.url = "https://h/mcp?key=secret";
  CHECK(typed_program(options) == "mcp-nc --url URL");
  options.url = "https://h/mcp";
  CHECK(typed_program(options) == "mcp-nc --url https://h/mcp");
  options = {};
  options.command = "npx -y it's";
  CHECK(typed_program(options) == "mcp-nc --run 'npx -y it'\\''s'");
}

TEST_CASE("a field is found by names and places, and keeps its bytes") {
  constexpr std::string_view json = R"({"a":{"b.c":1,"l":[{"n":0.10},"t\u00e9"]},"n":null})";
  CHECK(field_at(json, "a.l.0.n") == "0.10");
  CHECK(field_at(json, "a.l[0].n") == "0.10");
  CHECK(field_at(json, "a.l.1") == "t\u00e9");
  CHECK(field_at(json, "a.l.0") == R"({"n":0.10})");
  CHECK(field_at(json, "n") == "null");
  CHECK(field_at(json, "") == std::string(json));
  for (const char* path : {"x", "a.l.2", "a.l.x", "a.l.-1", "n.x", "a..l", "a.l.0.n.y"}) {
    CAPTURE(path);
    CHECK_FALSE(field_at(json, path));
  }
  constexpr std::string_view result = R"({"content":[{"text":"x"}],"structuredContent":{"sum":3}})";
  CHECK(field_of_result(result, "sum") == "3");
  CHECK(field_of_result(result, "content.0.text") == "x");
}

TEST_CASE("an error says whose it is, and whether the server has the request") {
  const Failure theirs = read_error(R"({"code":-32601,"message":"no such"})");
  CHECK(
      error_object(theirs).text() + "\n" ==
      "{\"error\":{\"kind\":\"server\",\"code\":-32601,\"delivered\":\"yes\",\"message\":\"no such\","
      "\"hint\":\"\"}}\n");
  const Failure ours = read_error(
      R"({"code":-32000,"message":"m","data":{"source":"bridge","kind":"connect","delivered":"no"}})");
  CHECK(ours.kind == "connect");
  CHECK(ours.delivered == "no");
  CHECK_FALSE(ours.hint.empty());
  CHECK(read_error(R"({"data":{"source":"bridge","kind":"closed","delivered":"unknown"}})")
            .delivered == "unknown");
  CHECK(read_error("1e400").message == "1e400");
  CHECK(json::is_valid(error_object(read_error("\"\"")).text()));
}

TEST_CASE("a server is described from what it said when the session was opened") {
  const ServerPage page = read_server(
      R"({"capabilities":{"tools":{"listChanged":true},"logging":{},"x":{"off":false}},"instructions":"Be kind."})",
      R"({"upstream":{"era":"legacy","eras":"both","protocolVersion":"2025-11-25","serverInfo":{"name":"s","version":"1"}}})");
  CHECK(
      server_json(page) ==
      "{\"name\":\"s\",\"version\":\"1\",\"era\":\"legacy\",\"eras\":\"both\",\"protocolVersion\":\"2025-11-25\","
      "\"capabilities\":{\"tools\":{\"listChanged\":true},\"logging\":{},\"x\":{\"off\":false}},"
      "\"instructions\":\"Be kind.\"}\n");
  CHECK(capability_names(page.capabilities) == "tools (listChanged), logging, x");
  const std::string modern = server_json(read_server(
      R"({"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"m","version":"2"}}})", "{}"));
  CHECK(modern.find("\"name\":\"m\"") != std::string::npos);
}

TEST_CASE("the page for a model is bounded, whatever the server says") {
  AgentHelp about;
  about.server.name = std::string(10000, 'n') + "\x1b[31m";
  about.server.instructions = std::string(100, '\x1b') + std::string(100000, 'i');
  about.server.capabilities = R"({")" + std::string(5000, 'c') + R"(":{}})";
  about.tools.assign(1000, std::string(300, 't'));
  const std::string text = agent_help(about);
  CHECK(text.size() <= longest_agent_help);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("not your user's") != std::string::npos);
  CHECK(text.find("call --detach") != std::string::npos);
  about.server.name = "one\ntwo\t\xE2\x80\xA8";
  about.tools = {"a\r\nb", "\xE2\x80\xAEgnp"};
  const std::string odd = agent_help(about);
  CHECK(odd.find("Server: one\\ntwo\\t\\u2028 ") != std::string::npos);
  CHECK(odd.find("Tools: a\\r\\nb, \\u202egnp\n") != std::string::npos);
  about.server.instructions = std::string(3000, '\n');
  CHECK(agent_help(about).size() <= longest_agent_help);
}
