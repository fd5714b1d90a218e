#include "mcp/tool_headers.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

using bridge::ToolList;

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
