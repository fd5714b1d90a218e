#include "servers/variables.hpp"

#include <doctest/doctest.h>

#include <map>

using namespace bridge;

namespace {

std::string expanded(std::string_view text) {
  static const std::map<std::string, std::string> values = {
      {"A", "1"}, {"i d", "2"}, {"EMPTY", ""}};
  return expand_variables(text,
                          [](const Variable& variable) -> std::optional<std::string> {
                            const auto found = values.find(variable.name);
                            if (variable.kind == Variable::Kind::unknown || found == values.end())
                              return std::nullopt;
                            return found->second;
                          })
      .text;
}

std::optional<std::string> nothing(const Variable&) { return std::nullopt; }

/// The largest size of a configuration file.
constexpr std::size_t longest = 1u << 20;

std::string repeated(std::string_view part, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += part;
  return text;
}

}  // namespace

TEST_CASE("the three forms of a variable are told apart") {
  CHECK(parse_variable("input:my-id").kind == Variable::Kind::input);
  CHECK(parse_variable("input:my-id").name == "my-id");
  CHECK(parse_variable("env:HOME").kind == Variable::Kind::environment);
  CHECK(parse_variable("env:HOME").name == "HOME");
  CHECK(parse_variable("HOME").kind == Variable::Kind::environment);
  CHECK(parse_variable("HOME").name == "HOME");
  CHECK_FALSE(parse_variable("HOME").otherwise);
  const Variable with_default = parse_variable("HOME:-/root");
  CHECK(with_default.name == "HOME");
  CHECK(with_default.otherwise == "/root");
  CHECK(parse_variable("X:-").otherwise == "");
}

TEST_CASE("what only an editor knows is unknown") {
  for (const char* text : {"command:pick", "", "env:", "input:", "config:a.b", "a b"})
    CHECK_MESSAGE(parse_variable(text).kind == Variable::Kind::unknown, text);
}

TEST_CASE("variables are replaced wherever they stand") {
  CHECK(expanded("${A}") == "1");
  CHECK(expanded("x${A}y${env:A}z${input:i d}") == "x1y1z2");
  CHECK(expanded("${A}${A}") == "11");
  CHECK(expanded("no variable, $A, {A}, $") == "no variable, $A, {A}, $");
  CHECK(expanded("${never closed") == "${never closed");
}

TEST_CASE("a variable of ours that is not closed is told, and nothing behind its name") {
  std::string told;
  const auto note = [&](const Variable& variable) -> std::optional<std::string> {
    if (variable.kind == Variable::Kind::unclosed) told += variable.name + ";";
    return "1";
  };
  expand_variables("x ${input:my-id s3cret", note);
  expand_variables("${A} ${env:HOME", note);
  expand_variables("${input:outer ${A}", note);
  CHECK(told == "input:my-id;env:HOME;input:outer;");
}

TEST_CASE("a shell's text that is not closed stays, and what follows it is replaced") {
  CHECK(expanded("echo ${") == "echo ${");
  CHECK(expanded("echo ${HOME") == "echo ${HOME");
  CHECK(expanded("${x ${A}") == "${x 1");
}

TEST_CASE("a default stands for what has no value, and may have variables in it") {
  CHECK(expanded("${B:-default}") == "default");
  CHECK(expanded("${A:-default}") == "1");
  CHECK(expanded("${B:-}") == "");
  CHECK(expanded("${B:-<${A}>}!") == "<1>!");
  CHECK(expanded("${B:-${C:-deep}}") == "deep");
}

TEST_CASE("a value is not searched for variables again") {
  const auto value = [](const Variable&) { return std::optional<std::string>("${A}"); };
  CHECK(expand_variables("${X}", value).text == "${A}");
}

TEST_CASE("defaults may stand in one another, but not for ever") {
  const auto nested = [](std::size_t depth) {
    return repeated("${B:-", depth) + "end" + repeated("}", depth);
  };
  CHECK(expand_variables(nested(max_variable_depth), nothing).text == "end");
  const auto fault_of = [](const std::string& text) {
    return expand_variables(text, nothing).fault;
  };
  CHECK(fault_of(nested(max_variable_depth)) == Expansion::Fault::none);
  CHECK(fault_of(nested(max_variable_depth + 1)) == Expansion::Fault::too_deep);
  CHECK(fault_of(nested(90'000)) == Expansion::Fault::too_deep);
  CHECK(fault_of("${A:-x}" + nested(max_variable_depth + 1)) == Expansion::Fault::too_deep);
  // Whether a default is used is not known when the file is written.
  const auto value = [](const Variable&) { return std::optional<std::string>("1"); };
  CHECK(expand_variables(nested(max_variable_depth + 1), value).fault ==
        Expansion::Fault::too_deep);
}

TEST_CASE("a text as long as a file can be takes time in proportion, whatever is in it") {
  // With a separate search for each opening these would take minutes.
  CHECK(expand_variables(repeated("${", longest / 2), nothing).text.size() == longest);
  CHECK(expand_variables(repeated("${x:-", longest / 5), nothing).text.size() > longest - 5);
  CHECK(expand_variables(repeated("}", longest), nothing).text.size() == longest);
  CHECK(expand_variables(repeated("${input:", longest / 8), nothing).text.size() == longest);
  CHECK(expand_variables(repeated("${A:-${B:-x}}", longest / 13), nothing).text.size() ==
        longest / 13);
  const std::string wide = "${A:-" + repeated("${B}", longest / 4) + "}";
  CHECK(expand_variables(wide, nothing).text.empty());
}

TEST_CASE("values do not add up without bound") {
  const auto value = [](const Variable&) { return std::optional(std::string(100, 'v')); };
  CHECK(expand_variables("${A}${A}", value, 200).text.size() == 200);
  CHECK(expand_variables("${A}${A}", value, 199).fault == Expansion::Fault::too_long);
  CHECK(expand_variables(repeated("${A}", longest / 4), value).fault == Expansion::Fault::too_long);
}
