#include "mcp/capabilities.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace bridge;

TEST_CASE("what a client declares beyond the session is named, and how to declare both") {
  struct Row {
    const char* session;
    const char* client;
    std::vector<std::string> beyond;
    const char* both;
  };
  const Row rows[] = {
      {"{}", "{}", {}, "{}"},
      {R"({"roots":{}})", "{}", {}, R"({"roots":{}})"},
      {"{}", R"({"sampling":{}})", {"sampling"}, R"({"sampling":{}})"},
      {R"({"elicitation":{"form":{},"url":{}}})",
       R"({"roots":{"listChanged":true},"sampling":{},"elicitation":{}})",
       {"roots", "sampling"},
       R"({"elicitation":{"form":{},"url":{}},"roots":{"listChanged":true},"sampling":{}})"},
      {R"({"elicitation":{}})",
       R"({"elicitation":{"url":{}}})",
       {"elicitation.url"},
       R"({"elicitation":{"form":{},"url":{}}})"},
      {R"({"roots":{}})",
       R"({"roots":{"listChanged":true}})",
       {"roots.listChanged"},
       R"({"roots":{"listChanged":true}})"},
      {R"({"roots":{}})", R"({"roots":{"listChanged":false}})", {}, R"({"roots":{}})"},
      {"",
       R"({"extensions":{"io.example/ui":{"a":[1]}}})",
       {"extensions"},
       R"({"extensions":{"io.example/ui":{}}})"},
      // Nothing else is repeated, whatever a peer sends.
      {"{}",
       R"-({"'; rm x #":{},"a\u0041":{},"sampling":{"$(x)":{}},"roots":null,"x":"y"})-",
       {"sampling"},
       R"({"sampling":{}})"},
      {"[]", "7", {}, "{}"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.session);
    CAPTURE(row.client);
    CHECK(capabilities_beyond(row.session, row.client) == row.beyond);
    CHECK(capabilities_of_both(row.session, row.client) == row.both);
  }
}

TEST_CASE("sixteen names are enough") {
  std::string many = "{";
  for (int i = 0; i < 100; ++i)
    many += (i == 0 ? "\"c" : ",\"c") + std::to_string(i) + "\":{\"a\":{}}";
  CHECK(capabilities_beyond("{}", many + "}").size() == 16);
}
