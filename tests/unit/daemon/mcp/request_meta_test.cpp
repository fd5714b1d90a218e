#include "mcp/request_meta.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "../json/frames.hpp"
#include "json/json_edit.hpp"

using namespace bridge;

namespace {

constexpr const char* version = R"("io.modelcontextprotocol/protocolVersion":"2026-07-28")";
constexpr const char* no_capabilities = R"("io.modelcontextprotocol/clientCapabilities":{})";

const std::string required = std::string(version) + "," + no_capabilities;

std::string given(std::string_view text, const RequestIdentity& identity = {},
                  const MetaOptions& options = {}) {
  const std::string made = with_request_meta(frame_of(std::string(text)), identity, options).bytes;
  frame_of(made);
  return made;
}

std::string taken(std::string_view text) {
  const std::string made = without_request_meta(frame_of(std::string(text))).bytes;
  frame_of(made);
  return made;
}

}  // namespace

TEST_CASE("a request gets the required members of _meta wherever its params end") {
  struct Row {
    std::string before, after;
  };
  const Row rows[] = {
      {R"({"id":1,"method":"a"})",
       R"({"id":1,"method":"a","params":{"_meta":{)" + required + "}}}"},
      {R"( {"id":1,"method":"a" } )",
       R"( {"id":1,"method":"a" ,"params":{"_meta":{)" + required + "}}} "},
      {R"({"id":1,"params":null,"method":"a"})",
       R"({"id":1,"params":{"_meta":{)" + required + R"(}},"method":"a"})"},
      {R"({"id":1,"params":{},"method":"a"})",
       R"({"id":1,"params":{"_meta":{)" + required + R"(}},"method":"a"})"},
      {R"({"id":1,"params":{ },"method":"a"})",
       R"({"id":1,"params":{ "_meta":{)" + required + R"(}},"method":"a"})"},
      {R"({"id":1,"params":{"x": 1e400 },"method":"a"})",
       R"({"id":1,"params":{"x": 1e400 ,"_meta":{)" + required + R"(}},"method":"a"})"},
      {R"({"id":1,"params":{"_meta":{},"x":[]},"method":"a"})",
       R"({"id":1,"params":{"_meta":{)" + required + R"(},"x":[]},"method":"a"})"},
      {R"({"id":1,"params":{"\u005fmeta":{"traceparent":"t"}},"method":"a"})",
       R"({"id":1,"params":{"\u005fmeta":{"traceparent":"t",)" + required + R"(}},"method":"a"})"},
      {R"({"id":1,"params":{"_meta":null},"method":"a"})",
       R"({"id":1,"params":{"_meta":{)" + required + R"(}},"method":"a"})"},
      {R"({"method":"notifications/cancelled","params":{"requestId":1}})",
       R"({"method":"notifications/cancelled","params":{"requestId":1,"_meta":{)" + required +
           "}}}"},
  };
  for (const Row& row : rows) CHECK(given(row.before) == row.after);
}

TEST_CASE("params that have no members stay as they are") {
  for (const char* params : {"[1,2]", "\"x\"", "7", "true"}) {
    const std::string text = R"({"id":1,"method":"a","params":)" + std::string(params) + "}";
    CHECK(given(text) == text);
  }
}

TEST_CASE("what a message says in its _meta wins over what would be put there") {
  const std::string own =
      R"({"id":1,"method":"a","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2027-01-01","io.modelcontextprotocol/clientCapabilities":{"roots":{}},"io.modelcontextprotocol/clientInfo":{},"io.modelcontextprotocol/logLevel":"info","progressToken":0}}})";
  RequestIdentity identity;
  identity.client_capabilities = R"({"sampling":{}})";
  identity.client_info = R"({"name":"n"})";
  identity.log_level = "\"debug\"";
  MetaOptions options;
  options.progress_token = "9";
  CHECK(given(own, identity, options) == own);
  options.override_capabilities = true;
  std::string overridden = own;
  overridden.replace(overridden.find(R"({"roots":{}})"), 12, R"({"sampling":{}})");
  CHECK(given(own, identity, options) == overridden);
  CHECK(
      given(R"({"id":1,"method":"a","params":{}})", identity, options) ==
      R"({"id":1,"method":"a","params":{"_meta":{)" + std::string(version) +
          R"(,"io.modelcontextprotocol/clientCapabilities":{"sampling":{}},"io.modelcontextprotocol/clientInfo":{"name":"n"},"io.modelcontextprotocol/logLevel":"debug","progressToken":9}}})");
}

TEST_CASE("members of _meta of the wrong type are replaced where a server could not read them") {
  CHECK(
      given(
          R"({"id":1,"method":"a","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":1}}})") ==
      R"({"id":1,"method":"a","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)" +
          std::string(no_capabilities) + "}}}");
  MetaOptions options;
  options.progress_token = "\"t\"";
  CHECK(given(R"({"id":1,"method":"a","params":{"_meta":{"progressToken":null}}})", {}, options) ==
        R"({"id":1,"method":"a","params":{"_meta":{"progressToken":"t",)" + required + "}}}");
}

TEST_CASE("a legacy server is not told the reserved members, and everything else") {
  struct Row {
    const char *before, *after;
  };
  const Row rows[] = {
      {R"({"id":1,"method":"a"})", R"({"id":1,"method":"a"})"},
      {R"({"id":1,"method":"a","params":{"_meta":{"progressToken":1}}})",
       R"({"id":1,"method":"a","params":{"_meta":{"progressToken":1}}})"},
      {R"({"id":1,"method":"a","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"v"}}})",
       R"({"id":1,"method":"a","params":{}})"},
      {R"({"id":1,"method":"a","params":{"x":1, "_meta" : {"io.modelcontextprotocol/logLevel":"info"} ,"y":2}})",
       R"({"id":1,"method":"a","params":{"x":1 ,"y":2}})"},
      {R"({"id":1,"method":"a","params":{"_meta":{"io.modelcontextprotocol/logLevel":"info"}, "y":2}})",
       R"({"id":1,"method":"a","params":{ "y":2}})"},
      {R"({"id":1,"method":"a","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"v","traceparent":"}\",","io.modelcontextprotocol/clientInfo":{"a":[]},"io.modelcontextprotocol\/clientCapabilities":{},"progressToken":3}}})",
       R"({"id":1,"method":"a","params":{"_meta":{"traceparent":"}\",","progressToken":3}}})"},
      {R"({"id":1,"method":"a","params":{"_meta":{"a":1,"io.modelcontextprotocol/protocolVersion":"v","io.modelcontextprotocol/clientInfo":{}}}})",
       R"({"id":1,"method":"a","params":{"_meta":{"a":1}}})"},
      {R"({"id":1,"method":"a","params":{"_meta":[]}})",
       R"({"id":1,"method":"a","params":{"_meta":[]}})"},
      {R"({"id":1,"method":"a","params":{"_meta":{"io.modelcontextprotocol/related-task":{}}}})",
       R"({"id":1,"method":"a","params":{"_meta":{"io.modelcontextprotocol/related-task":{}}}})"},
  };
  for (const Row& row : rows) CHECK(taken(row.before) == row.after);
}

TEST_CASE("what is put into a legacy message can be taken out again") {
  for (const char* text :
       {R"({"id":1,"method":"a","params":{"x":"y"}})",
        R"({"id":1,"method":"a","params":{"_meta":{"progressToken":1},"x":2}})"}) {
    CHECK(taken(given(text)) == text);
  }
}

TEST_CASE("a modern request says its revision and its capabilities") {
  const auto missing = [](std::string_view meta) {
    const char* reason = missing_request_meta(
        frame_of(R"({"id":1,"method":"a","params":{"_meta":)" + std::string(meta) + "}}"));
    return std::string_view(reason == nullptr ? "" : reason);
  };
  CHECK(missing("{" + required + "}").empty());
  CHECK(missing("{" + std::string(version) + "}").ends_with("clientCapabilities"));
  CHECK(
      missing("{" + std::string(version) + R"(,"io.modelcontextprotocol/clientCapabilities":null})")
          .ends_with("clientCapabilities"));
  CHECK(missing("{" + std::string(no_capabilities) + "}").ends_with("protocolVersion"));
  CHECK(missing("null").ends_with("protocolVersion"));
}

TEST_CASE("capabilities are added where they are not declared") {
  constexpr const char* elicitation = R"({"elicitation":{"form":{},"url":{}}})";
  CHECK(merge_capabilities("{}", elicitation) == elicitation);
  CHECK(merge_capabilities("", elicitation) == elicitation);
  CHECK(merge_capabilities("null", elicitation) == elicitation);
  CHECK(merge_capabilities(R"({"roots":{} })", elicitation) ==
        R"({"roots":{} ,"elicitation":{"form":{},"url":{}}})");
  CHECK(merge_capabilities(R"({"elicit\u0061tion":{}})", elicitation) ==
        R"({"elicit\u0061tion":{}})");
  CHECK(merge_capabilities(R"({"a":1})", R"({"b":2,"a":3,"b":4})") == R"({"a":1,"b":2})");
  CHECK(merge_capabilities(R"({"a":1})", "{}") == R"({"a":1})");
}

TEST_CASE("elements are taken out with the commas between them") {
  const auto without = [](std::string_view object, std::string_view dropped) {
    Edits edits;
    edit_members(edits, object, {0, object.size()},
                 [&](std::string_view key) { return dropped.find(key) != dropped.npos; });
    return edits.made_in(object);
  };
  constexpr const char* object = R"({ "a":1, "b":2 , "c":3,"d":4 })";
  CHECK(without(object, "") == object);
  CHECK(without(object, "a") == R"({ "b":2 , "c":3,"d":4 })");
  CHECK(without(object, "ab") == R"({ "c":3,"d":4 })");
  CHECK(without(object, "b") == R"({ "a":1 , "c":3,"d":4 })");
  CHECK(without(object, "bc") == R"({ "a":1,"d":4 })");
  CHECK(without(object, "d") == R"({ "a":1, "b":2 , "c":3 })");
  CHECK(without(object, "ac") == R"({ "b":2,"d":4 })");
  CHECK(without(object, "bd") == R"({ "a":1 , "c":3 })");
  CHECK(without(object, "acd") == R"({ "b":2 })");
  CHECK(without(object, "abcd") == "{  }");
  CHECK(without("{}", "a") == "{}");
}
