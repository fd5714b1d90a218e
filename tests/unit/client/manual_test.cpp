#include "command_line/verb.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <variant>

#include "command_line/options.hpp"
#include "json/document.hpp"

using namespace client;

namespace {

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    widest = std::max(widest, end - at);
    at = end + 1;
  }
  return widest;
}

}  // namespace

TEST_CASE("each command has a help of its own, five to twenty lines with an example") {
  for (const Verb& verb : verbs()) {
    CAPTURE(verb.name());
    const std::string help = help_text(verb);
    CHECK(help.starts_with("mcp-nc [OPTIONS] " + std::string(verb.name())));
    const auto lines = std::count(help.begin(), help.end(), '\n');
    CHECK(lines >= 5);
    CHECK(lines <= 20);
    CHECK(widest_line(help) <= 80);
    REQUIRE_FALSE(verb.example_lines().empty());
    for (const std::string_view example : verb.example_lines()) {
      CHECK(help.find(example) != std::string::npos);
      CHECK(example.starts_with("mcp-nc "));
    }
  }
  CHECK(help_text(*find_verb("call")).find("--raw") != std::string::npos);
  CHECK(help_text(*find_verb("call")).find("key:@FILE") != std::string::npos);
}

TEST_CASE("help is about the verb that stands before it or behind it") {
  const auto operands = [](const std::vector<std::string_view>& words) {
    const auto parsed = parse_command_line(words);
    REQUIRE(std::holds_alternative<Options>(parsed));
    CHECK(std::get<Options>(parsed).verb == find_verb("help"));
    return std::get<Options>(parsed).operands;
  };
  CHECK(operands({"help", "call"}) == std::vector<std::string>{"call"});
  CHECK(operands({"call", "x", "--help"}) == std::vector<std::string>{"call"});
  CHECK(operands({"--help"}).empty());
}

TEST_CASE("what is unknown is said with what was meant") {
  const auto message = [](const std::vector<std::string_view>& words) {
    return std::get<UsageError>(parse_command_line(words)).message;
  };
  CHECK(message({"cal"}) == "unknown command 'cal'; did you mean 'call'?");
  CHECK(message({"help", "calls"}) == "unknown command 'calls'; did you mean 'call'?");
  CHECK(message({"@", "tools"}) == "no name after @; list them with: mcp-nc servers");
  for (const auto& [words, typed] : {
           std::pair(std::vector<std::string_view>{"frobnicate"},
                     "call frobnicate for a tool, @frobnicate for a server"),
           std::pair(std::vector<std::string_view>{"ls"}, "tools"),
           std::pair(std::vector<std::string_view>{"list"}, "tools"),
           std::pair(std::vector<std::string_view>{"tools/list"}, "tools"),
           std::pair(std::vector<std::string_view>{"sampling/x"}, "request sampling/x"),
           std::pair(std::vector<std::string_view>{"connect"}, "@NAME server, or --url URL server"),
           std::pair(std::vector<std::string_view>{"search", "q=x"}, "call search key=value"),
           std::pair(std::vector<std::string_view>{"big", "tools"}, "@big tools"),
           std::pair(std::vector<std::string_view>{"big", "call", "add", "a=1"}, "@big call"),
       })
    CHECK(message(words) ==
          "unknown command '" + std::string(words.front()) + "'; type: mcp-nc " + typed);
  for (const auto& [words, typed] : {
           std::pair(std::vector<std::string_view>{"@big", "ls"}, "mcp-nc @big tools"),
           std::pair(std::vector<std::string_view>{"@big", "weather"}, "mcp-nc @big call weather"),
           std::pair(std::vector<std::string_view>{"-s", "/x", "search", "q=x"},
                     "mcp-nc -s /x call search key=value"),
           std::pair(std::vector<std::string_view>{"--config", "f", "big", "tools"},
                     "mcp-nc --config f @big tools"),
       })
    CHECK(message(words).ends_with(std::string("; type: ") + typed));
  CHECK(message({"call", "add", "--a", "1"}) ==
        "unknown option '--a'; arguments have no dashes: key=value");
}

TEST_CASE("a command in a message is for the server that was named") {
  Options options;
  options.config = "f";
  options.server = "big";
  for (const auto& [text, typed] :
       {std::pair("list them with: mcp-nc jobs", "list them with: mcp-nc --config f @big jobs"),
        std::pair("mcp-nc login, or mcp-nc status",
                  "mcp-nc --config f @big login, or mcp-nc --config f @big status"),
        std::pair("see: mcp-nc servers", "see: mcp-nc --config f servers"),
        std::pair("mcp-nc approve @big", "mcp-nc --config f approve @big"),
        std::pair("see: mcp-nc help call", "see: mcp-nc help call"),
        std::pair("mcp-nc -s /x jobs", "mcp-nc -s /x jobs"), std::pair("mcp-nc", "mcp-nc")})
    CHECK(as_typed(text, options) == typed);
}

TEST_CASE("the help is one page, and names each command") {
  const std::string help = help_text();
  CHECK(std::count(help.begin(), help.end(), '\n') <= 48);
  CHECK(widest_line(help) <= 80);
  CHECK(help.find("@NAME at a terminal: the server's overview") != help.npos);
  for (const Verb& verb : verbs()) {
    CAPTURE(verb.name());
    const bool is_there = verb.name() == "help" || help.find(std::string(verb.name())) != help.npos;
    CHECK(is_there);
  }
  for (const Option& option : all_options())
    CHECK(options_text().find(std::string(option.form)) != std::string::npos);
}

TEST_CASE("help as JSON has what the help has") {
  const auto whole = json::parse(help_json());
  REQUIRE(whole);
  CHECK(whole->find("verbs")->items.size() == verb_names().size());
  CHECK(whole->find("options")->items.size() == general_options().size());
  for (const Verb& verb : verbs()) {
    CAPTURE(verb.name());
    const auto one = json::parse(help_json(verb));
    REQUIRE(one);
    CHECK(one->string("verb") == verb.name());
    CHECK(one->string("usage").starts_with(verb.name()));
    for (const json::Value& option : one->find("options")->items)
      CHECK(help_text(verb).find(option.string("option").substr(0, 4)) != std::string::npos);
    CHECK(one->find("examples")->items.size() == verb.example_lines().size());
  }
}

TEST_CASE("the options of a command are those that it takes") {
  const auto has = [](std::string_view verb, std::string_view name) {
    for (const Option& option : verb_options()) {
      if (option.name() == name) return goes_with(option, *find_verb(verb));
    }
    return false;
  };
  CHECK(has("logs", "follow"));
  CHECK(has("call", "raw"));
  CHECK_FALSE(has("tools", "raw"));
  CHECK_FALSE(has("tools", "socket"));
  // Every option that a row names exists, and each takes --json.
  for (const Verb& verb : verbs()) {
    CAPTURE(verb.name());
    CHECK(has(verb.name(), "json"));
    const auto named =
        verb.options.empty() ? 0 : 1 + std::count(verb.options.begin(), verb.options.end(), ' ');
    const auto all = verb_options();
    CHECK(std::count_if(all.begin(), all.end(), [&](const Option& option) {
            return option.name() != "json" && goes_with(option, verb);
          }) == named);
  }
}
