#include <doctest/doctest.h>

#include "render/lists.hpp"
#include "schema/schema.hpp"

using namespace client;

namespace {

std::string type_of(std::string_view schema) {
  const auto value = json::parse(schema);
  REQUIRE(value);
  return Schema(*value).describe();
}

}  // namespace

TEST_CASE("types are shown in a few characters") {
  CHECK(type_of(R"({"type":"string"})") == "string");
  CHECK(type_of(R"({"type":["integer","null"]})") == "integer|null");
  CHECK(type_of(R"({"type":"string","enum":["a","b",1]})") == R"("a"|"b"|1)");
  CHECK(type_of(R"({"type":"array","items":{"type":"string"}})") == "string[]");
  CHECK(type_of(R"({"type":"array","items":{"enum":["a","b"]}})") == R"(("a"|"b")[])");
  CHECK(type_of(R"({"type":"array"})") == "array");
  CHECK(type_of(R"({"anyOf":[{"type":"string"},{"const":3}]})") == "string|3");
  CHECK(type_of(R"({"properties":{}})") == "object");
  CHECK(type_of("{}") == "any");
  CHECK(type_of("true") == "any");
  std::string deep = "{}";
  for (int level = 0; level < 200; ++level) deep = R"({"type":"array","items":)" + deep + "}";
  CHECK(type_of(deep).size() < 30);
}

TEST_CASE("a tool is shown with its parameters") {
  const std::string text = render_tools(
      {R"({"name":"add","title":"Adder","description":"Adds.","inputSchema":{"type":"object",
          "properties":{"a":{"type":"number","description":"first"},
                        "count":{"type":"integer","default":1},
                        "quiet":{"type":"boolean","title":"no noise"}},"required":["a"]},
          "annotations":{"destructiveHint":true}})",
       R"({"name":"bare"})"},
      0);
  CHECK(text ==
        "add - Adder [destructive]\n"
        "    Adds.\n"
        "    a*     number       first\n"
        "    count  integer = 1\n"
        "    quiet  boolean      no noise\n"
        "\n"
        "bare\n");
}

TEST_CASE("descriptions are wrapped in their column") {
  const std::string text =
      render_tools({R"({"name":"t","inputSchema":{"properties":{"p":{"type":"string",
          "description":"one two three four five six seven eight nine ten"}}}})"},
                   50);
  CHECK(text ==
        "t\n"
        "    p  string  one two three four five six seven\n"
        "               eight nine ten\n");
}

TEST_CASE("what cannot be decoded is shown as it is") {
  CHECK(render_tools({R"({"name":"t","x":1e400})"}, 0) == "{\"name\":\"t\",\"x\":1e400}\n");
  CHECK(render_tools({"17"}, 0) == "17\n");
  CHECK(render_tools({}, 0).empty());
}

TEST_CASE("resources, templates and prompts") {
  CHECK(render_resources({R"({"uri":"file:///a","name":"a","mimeType":"text/plain","size":3,
                             "description":"Text."})"},
                         0) == "file:///a\n    a (text/plain), 3 bytes\n    Text.\n");
  CHECK(render_resources({R"({"uriTemplate":"file:///{x}","name":"x"})"}, 0) ==
        "file:///{x}\n    x\n");
  CHECK(render_prompts({R"({"name":"p","description":"Asks.","arguments":[
                             {"name":"a","description":"what","required":true},{"name":"bb"}]})"},
                       0) == "p\n    Asks.\n    a*  what\n    bb\n");
}

TEST_CASE("what can be typed for a tool's arguments is a word a line") {
  CHECK(
      argument_words(
          R"({"name":"t","inputSchema":{"properties":{"m":{"enum":["a",1]},"l":{"type":"array","items":{"enum":["x"]}},
              "q":{"type":"boolean"},"n":{"type":"integer"},"e\u001b":{},
              "o":{"type":"object","properties":{"p":{"type":"object","properties":{"q":{}}},"r":{"enum":[2]}}},
              "any":{"type":"object"}}}})") ==
      "m=a\nm=1\nl=x\nq=true\nq=false\nn=\ne\\u001b=\no.p.q=\no.r=2\nany=\n");
  CHECK(argument_words("{}").empty());
  CHECK(argument_words("1e400").empty());
}

TEST_CASE("a line for each tool is no wider than the terminal") {
  CHECK(
      render_signatures(
          {R"({"name":"t","description":"does it\nwell","inputSchema":{"properties":{"a":{"type":"null"}}}})",
           R"({"name":"bare"})"},
          18) == "t [a=<null>]  -...\nbare\n");
}

TEST_CASE("the tools of a server are types of TypeScript") {
  CHECK(render_typescript({R"({"name":"get-sum","description":"adds */ two\nlines","inputSchema":{
      "type":"object","required":["a"],"additionalProperties":false,"properties":{
        "a":{"type":"integer","description":"the first"},
        "how":{"enum":["fast","slow",3]},
        "more":{"type":["string","null"]},
        "list":{"type":"array","items":{"anyOf":[{"type":"boolean"},{"$ref":"#/$defs/p"}]}}},
      "$defs":{"p":{"type":"object","properties":{"x-y":{"type":"number"}},
                    "additionalProperties":true}}},
      "outputSchema":{"type":"object","properties":{"sum":{}},"required":["sum"]}})",
                           "7", R"({"name":"plain","inputSchema":{"type":"object"}})"}) ==
        R"(export interface Tools {
  /** adds * / two\nlines */
  "get-sum": {
    arguments: {
      /** the first */
      "a": number;
      "how"?: "fast" | "slow" | 3;
      "more"?: string | null;
      "list"?: Array<boolean | {
        "x-y"?: number;
        [name: string]: unknown;
      }>;
    };
    result: {
      "sum": unknown;
    };
  };
  "plain": {
    arguments: Record<string, unknown>;
    result: unknown;
  };
}
)");
}

TEST_CASE("an array with places of their own is a tuple") {
  const std::string text = render_typescript(
      {R"({"name":"t","inputSchema":{"type":"object","properties":{"point":{"type":"array",
           "prefixItems":[{"type":"number"},{"type":"string"}],"items":{"type":"boolean"}}}}})"});
  CHECK(text.find("\"point\"?: [number, string, ...Array<boolean>];") != std::string::npos);
}

TEST_CASE("a schema that refers to itself has an end") {
  const std::string text = render_typescript(
      {R"({"name":"t","inputSchema":{"type":"object","properties":{"next":{"$ref":"#"}}}})"});
  CHECK(text.find("\"next\"?: unknown;") != std::string::npos);
  const std::string lists =
      render_typescript({R"({"name":"t","inputSchema":{"type":"array","items":{"$ref":"#"}}})"});
  CHECK(lists.find("Array<Array<") != std::string::npos);
}

TEST_CASE("a server's skills are listed with what they are read by") {
  CHECK(render_skills(
            {R"({"uri":"skill://a/SKILL.md","frontmatter":{"name":"a","description":"does a"}})",
             R"({"uri":"skill://b","description":"does b"})", "7"},
            0) == "a (skill://a/SKILL.md)\n    does a\nskill://b\n    does b\n7\n");
}

TEST_CASE("a table of many tools has marks, types in short and a way to one of them") {
  Look look;
  look.width = 60;
  const auto lines = render_tool_table(
      {R"({"name":"find","description":"looks\nfor","annotations":{"readOnlyHint":true},"inputSchema":{
          "properties":{"n":{"type":"integer"},"q":{"type":"string"},"t":{"type":"array","items":{"type":"string"}}},
          "required":["q"]}})",
       R"({"name":"rm","annotations":{"destructiveHint":true}})"},
      look, "mcp-nc @x");
  CHECK(draw_lines(lines, look) ==
        "TOOL     ARGUMENTS (?: optional) - WHAT IT DOES\n"
        "find  r  q n?:int t?:str[] - looks\n"
        "rm    !\n"
        "\n"
        "2 tools; r: only reads, !: may destroy\n"
        "one in full: mcp-nc @x tools NAME; some: mcp-nc @x grep WORD\n");
}
