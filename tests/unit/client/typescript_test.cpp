#include "render/lists.hpp"

#include <doctest/doctest.h>

using namespace client;

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
