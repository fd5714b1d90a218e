#include "command_line/manual.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <variant>

#include "command_line/options.hpp"
#include "command_line/verb_manual.hpp"
#include "json/value.hpp"

using namespace client;

namespace {

bool is_unknown(const std::string& argument) {
  const auto parsed = parse_command_line({argument});
  const auto* error = std::get_if<UsageError>(&parsed);
  return error != nullptr && error->message.find("unknown") != std::string::npos;
}

bool is_refused(const std::vector<std::string_view>& words) {
  return std::holds_alternative<UsageError>(parse_command_line(words));
}

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

TEST_CASE("every command and option of the manual is known on the command line") {
  CHECK(is_unknown("--no-such-option"));
  for (const ManualEntry& command : manual_commands()) {
    const std::string name(command.form.substr(0, command.form.find(' ')));
    CAPTURE(name);
    CHECK_FALSE(is_unknown(name));
  }
  for (const auto& options : {manual_general_options(), manual_command_options()}) {
    for (const ManualEntry& option : options) {
      const std::size_t dashes = option.form.find("--");
      const std::string name(option.form.substr(dashes, option.form.find(' ', dashes) - dashes));
      CAPTURE(name);
      CHECK_FALSE(is_unknown(name));
      CHECK(help_text().find(name) != std::string::npos);
    }
  }
}

TEST_CASE("each command has a help of its own, five to twenty lines with an example") {
  for (const std::string_view verb : verb_names()) {
    CAPTURE(verb);
    const std::string help = help_text(verb);
    CHECK(help.starts_with("mcp-nc [OPTIONS] " + std::string(verb)));
    const auto lines = std::count(help.begin(), help.end(), '\n');
    CHECK(lines >= 5);
    CHECK(lines <= 20);
    CHECK(widest_line(help) <= 80);
    const VerbManual* const manual = manual_of(verb);
    REQUIRE(manual != nullptr);
    REQUIRE_FALSE(manual->examples.empty());
    for (const std::string_view example : manual->examples) {
      CHECK(help.find(example) != std::string::npos);
      CHECK(example.starts_with("mcp-nc "));
    }
  }
  CHECK(help_text("frobnicate").empty());
  CHECK(help_text("call").find("--raw") != std::string::npos);
  CHECK(help_text("call").find("key:@FILE") != std::string::npos);
}

TEST_CASE("help is about the verb that stands before it or behind it") {
  const auto operands = [](const std::vector<std::string_view>& words) {
    const auto parsed = parse_command_line(words);
    REQUIRE(std::holds_alternative<Options>(parsed));
    CHECK(std::get<Options>(parsed).verb == Verb::help);
    return std::get<Options>(parsed).operands;
  };
  CHECK(operands({"help", "call"}) == std::vector<std::string>{"call"});
  CHECK(operands({"call", "x", "--help"}) == std::vector<std::string>{"call"});
  CHECK(operands({"--help"}).empty());
  CHECK(is_unknown("helpp"));
}

TEST_CASE("what is unknown is said with what was meant") {
  const auto message = [](const std::vector<std::string_view>& words) {
    const auto parsed = parse_command_line(words);
    REQUIRE(std::holds_alternative<UsageError>(parsed));
    return std::get<UsageError>(parsed).message;
  };
  CHECK(message({"cal"}) == "unknown command 'cal'; did you mean call?");
  CHECK(message({"tools", "--jsn"}) == "unknown option '--jsn'; did you mean --json?");
  CHECK(message({"help", "calls"}) == "unknown command 'calls'; did you mean call?");
  CHECK(message({"frobnicate"}) == "unknown command 'frobnicate'");
}

TEST_CASE("every command takes --json") {
  for (const std::string_view verb : verb_names()) {
    CAPTURE(verb);
    CHECK(goes_with("--json", *find_verb(verb)));
    const VerbManual* const manual = manual_of(verb);
    REQUIRE(manual != nullptr);
    // With as many operands as it wants.
    const ManualEntry* const command = manual_command(verb);
    REQUIRE(command != nullptr);
    std::vector<std::string_view> words = {verb};
    for (int count = 0; count < 8; ++count) {
      words.push_back("--json");
      const auto parsed = parse_command_line(words);
      words.back() = "@x";
      if (const auto* options = std::get_if<Options>(&parsed)) {
        CHECK((options->json || options->verb == Verb::help));
        break;
      }
      const std::string& message = std::get<UsageError>(parsed).message;
      CHECK(message.find("--json") == std::string::npos);
      CHECK(count < 7);
    }
  }
  CHECK(is_refused({"--json"}));
}

TEST_CASE("help as JSON has what the help has") {
  const auto whole = json::parse(help_json());
  REQUIRE(whole);
  CHECK(whole->find("verbs")->items.size() == verb_names().size());
  CHECK(whole->find("options")->items.size() == manual_general_options().size());
  for (const std::string_view verb : verb_names()) {
    CAPTURE(verb);
    const auto one = json::parse(help_json(verb));
    REQUIRE(one);
    CHECK(one->string("verb") == verb);
    CHECK(one->string("usage").starts_with(verb));
    for (const json::Value& option : one->find("options")->items)
      CHECK(help_text(verb).find(option.string("option").substr(0, 4)) != std::string::npos);
    CHECK(one->find("examples")->items.size() == manual_of(verb)->examples.size());
  }
  CHECK(help_json("frobnicate").empty());
}

TEST_CASE("the options of a command are those that it takes") {
  const auto has = [](Verb verb, std::string_view form) {
    const auto options = options_of_verb(verb);
    return std::any_of(options.begin(), options.end(), [form](const ManualEntry& option) {
      return option.form.find(form) != option.form.npos;
    });
  };
  CHECK(has(Verb::logs, "--follow"));
  CHECK(has(Verb::call, "--raw"));
  CHECK_FALSE(has(Verb::tools, "--raw"));
  CHECK_FALSE(has(Verb::tools, "--socket"));
}

TEST_CASE("no line of the help is wider than a terminal") { CHECK(widest_line(help_text()) <= 80); }
