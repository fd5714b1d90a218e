#include "verbs/verbs.hpp"

#include <doctest/doctest.h>

#include "command_line/verb.hpp"

using namespace client;

TEST_CASE("a line of the shell is for the shell's server, unless it names another") {
  Options shell;
  shell.verb = find_verb("shell");
  shell.server = "a";
  shell.json = true;
  const auto read = [&](const char* line) { return read_shell_line(line, shell); };
  const auto own = std::get<Options>(read("call echo message=x"));
  CHECK(own.server == "a");
  CHECK(own.json);
  CHECK(own.operands == std::vector<std::string>{"echo", "message=x"});
  const auto other = std::get<Options>(read("@b tools --names"));
  CHECK(other.server == "b");
  CHECK_FALSE(other.json);
  CHECK(std::get<Options>(read("-s /x status")).server.empty());
  CHECK(std::get<Options>(read("mcp-nc @b tools")).server == "b");
  CHECK(std::get<Options>(read("mcp-nc tools")).server == "a");
  CHECK(std::get<UsageError>(read("@b")).message.starts_with("each line is a command"));
  CHECK(std::get<UsageError>(read("shell")).json);
  CHECK(std::get<UsageError>(read("call \"x")).message == "a quote is not closed");
}

TEST_CASE("a tool's name, whatever it is, makes a plain name of a file") {
  for (const auto& [tool, name] :
       {std::pair("search", "search"), std::pair("../../etc/x", "_.._.._etc_x"),
        std::pair("..", "_.."), std::pair("-rf", "_-rf"), std::pair("a b;$(c)'\n", "a_b___c___"),
        std::pair("", "_"), std::pair("\xc3\xa9", "__")})
    CHECK_MESSAGE(command_name(tool, "") == name, tool);
  CHECK(command_name("x", "../") == "_.._x");
  CHECK(command_name("..", "gh-") == "gh-..");
  CHECK(command_name(std::string(300, 'a'), "").size() == 100);
}
