#include "json/json_scanner.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

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

TEST_CASE("numbers follow the grammar and may have any size") {
  for (const char* good : {"0", "-0", "-1", "1.5", "0.10", "1e400", "1E+5", "1e-5", "-0.0e0", "10",
                           "123456789012345678901234567890"}) {
    CAPTURE(good);
    CHECK(accepts(good));
  }
  for (const char* bad :
       {"01",  "-01", "1.",  ".5",    "+1",    "-",   "1e",       "1e+",       "1.e5", "0x10",
        "1_0", "--1", "-.5", "1.5.2", "1e5.5", "NaN", "Infinity", "-Infinity", "1 2",  ""}) {
    CAPTURE(bad);
    CHECK(read(bad) == JsonFault::syntax);
  }
}

TEST_CASE("literals are whole words") {
  for (const char* good : {"true", "false", "null", " null\t\r\n"}) CHECK(accepts(good));
  for (const char* bad : {"tru", "True", "nul", "nulll", "falsey", "TRUE", "undefined"}) {
    CAPTURE(bad);
    CHECK_FALSE(accepts(bad));
  }
}

TEST_CASE("strings take the escapes of the grammar and no others") {
  for (const char* good : {R"("")", R"("\"\\\/\b\f\n\r\t")", R"("\u00e9\uD83D\uDE00")",
                           R"("\ud800")", "\"\x7f\"", "\"\xC3\xA9\""}) {
    CAPTURE(good);
    CHECK(accepts(good));
  }
  for (const char* bad :
       {R"(")", R"("a)", R"("\x41")", R"("\u12g4")", R"("\u123")", R"("\u12)", R"("\)", R"("\")",
        R"("\'")", "'a'", "\"a\nb\"", "\"a\tb\"", "\"\x1f\"", "\"\x01\""}) {
    CAPTURE(bad);
    CHECK_FALSE(accepts(bad));
  }
  CHECK_FALSE(accepts(std::string_view("\"a\0b\"", 5)));
  CHECK_FALSE(accepts(std::string_view("\"\\\0\"", 4)));
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

TEST_CASE("containers are closed by what opened them, with commas between and nowhere else") {
  for (const char* good :
       {"[]", "{}", "[ ]", "{ }", "[1,2]", "[[],{}]", R"({"a":1})", R"({"a":{"b":[{}]},"c":[]})",
        " [ 1 , { \"a\" : [ null ] } ] ", R"({"a":1,"a":2})", R"({"":0})"}) {
    CAPTURE(good);
    CHECK(accepts(good));
  }
  for (const char* bad : {"[1,2}",      "{\"a\":1]",
                          "[1,]",       "[,1]",
                          "[1 2]",      "[1,,2]",
                          "{,}",        R"({"a":1,})",
                          R"({"a"})",   R"({"a":})",
                          R"({"a" 1})", R"({a:1})",
                          R"({1:1})",   R"({"a":1 "b":2})",
                          "[",          "{",
                          "[1",         "]",
                          "}",          R"({"a")",
                          R"({"a":)",   "{} {}",
                          "[] []",      "[]]",
                          "{}x",        "[[]",
                          R"({"a":[1})"}) {
    CAPTURE(bad);
    CHECK(read(bad) == JsonFault::syntax);
  }
}

TEST_CASE("only the four white spaces are white space") {
  CHECK(accepts(" \t\r\n[ \t\r\n1 \t\r\n, \t\r\n2 \t\r\n] \t\r\n"));
  for (const char* bad : {"[1,\f2]", "[1,\v2]", "\xC2\xA0[1]", "\xEF\xBB\xBF[1]"})
    CHECK_FALSE(accepts(bad));
  CHECK_FALSE(accepts(std::string_view("[1]\0", 4)));
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

TEST_CASE("objects and arrays know which they are at every level") {
  CHECK(accepts(R"([{"a":[{"b":[[{"c":1}]]},2]},3])"));
  CHECK_FALSE(accepts(R"([{"a":[{"b":[[{"c":1]}]]},2]},3])"));
  CHECK_FALSE(accepts(R"([{"a":[1],2}])"));
  CHECK_FALSE(accepts(R"([[1],"a":2])"));
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
  CHECK(key_is("id", "id"));
  CHECK(key_is(R"(\u0069d)", "id"));
  CHECK(key_is(R"(\u0069\u0064)", "id"));
  CHECK(key_is(R"(\u006D\u0065\u0074\u0068\u006F\u0064)", "method"));
  CHECK_FALSE(key_is(R"(\u0069)", "id"));
  CHECK_FALSE(key_is("ID", "id"));
  CHECK_FALSE(key_is("idx", "id"));
  CHECK_FALSE(key_is("", "id"));
  CHECK_FALSE(key_is(R"(\\u0069d)", "id"));
  CHECK_FALSE(key_is(R"(id\u0000)", "id"));
}
