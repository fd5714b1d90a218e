#include <doctest/doctest.h>

#include "render/lists.hpp"
#include "render/server_page.hpp"

using namespace client;

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

TEST_CASE("a server's skills are listed with what they are read by") {
  CHECK(render_skills(
            {R"({"uri":"skill://a/SKILL.md","frontmatter":{"name":"a","description":"does a"}})",
             R"({"uri":"skill://b","description":"does b"})", "7"},
            0) == "a (skill://a/SKILL.md)\n    does a\nskill://b\n    does b\n7\n");
}
