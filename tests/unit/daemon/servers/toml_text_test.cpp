#include "servers/toml_text.hpp"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

TEST_CASE("TOML becomes JSON with the same values") {
  const std::pair<const char*, const char*> documents[] = {
      {"", "{}"},
      {"\xEF\xBB\xBF# nothing\r\n", "{}"},
      {"a = 1\nb = -2.5\nc = true\nd = \"\\u00e9\\n\"", R"({"a":1,"b":-2.5,"c":true,"d":"é\n"})"},
      {"[t.u]\nv = ['x', [1], {y = 'z'}]", R"({"t":{"u":{"v":["x",[1],{"y":"z"}]}}})"},
      {"[[l]]\na = 1\n[[l]]\na = 2", R"({"l":[{"a":1},{"a":2}]})"},
      {"a = nan\nb = 1979-05-27", R"({"a":null,"b":null})"},
      {"'\"' = 1", R"({"\"":1})"},
  };
  for (const auto& [toml, json] : documents) {
    const FileAsJson read = toml_as_json(toml);
    CHECK(read.fault == "");
    CHECK(read.text == json);
  }
}

TEST_CASE("what is no TOML, or too much of it, is refused with its place") {
  const std::pair<std::string, const char*> documents[] = {
      {"a = ", "not TOML: line 1"},
      {"a = 1\nb = [1,\n", "not TOML: line"},
      {"a = 1\na = 2", "not TOML: line 2"},
      {"\xC3\xA9 = 1", "not TOML: line 1, column 1"},
      {"\xEF\xBA\xBF", "not TOML: line 1, column 1"},
      {"a =\xE3\x80\x81 1", "not TOML: line 1"},
      {"a = '\xFF'", "not UTF-8"},
      {std::string((1u << 20) + 1, '#'), "longer than 1 MiB"},
      {"a = " + repeated("[", 100), "not TOML: line 1"},
      {"a = " + repeated("{a=", 100'000), "not TOML: line 1"},
      {"\n" + repeated("a.", 200'000) + "a = 1", "over 128 dots in line 2"},
      {"[" + repeated("a.", 200'000) + "a]", "over 128 dots in line 1"},
  };
  for (const auto& [toml, fault] : documents) {
    const FileAsJson read = toml_as_json(toml);
    CAPTURE(read.fault);
    CHECK(read.fault.starts_with(fault));
    CHECK(read.text.empty());
  }
  std::string deepest = "a = ";
  for (int i = 0; i < 30; ++i) deepest += "[\n{" + repeated("a.", 120) + "a = ";
  CHECK_FALSE(toml_as_json(deepest).fault.empty());
}
