#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

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

/// A new folder that is removed with its files.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = "save-test-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TemporaryFolder() { static_cast<void>(std::system(("rm -rf " + path_).c_str())); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
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
  const std::string outside = folder.path() + "/outside";
  const std::string inside = folder.path() + "/new";
  const auto first = save_file(inside, "a.png", "one");
  REQUIRE(std::holds_alternative<std::string>(first));
  CHECK(std::get<std::string>(first) == inside + "/a.png");
  CHECK(std::get<std::string>(save_file(inside, "a.png", "two")) == inside + "/a-2.png");
  CHECK(content_of(inside + "/a.png") == "one");
  REQUIRE(::symlink("../outside", (inside + "/b.png").c_str()) == 0);
  CHECK(std::get<std::string>(save_file(inside, "b.png", "x")) == inside + "/b-2.png");
  CHECK(::access(outside.c_str(), F_OK) != 0);
  CHECK(std::holds_alternative<SaveFailure>(save_file(inside + "/a.png", "c", "x")));
}
