#include "render/server_page.hpp"

#include <doctest/doctest.h>

#include "render/failure.hpp"

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

TEST_CASE(
    "the skill has a front matter that needs no quotes of its own, and the commands to type") {
  const AgentSkill skill = agent_skill("mcp-nc", "");
  CHECK(skill.name == "mcp-nc");
  CHECK(skill.text.starts_with("---\nname: mcp-nc\ndescription: \"Use the MCP server"));
  CHECK(skill.text.find("\n---\n\n# mcp-nc\n") != std::string::npos);
  CHECK(skill.text.find("    mcp-nc agent-help\n") != std::string::npos);
  CHECK(skill.text.find("mcp-nc call --detach") != std::string::npos);
  CHECK(skill.text.size() < 4 * 1500);
}

TEST_CASE("of a server by name it is another one, whose name is harmless") {
  const AgentSkill skill = agent_skill("mcp-nc '@My \"Hub\"'", "My \"Hub\"\n");
  CHECK(skill.name == "mcp-nc-my--hub--");
  CHECK(skill.text.find("the MCP server 'My \\\"Hub\\\"\\\\n'") != std::string::npos);
  CHECK(skill.text.find("    mcp-nc '@My \"Hub\"' agent-help\n") != std::string::npos);
  CHECK(agent_skill("mcp-nc", std::string(90, 'x')).name.size() == 64);
}
