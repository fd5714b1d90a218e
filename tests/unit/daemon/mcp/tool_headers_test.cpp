#include "mcp/tool_headers.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>

#include <algorithm>
#include <string>
#include <string_view>

#include "../json/frames.hpp"
#include "mcp/methods.hpp"

using namespace bridge;

namespace {

std::string list_of(std::string_view tools) { return fmt::format(R"({{"tools":[{}]}})", tools); }

std::string tool(std::string_view name, std::string_view schema) {
  return fmt::format(R"({{"name":"{}","inputSchema":{}}})", name, schema);
}

/// Why a tool with this inputSchema is invalid; empty: valid.
std::string reason_for(std::string_view schema) {
  const ToolHeaders read = read_tool_headers(list_of(tool("t", schema)));
  return read.invalid.empty() ? std::string() : std::string(read.invalid.front().reason);
}

}  // namespace

TEST_CASE("the parameters that are mirrored are found with their paths and types") {
  const ToolHeaders read = read_tool_headers(list_of(
      tool("plain", R"({"type":"object","properties":{"a":{"type":"string"}}})") + "," +
      tool(
          "sql",
          R"({"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"o":{"type":"object","properties":{"n":{"x-mcp-header":"N","type":"integer"},"d\u0065ep":{"properties":{"b":{"type":"boolean","x\u002dmcp-header":"B"}}}}}}})")));
  CHECK(read.invalid.empty());
  REQUIRE(read.of_tools.size() == 1);
  const auto& headers = read.of_tools.at("sql");
  REQUIRE(headers.size() == 3);
  CHECK(headers[0].path == std::vector<std::string>{"region"});
  CHECK(headers[0].name == "Region");
  CHECK(headers[0].type == ParameterType::string);
  CHECK(headers[1].path == std::vector<std::string>{"o", "n"});
  CHECK(headers[1].type == ParameterType::integer);
  CHECK(headers[2].path == std::vector<std::string>{"o", "deep", "b"});
  CHECK(headers[2].type == ParameterType::boolean);
}

TEST_CASE("an annotation that the specification forbids makes the tool invalid") {
  const auto parameter = [](std::string_view annotation, std::string_view type = "\"string\"") {
    return fmt::format(R"({{"properties":{{"a":{{"type":{},"x-mcp-header":{}}}}}}})", type,
                       annotation);
  };
  CHECK(reason_for(parameter("\"A\"")).empty());
  CHECK(reason_for(parameter("\"!#$%&'*+-.^_`|~09az\"")).empty());
  for (const char* name :
       {"\"\"", "\"a b\"", "\"a:b\"", R"("a\r\nX: y")", R"("a\n")", "\"caf\xc3\xa9\"",
        R"("\u0000")", "1", "null", "[]", "{}", "true", "\"a(b\"", "\"a/b\""})
    CHECK_FALSE_MESSAGE(reason_for(parameter(name)).empty(), name);
  for (const char* type : {"\"number\"", "\"object\"", "\"array\"", "\"null\"", "null", "1",
                           R"(["string","null"])", "\"String\""})
    CHECK_FALSE_MESSAGE(reason_for(parameter("\"A\"", type)).empty(), type);
  const std::string annotated = R"({"type":"string","x-mcp-header":"A"})";
  for (const std::string& schema : {
           annotated,
           R"({"properties":{"a":{"x-mcp-header":"A"}}})" + std::string(),
           R"({"properties":{"a":{"type":"array","items":)" + annotated + "}}}",
           R"({"properties":{"a":{"prefixItems":[)" + annotated + "]}}}",
           R"({"oneOf":[{"properties":{"a":)" + annotated + "}}]}",
           R"({"properties":{"a":{"anyOf":[)" + annotated + "]}}}",
           R"({"allOf":[{"properties":{"a":)" + annotated + "}}]}",
           R"({"not":{"properties":{"a":)" + annotated + "}}}",
           R"({"if":{"properties":{"a":)" + annotated + "}}}",
           R"({"then":{"properties":{"a":)" + annotated + "}}}",
           R"({"$defs":{"a":)" + annotated + "}}",
           R"({"definitions":{"properties":{"properties":{"a":)" + annotated + "}}}}",
           R"({"patternProperties":{"a":)" + annotated + "}}",
           R"({"additionalProperties":)" + annotated + "}",
           R"({"x-own":{"a":[[)" + annotated + "]]}}",
           R"({"properties":[)" + annotated + "]}",
           R"({"properties":{"a":)" + annotated + R"(,"b":{"type":"integer","x-mcp-header":"a"}}})",
           R"({"properties":{"a":{"type":"string","x-mcp-header":"A","x-mcp-header":"B"}}})" +
               std::string(),
       })
    CHECK_FALSE_MESSAGE(reason_for(schema).empty(), schema);
}

TEST_CASE("data and names of properties are no annotations") {
  for (
      const char* schema :
      {R"({"properties":{"x-mcp-header":{"type":"number"}}})",
       R"({"properties":{"a":{"default":{"x-mcp-header":""}}}})",
       R"({"properties":{"a":{"const":{"x-mcp-header":1},"enum":[{"x-mcp-header":1}],"examples":[{"x-mcp-header":2}]}}})",
       R"({"description":"x-mcp-header"})", "null", "[]", "7", R"({"properties":null})",
       R"({"$defs":{"x-mcp-header":{"type":"number"}}})"}) {
    CAPTURE(schema);
    CHECK(reason_for(schema).empty());
    CHECK(read_tool_headers(list_of(tool("t", schema))).of_tools.empty());
  }
  // A property whose name is a keyword is still a property.
  const ToolHeaders read = read_tool_headers(list_of(tool(
      "t",
      R"({"properties":{"properties":{"type":"string","x-mcp-header":"P"},"items":{"type":"integer","x-mcp-header":"I"}}})")));
  CHECK(read.invalid.empty());
  CHECK(read.of_tools.at("t").size() == 2);
}

TEST_CASE("any text may be given as a list of tools") {
  for (const char* result :
       {"", "null", "[]", R"({"tools":null})", R"({"tools":{"x-mcp-header":1}})",
        R"({"tools":[1,"x-mcp-header",[],{},null]})", R"({"x-mcp-header":"a"})",
        R"({"tools":[{"inputSchema":{"properties":{"a":{"x-mcp-header":)"}) {
    CAPTURE(result);
    const ToolHeaders read = read_tool_headers(result);
    CHECK(read.of_tools.empty());
    CHECK(read.invalid.empty());
  }
  std::string deep = R"({"type":"string","x-mcp-header":"A"})";
  for (int i = 0; i < 300; ++i) deep = R"({"properties":{"p":)" + deep + "}}";
  CHECK_FALSE(reason_for(deep).empty());
}

TEST_CASE("what is remembered of a server is bounded") {
  std::string properties;
  for (int i = 0; i < 501; ++i) {
    properties +=
        fmt::format(R"({}"p{}":{{"type":"string","x-mcp-header":"H{}"}})", i > 0 ? "," : "", i, i);
  }
  const std::string schema = R"({"properties":{)" + properties + "}}";
  const ToolHeaders read = read_tool_headers(list_of(tool("a", schema) + "," + tool("b", schema)));
  CHECK(read.of_tools.size() == 1);
  REQUIRE(read.invalid.size() == 1);
  CHECK(read.invalid.front().name == "b");
  CHECK(read_tool_headers(list_of(tool("a", schema)), 500).invalid.size() == 1);
  const auto parameter = [](std::string_view header, std::string_view path) {
    return fmt::format(R"({{"properties":{{"{}":{{"type":"string","x-mcp-header":"{}"}}}}}})", path,
                       header);
  };
  CHECK(reason_for(parameter(std::string(128, 'h'), "p")).empty());
  CHECK_FALSE(reason_for(parameter(std::string(129, 'h'), "p")).empty());
  CHECK_FALSE(reason_for(parameter("h", std::string(1025, 'p'))).empty());
  const ToolHeaders long_name =
      read_tool_headers(list_of(tool(std::string(300, 'n'), parameter("h", "p"))));
  REQUIRE(long_name.invalid.size() == 1);
  CHECK(long_name.invalid.front().name.size() == 256);
}

TEST_CASE("invalid tools are taken out of the list, and nothing else changes") {
  const std::string bad =
      tool("bad", R"({"properties":{"a":{"type":"number","x-mcp-header":"A"}}})");
  const auto left = [](const std::string& tools) {
    const Frame frame = frame_of(R"({"id":1, "result" : {"nextCursor":"c", "tools" : [)" + tools +
                                 R"(] ,"ttlMs":1}})");
    const ToolHeaders read = read_tool_headers(frame.text(frame.result));
    const std::string made =
        without_items(frame, "tools", [&read](std::size_t index, std::string_view) {
          return std::any_of(read.invalid.begin(), read.invalid.end(),
                             [index](const InvalidTool& tool) { return tool.index == index; });
        });
    const std::string begin = R"({"id":1, "result" : {"nextCursor":"c", "tools" : [)";
    const std::string end = R"(] ,"ttlMs":1}})";
    REQUIRE(made.starts_with(begin));
    REQUIRE(made.ends_with(end));
    return made.substr(begin.size(), made.size() - begin.size() - end.size());
  };
  CHECK(left("").empty());
  CHECK(left(R"({"name":"a"})") == R"({"name":"a"})");
  CHECK(left(bad).empty());
  CHECK(left(bad + R"( , {"name":"a"} )") == R"({"name":"a"} )");
  CHECK(left(R"({"name":"a"} , )" + bad + R"(,7)") == R"({"name":"a"},7)");
  CHECK(left(R"({"name":"a"},)" + bad + "," + bad) == R"({"name":"a"})");
}

TEST_CASE("a list of one page is whole, and its tools stay as they were written") {
  ToolList list;
  CHECK_FALSE(list.is_whole());
  list.take_page("", R"({"tools":[{"name":"a", "x":1e400},{"name":"b\u00e9"},7,{"x":1}]})");
  CHECK(list.is_whole());
  CHECK(list.find("a") == R"({"name":"a", "x":1e400})");
  CHECK(list.find("b\u00e9") == R"({"name":"b\u00e9"})");
  CHECK(list.find("c").empty());
  list.forget();
  CHECK_FALSE(list.is_whole());
  CHECK(list.find("a").empty());
}

TEST_CASE(
    "pages become a list when the last one has come, and only those that follow one another") {
  ToolList list;
  list.take_page("", R"({"tools":[{"name":"old"}]})");
  list.take_page("", R"({"tools":[{"name":"a"}],"nextCursor":"2"})");
  CHECK(list.next_cursor() == "\"2\"");
  CHECK(list.find("a").empty());
  CHECK(list.find("old").size() > 0);
  list.take_page("\"7\"", R"({"tools":[{"name":"stray"}]})");
  CHECK(list.find("old").size() > 0);
  list.take_page("\"2\"", R"({"tools":[{"name":"b"},{"name":"a","second":true}]})");
  CHECK(list.find("old").empty());
  CHECK(list.find("a") == R"({"name":"a"})");
  CHECK(list.find("b").size() > 0);
  CHECK(list.names() == std::vector<std::string_view>{"a", "b"});
  list.take_page("", R"({"tools":[{"name":"z"},{"name":"a"}]})");
  CHECK(list.names() == std::vector<std::string_view>{"z", "a"});
  CHECK(list.next_cursor().empty());
}

TEST_CASE("a cursor that comes again ends the list") {
  struct Row {
    std::vector<std::string> next;  // the cursor that each page gives
    std::size_t pages;
  };
  const std::vector<Row> rows = {
      {{"a", "a", "a"}, 2},
      {{"a", "b", "a", "b"}, 3},
      {{"a", "b", "c", "c"}, 4},
      {{"", "", ""}, 2},
  };
  for (const Row& row : rows) {
    ToolList list;
    std::size_t pages = 0;
    auto page = ToolList::Page::taken;
    for (; page == ToolList::Page::taken; ++pages) {
      REQUIRE(pages < row.next.size());
      page = list.take_page(
          list.next_cursor(),
          fmt::format(R"({{"tools":[{{"name":"x"}},{{"name":"{0}"}}],"nextCursor":"{1}"}})",
                      row.next[pages], row.next[pages]));
    }
    CHECK(page == ToolList::Page::repeats_cursor);
    CHECK(pages == row.pages);
    CHECK(list.is_whole());
    CHECK(list.next_cursor().empty());
    CHECK(list.names().size() == std::set(row.next.begin(), row.next.end()).size() + 1);
  }
}

TEST_CASE("what is no list, is too long or has too many pages leaves none behind") {
  ToolList list;
  list.take_page("", R"({"tools":[{"name":"old"}]})");
  SUBCASE("no list") { list.take_page("", R"({"tools":{}})"); }
  SUBCASE("no tools") { list.take_page("", "{}"); }
  SUBCASE("too long") {
    list.take_page("", fmt::format(R"({{"tools":[{{"name":"a","d":"{}"}}]}})",
                                   std::string(ToolList::longest, 'x')));
  }
  SUBCASE("too many pages") {
    std::string cursor;
    for (int page = 1; page <= ToolList::most_pages; ++page) {
      list.take_page(cursor, fmt::format(R"({{"tools":[],"nextCursor":"{}"}})", page));
      cursor = fmt::format("\"{}\"", page);
    }
  }
  CHECK_FALSE(list.is_whole());
  CHECK(list.next_cursor().empty());
}
