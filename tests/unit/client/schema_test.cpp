#include "schema/schema.hpp"

#include <doctest/doctest.h>

#include "schema/arguments.hpp"
#include "schema/signature.hpp"

using namespace client;

namespace {

json::Value parsed(std::string_view text) {
  auto value = json::parse(text);
  REQUIRE(value);
  return std::move(*value);
}

/// The converted text; "refused".
std::string converted(std::string_view text, std::string_view schema) {
  const json::Value document = parsed(schema);
  return convert_text(text, Schema(document)).value_or("refused");
}

std::string problems(std::string_view value, std::string_view schema) {
  const json::Value document = parsed(schema);
  std::string all;
  for (const std::string& one : problems_of(parsed(value), Schema(document)))
    all += (all.empty() ? "" : "; ") + one;
  return all;
}

std::string signed_as(std::string_view schema) {
  const json::Value document = parsed(schema);
  return signature("t", Schema(document));
}

std::string example(std::string_view schema) {
  const json::Value document = parsed(schema);
  return example_call("t", Schema(document));
}

}  // namespace

TEST_CASE("text becomes what its type takes, and nothing else") {
  struct Row {
    std::string_view schema;
    std::string_view text;
    std::string_view json;
  };
  for (const Row& row : std::initializer_list<Row>{
           {R"({"type":"number"})", "2", "2"},
           {R"({"type":"number"})", "0.10", "0.10"},
           {R"({"type":"number"})", "-1e3", "-1e3"},
           {R"({"type":"number"})", "123456789012345678901234567890",
            "123456789012345678901234567890"},
           {R"({"type":"number"})", "two", "refused"},
           {R"({"type":"number"})", "", "refused"},
           {R"({"type":"number"})", " 2", "refused"},
           {R"({"type":"number"})", "true", "refused"},
           {R"({"type":"number"})", "1e400", "1e400"},
           {R"({"type":"integer"})", "40", "40"},
           {R"({"type":"integer"})", "1.5", "refused"},
           {R"({"type":"integer"})", "1.0", "1.0"},
           {R"({"type":"boolean"})", "true", "true"},
           {R"({"type":"boolean"})", "1", "refused"},
           {R"({"type":"null"})", "null", "null"},
           {R"({"type":"string"})", "2", "\"2\""},
           {R"({"type":"string"})", "", "\"\""},
           {R"({"type":"string"})", "@file", "\"@file\""},
           {R"({"type":"string","enum":["fast","slow"]})", "fast", "\"fast\""},
           {R"({"type":"string","enum":["fast","slow"]})", "fas", "refused"},
           {R"({"enum":[1,"1",true]})", "1", "1"},
           {R"({"enum":["a",2,null]})", "2", "2"},
           {R"({"enum":["a",2,null]})", "null", "null"},
           {R"({"const":"x"})", "x", "\"x\""},
           {R"({"const":"x"})", "y", "refused"},
           {R"({"type":"integer","enum":[1,2]})", "3", "refused"},
           {R"({"type":"array","items":{"type":"integer"}})", "1", "[1]"},
           {R"({"type":"array","items":{"type":"integer"}})", "[1, 2]", "[1, 2]"},
           {R"({"type":"array","items":{"type":"integer"}})", "[1,\"x\"]", "refused"},
           {R"({"type":"array","items":{"type":"string"}})", "[draft] x", "[\"[draft] x\"]"},
           {R"({"type":"array"})", "x", "[\"x\"]"},
           {R"({"type":"array","prefixItems":[{"type":"integer"}]})", "1", "[1]"},
           {R"({"type":"array","prefixItems":[{"type":"integer"}]})", "x", "refused"},
           {R"({"prefixItems":[{"type":"integer"},{"type":"string"}]})", "[1,\"x\"]", "[1,\"x\"]"},
           {R"({"prefixItems":[{"type":"integer"},{"type":"string"}]})", "[1,2]", "refused"},
           {R"({"type":"object"})", R"({"a":1})", R"({"a":1})"},
           {R"({"type":"object"})", "a", "refused"},
           {R"({"properties":{"a":{}}})", R"({"a":1})", R"({"a":1})"},
           {R"({"type":["string","null"]})", "null", "\"null\""},
           {R"({"type":["null","string"]})", "null", "null"},
           {R"({"type":["integer","string"]})", "x", "\"x\""},
           {R"({"anyOf":[{"type":"integer"},{"type":"null"}]})", "null", "null"},
           {R"({"anyOf":[{"type":"integer"},{"type":"null"}]})", "x", "refused"},
           {R"({"oneOf":[{"type":"integer"},{"type":"string"}]})", "7", "7"},
           {R"({"oneOf":[{"type":"integer"},{"type":"string"}]})", "x", "\"x\""},
           {R"({"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}],"$defs":{"n":{"type":"number"}}})",
            "3", "3"},
           {R"({"$ref":"#/$defs/a~1b%20c","$defs":{"a/b c":{"type":"number"}}})", "3", "3"},
           {R"({"$ref":"#/$defs/a~1b%20c","$defs":{"a/b c":{"type":"number"}}})", "x", "refused"},
           {R"({"allOf":[{"description":"d"},{"type":"boolean"}]})", "true", "true"},
           {R"({"$ref":"#"})", "x", "\"x\""},
           {R"({"$ref":"http://elsewhere/"})", "1", "\"1\""},
           {"{}", "1", "\"1\""},
           {"true", "1", "\"1\""},
       }) {
    CAPTURE(row.schema);
    CAPTURE(row.text);
    CHECK(converted(row.text, row.schema) == row.json);
  }
}

TEST_CASE("what is wrong is said by name, all at once") {
  constexpr std::string_view add =
      R"({"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]})";
  CHECK(problems(R"({"a":1,"b":2})", add).empty());
  CHECK(problems("{}", add) == "'a' is required; 'b' is required");
  CHECK(problems(R"({"a":"1","b":2})", add) == "a: number expected, not \"1\"");
  CHECK(problems(R"({"a":1,"b":2,"c":3})", add) == "unknown argument 'c'");
  CHECK(problems(R"({"message":1})", R"({"properties":{"messages":{}}})") ==
        "unknown argument 'message'; did you mean 'messages'?");
}

TEST_CASE("names that are not listed are refused unless the schema allows them") {
  constexpr std::string_view value = R"({"x":1})";
  CHECK(problems(value, R"({"type":"object","additionalProperties":false})") ==
        "unknown argument 'x'");
  CHECK(problems(value, R"({"properties":{}})") == "unknown argument 'x'");
  CHECK(problems(value, R"({"type":"object"})").empty());  // MCP, "Tools": accepts any object
  CHECK(problems(value, R"({"properties":{},"additionalProperties":true})").empty());
  CHECK(problems(value, R"({"properties":{},"patternProperties":{"x":{}}})").empty());
  CHECK(problems(value, R"({"properties":{},"additionalProperties":{"type":"string"}})") ==
        "x: string expected, not 1");
  // In nested objects unlisted names are allowed, as in JSON Schema.
  CHECK(problems(R"({"o":{"x":1}})", R"({"properties":{"o":{"properties":{"y":{}}}}})").empty());
  CHECK(problems(R"({"o":{"x":1}})",
                 R"({"properties":{"o":{"properties":{"y":{}},"additionalProperties":false}}})") ==
        "unknown argument 'o.x'");
}

TEST_CASE("elements, alternatives and references are looked into, circles too") {
  CHECK(problems(R"({"l":[1,"x"]})", R"({"properties":{"l":{"items":{"type":"integer"}}}})") ==
        "l[1]: integer expected, not \"x\"");
  constexpr std::string_view either =
      R"({"properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]})";
  CHECK(problems(R"({"b":1})", either).empty());
  CHECK(problems("{}", either) == "'a' is required");
  constexpr std::string_view tree =
      R"({"$ref":"#/$defs/t","$defs":{"t":{"type":"object","properties":{"n":{"type":"integer"},"kids":{"type":"array","items":{"$ref":"#/$defs/t"}}}}}})";
  CHECK(problems(R"({"n":1,"kids":[{"n":2,"kids":[]}]})", tree).empty());
  CHECK(problems(R"({"n":1,"kids":[{"n":"x"}]})", tree) ==
        "kids[0].n: integer expected, not \"x\"");
  CHECK(problems(R"({"n":1})", R"({"$ref":"#/a","a":{"$ref":"#/b"},"b":{"$ref":"#/a"}})").empty());
}

TEST_CASE("an element with a place of its own is checked by that, the others by what follows") {
  constexpr std::string_view schema =
      R"({"properties":{"p":{"prefixItems":[{"type":"string"}],"items":{"type":"integer"}}}})";
  CHECK(problems(R"({"p":["x",1,2]})", schema).empty());
  CHECK(problems(R"({"p":[1]})", schema) == "p[0]: string expected, not 1");
  CHECK(problems(R"({"p":["x",1,"y"]})", schema) == "p[2]: integer expected, not \"y\"");
  constexpr std::string_view draft7 =
      R"({"properties":{"p":{"items":[{"type":"string"}],"additionalItems":{"type":"integer"}}}})";
  CHECK(problems(R"({"p":["x",1]})", draft7).empty());
  CHECK(problems(R"({"p":["x","y"]})", draft7) == "p[1]: integer expected, not \"y\"");
}

TEST_CASE("what is missing, and was given by nearly that name, is said so") {
  constexpr std::string_view schema =
      R"({"properties":{"path":{}},"required":["path"],"additionalProperties":true})";
  CHECK(problems(R"({"Path":1})", schema) == "'path' is required; did you mean it by 'Path'?");
  CHECK(problems(R"({"other":1})", schema) == "'path' is required");
}

TEST_CASE("a description of what refers to itself many times has an end") {
  std::string many;
  for (int count = 0; count < 200; ++count)
    many += std::string(count == 0 ? "" : ",") + R"({"$ref":"#"})";
  const json::Value any = parsed(R"({"anyOf":[)" + many + "]}");
  CHECK(Schema(any).describe().size() < 10000);
  const json::Value tuple = parsed(R"({"prefixItems":[)" + many + "]}");
  CHECK(Schema(tuple).describe().size() < 10000);
  CHECK(example_call("t", Schema(tuple)) == "t");
}

TEST_CASE("a signature fits on a line, what may be left out in brackets") {
  CHECK(
      signed_as(
          R"({"properties":{"limit":{"type":"integer"},"q":{"type":"string"}},"required":["q"]})") ==
      "t q=<string> [limit=<integer>]");
  CHECK(
      signed_as(
          R"({"properties":{"mode":{"enum":["fast","slow"]},"tags":{"type":"array","items":{"type":"string"}}}})") ==
      "t [mode=<fast|slow>] [tags=<string>...]");
  CHECK(signed_as(R"({"properties":{"o":{"type":"object"}},"required":["o"]})") == "t o:=<object>");
  CHECK(signed_as(R"({"properties":{"n":{"type":"null"}}})") == "t [n=<null>]");
  CHECK(signed_as(R"({"properties":{"n":{"type":["object","null"]}}})") == "t [n:=<object>]");
  CHECK(
      signed_as(
          R"({"properties":{"p":{"prefixItems":[{"type":"number"},{"type":"string"}],"items":{"type":"boolean"}}}})") ==
      "t [p=<number> p=<string> p=<boolean>...]");
  CHECK(signed_as(R"({"type":"object"})") == "t [key=<any>...]");
  CHECK(signed_as(R"({"type":"object","additionalProperties":false})") == "t");
}

TEST_CASE("an example can be typed as it is") {
  CHECK(
      example(
          R"({"properties":{"a":{"type":"number","minimum":3},"b":{"type":"string"}},"required":["a","b"]})") ==
      "t a=3 b=text");
  CHECK(example(
            R"({"properties":{"q":{"type":"string","examples":["it's; rm"]}},"required":["q"]})") ==
        R"(t 'q=it'\''s; rm')");
  CHECK(example(R"({"properties":{"o":{"type":"object"}},"required":["o"]})") == "t 'o:={}'");
  CHECK(example(R"({"properties":{"m":{"enum":["x","y"]}},"required":["m"]})") == "t m=x");
  CHECK(example(R"({"properties":{"n":{"type":"null"}},"required":["n"]})") == "t n=null");
  CHECK(
      example(
          R"({"properties":{"p":{"prefixItems":[{"type":"number"},{"type":"string"}]}},"required":["p"]})") ==
      "t p=1 p=text");
  CHECK(example(R"({"properties":{"l":{"type":"array","examples":[[]]}},"required":["l"]})") ==
        "t 'l:=[]'");
  // A number where text would be accepted as well.
  CHECK(example(R"({"properties":{"x":{"examples":[5]}},"required":["x"]})") == "t x:=5");
}

TEST_CASE("what stands for a tool can be typed, whatever its name is") {
  const json::Value none = parsed("{}");
  const json::Value odd = parsed(
      R"({"properties":{"a=b":{"type":"number"},"--c":{"type":"string"}},"required":["a=b","--c"]})");
  CHECK(tool_operand("plain") == "plain");
  CHECK(tool_operand("two words") == "'two words'");
  CHECK(tool_operand("--weird") == "-- --weird");
  CHECK(tool_operand("-it's") == R"(-- '-it'\''s')");
  CHECK(tool_operand("=x") == "'=x'");
  CHECK(example_call("--weird", Schema(none)) == "-- --weird");
  CHECK(example_call("t", Schema(odd)) == R"(-- t --c=text '{"a=b":1}')");
}
