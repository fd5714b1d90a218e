#include <doctest/doctest.h>
#include <unistd.h>

#include "../temporary_folder.hpp"
#include "render/content.hpp"

using namespace client;

namespace {

using Kind = ContentPart::Kind;

ContentPart data(std::string name, std::string mime_type, std::string what = "image") {
  ContentPart part;
  part.kind = Kind::data;
  part.name = std::move(name);
  part.mime_type = std::move(mime_type);
  part.what = std::move(what);
  return part;
}

}  // namespace

TEST_CASE("a tool's content is taken apart") {
  const auto parts = read_tool_result(
      R"({"content":[{"type":"text","text":"hi\n"},
          {"type":"image","data":"AAEC","mimeType":"image/png"},
          {"type":"resource","resource":{"uri":"file:///a.txt","text":"inside"}},
          {"type":"resource","resource":{"uri":"file:///b","blob":"AA==","mimeType":"x/y"}},
          {"type":"resource_link","uri":"u","size":0.10}]})");
  REQUIRE(parts.size() == 5);
  CHECK(parts[0].kind == Kind::text);
  CHECK(parts[0].text == "hi\n");
  CHECK(parts[1].kind == Kind::data);
  CHECK(parts[1].mime_type == "image/png");
  CHECK(parts[2].text == "inside");
  CHECK(parts[3].what == "blob");
  CHECK(parts[3].name == "file:///b");
  CHECK(parts[4].kind == Kind::json);
  CHECK(parts[4].text == R"({"type":"resource_link","uri":"u","size":0.10})");
}

TEST_CASE("a result of another shape is never lost") {
  CHECK(read_tool_result(R"({"toolResult":1e400})")[0].text == R"({"toolResult":1e400})");
  CHECK(read_tool_result(R"({"content":[],"structuredContent":{"a":1e400}})")[0].text ==
        R"({"a":1e400})");
  CHECK(read_tool_result(R"({"content":[{"type":"text","text":"x","n":1e400}]})")[0].kind ==
        Kind::json);
  CHECK(read_tool_result(R"({"content":[{"type":"text"}]})")[0].kind == Kind::json);
  CHECK(read_tool_result("7")[0].text == "7");
  CHECK(read_resource("{}")[0].text == "{}");
  CHECK(read_prompt("{}")[0].text == "{}");
  CHECK(read_tool_result(R"({"content":[]})").empty());
}

TEST_CASE("resources and prompts are taken apart") {
  const auto contents =
      read_resource(R"({"contents":[{"uri":"u","text":"t"},{"uri":"v","blob":"AA"}]})");
  REQUIRE(contents.size() == 2);
  CHECK(contents[0].text == "t");
  CHECK(contents[1].kind == Kind::data);
  const auto messages = read_prompt(
      R"({"messages":[{"role":"user","content":{"type":"text","text":"do"}},{"role":1}]})");
  REQUIRE(messages.size() == 3);
  CHECK(messages[0].kind == Kind::heading);
  CHECK(messages[0].text == "user:");
  CHECK(messages[1].text == "do");
  CHECK(messages[2].kind == Kind::json);
}

TEST_CASE("only isError true is an error") {
  CHECK(is_tool_error(R"({"isError":true})"));
  CHECK_FALSE(is_tool_error(R"({"isError":false})"));
  CHECK_FALSE(is_tool_error("{}"));
}

TEST_CASE("file names are sensible and never a path") {
  CHECK(choose_file_name(data("", "image/png")) == "image.png");
  CHECK(choose_file_name(data("", "")) == "image.bin");
  CHECK(choose_file_name(data("", "audio/wav; rate=1", "audio")) == "audio.wav");
  CHECK(choose_file_name(data("file:///x/photo.jpg?y#z", "image/jpeg")) == "photo.jpg");
  CHECK(choose_file_name(data("file:///x/archive.tar", "", "blob")) == "archive.tar");
  CHECK(choose_file_name(data("../../.ssh/authorized_keys", "", "blob")) == "authorized_keys.bin");
  CHECK(choose_file_name(data("file:///a/..", "image/png")) == "image.png");
  CHECK(choose_file_name(data("file:///.bashrc", "", "blob")) == "bashrc.bin");
  CHECK(choose_file_name(data("a b\x1b$(x).png", "image/png")) == "a_b___x_.png");
  CHECK(choose_file_name(data(std::string(5000, 'a'), "image/png")).size() <= 110);
}

TEST_CASE("saving never overwrites and follows no link") {
  const TemporaryFolder folder;
  const std::string inside = folder.path("new");
  CHECK(std::get<std::string>(save_file(inside, "a.png", "one")) == inside + "/a.png");
  CHECK(std::get<std::string>(save_file(inside, "a.png", "two")) == inside + "/a-2.png");
  CHECK(folder.read("new/a.png") == "one");
  REQUIRE(::symlink("../outside", (inside + "/b.png").c_str()) == 0);
  CHECK(std::get<std::string>(save_file(inside, "b.png", "x")) == inside + "/b-2.png");
  CHECK(::access(folder.path("outside").c_str(), F_OK) != 0);
  CHECK(std::holds_alternative<SaveFailure>(save_file(inside + "/a.png", "c", "x")));
}

TEST_CASE("a field is found by names and places, and keeps its bytes") {
  constexpr std::string_view json = R"({"a":{"b.c":1,"l":[{"n":0.10},"t\u00e9"]},"n":null})";
  CHECK(field_at(json, "a.l.0.n") == "0.10");
  CHECK(field_at(json, "a.l[0].n") == "0.10");
  CHECK(field_at(json, "a.l.1") == "t\u00e9");
  CHECK(field_at(json, "a.l.0") == R"({"n":0.10})");
  CHECK(field_at(json, "n") == "null");
  CHECK(field_at(json, "") == std::string(json));
  for (const char* path : {"x", "a.l.2", "a.l.x", "a.l.-1", "n.x", "a..l", "a.l.0.n.y"})
    CHECK_FALSE_MESSAGE(field_at(json, path), path);
  constexpr std::string_view result = R"({"content":[{"text":"x"}],"structuredContent":{"sum":3}})";
  CHECK(field_of_result(result, "sum") == "3");
  CHECK(field_of_result(result, "content.0.text") == "x");
}
