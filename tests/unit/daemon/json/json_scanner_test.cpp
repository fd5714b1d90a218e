#include "json/json_scanner.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "json_texts.hpp"

using bridge::JsonFault;
using bridge::JsonScanner;
using bridge::key_is;
using bridge::Slice;

namespace {

JsonFault read(std::string_view text) {
  JsonScanner scanner(text);
  Slice value;
  scanner.skip_space();
  if (!scanner.value(value)) return scanner.fault();
  scanner.skip_space();
  return scanner.at_end() ? JsonFault::none : JsonFault::syntax;
}

bool accepts(std::string_view text) { return read(text) == JsonFault::none; }

std::string nested(std::size_t levels) {
  return std::string(levels, '[') + std::string(levels, ']');
}

}  // namespace

TEST_CASE("what follows the grammar is read, and nothing else") {
  for (const std::string& good : bridge::good_json) CHECK_MESSAGE(accepts(good), good);
  for (const std::string& bad : bridge::bad_json)
    CHECK_MESSAGE(read(bad) == JsonFault::syntax, bad);
}

TEST_CASE("a fault in a string is found at every place in it") {
  // The scanner reads sixteen bytes at a time: the position within a block must not matter.
  for (std::size_t at = 0; at < 40; ++at) {
    CAPTURE(at);
    std::string text = '"' + std::string(40, 'x') + '"';
    CHECK(accepts(text));
    text[1 + at] = '\x1f';
    CHECK_FALSE(accepts(text));
    text[1 + at] = '"';
    CHECK_FALSE(accepts(text));
    text[1 + at] = ' ';
    CHECK(accepts(text));
    text[1 + at] = '\xff';  // UTF-8 is checked elsewhere
    CHECK(accepts(text));
    text[1 + at] = '\\';
    CHECK_FALSE(accepts(text));
  }
}

TEST_CASE("1024 levels are the most, deeper is a fault of its own and no crash") {
  CHECK(accepts(nested(1000)));
  CHECK(accepts(nested(1024)));
  CHECK(read(nested(1025)) == JsonFault::too_deep);
  CHECK(read(nested(200'000)) == JsonFault::too_deep);
  CHECK(read(std::string(200'000, '[')) == JsonFault::too_deep);
  CHECK(read(std::string(1024, '[')) == JsonFault::syntax);
  std::string objects;
  for (int i = 0; i < 200'000; ++i) objects += "{\"a\":";
  CHECK(read(objects) == JsonFault::too_deep);
}

TEST_CASE("levels that are open around the text count") {
  const std::string text = nested(1000);
  JsonScanner fits(text, 24);
  Slice value;
  CHECK(fits.value(value));
  JsonScanner too_deep(text, 25);
  CHECK_FALSE(too_deep.value(value));
  CHECK(too_deep.fault() == JsonFault::too_deep);
}

TEST_CASE("levels are not used up by what is beside one another") {
  std::string text = "[";
  for (int i = 0; i < 5000; ++i) text += "[{}],{\"a\":[]},";
  CHECK(accepts(text + "0]"));
}

TEST_CASE("a value's slice is all of its bytes and nothing around it") {
  const std::string_view text = "  [1, 2]  ";
  JsonScanner scanner(text);
  Slice value;
  scanner.skip_space();
  REQUIRE(scanner.value(value));
  CHECK(value.of(text) == "[1, 2]");
}

TEST_CASE("a key is compared after unescaping") {
  for (const char* key : {"id", R"(\u0069d)", R"(\u0069\u0064)", R"(i\u0064)"})
    CHECK_MESSAGE(key_is(key, "id"), key);
  CHECK(key_is(R"(\u006D\u0065\u0074\u0068\u006F\u0064)", "method"));
  for (const char* key : {R"(\u0069)", "ID", "idx", "", R"(\\u0069d)", R"(id\u0000)"})
    CHECK_FALSE_MESSAGE(key_is(key, "id"), key);
}
