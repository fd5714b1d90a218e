#include "json/relaxed_json.hpp"

#include <doctest/doctest.h>

using bridge::strict_json;

TEST_CASE("strict JSON stays byte for byte") {
  for (const char* text : {"", "{}", R"({"a":[1,2,{"b":null}],"c":"d"})", "[1 ,2]", "nonsense"}) {
    CHECK(strict_json(text) == text);
  }
}

TEST_CASE("comments become white space and everything keeps its place") {
  CHECK(strict_json("{// x\n\"a\":1}") == "{    \n\"a\":1}");
  CHECK(strict_json("{/* x\n y */\"a\":1}") == "{    \n     \"a\":1}");
  CHECK(strict_json("1 // to the end") == "1              ");
  CHECK(strict_json("/**/1") == "    1");
}

TEST_CASE("a comment that never ends stays, and is no JSON") {
  CHECK(strict_json("1 /* never closed") == "1 /* never closed");
  CHECK(strict_json("/*/1") == "/*/1");
}

TEST_CASE("what looks like a comment inside of a string is none") {
  for (const char* text :
       {R"({"url":"http://x/*y*/"})", R"(["\"//",1])", R"(["\\",1])", R"("never closed // )"}) {
    CHECK(strict_json(text) == text);
  }
}

TEST_CASE("a comma behind the last member or element goes") {
  CHECK(strict_json("[1,]") == "[1 ]");
  CHECK(strict_json("{\"a\":1 , \n}") == "{\"a\":1   \n}");
  CHECK(strict_json("[[1,],]") == "[[1 ] ]");
  CHECK(strict_json("[1, // last\n]") == "[1         \n]");
  CHECK(strict_json("[\",]\",]") == "[\",]\" ]");
}

TEST_CASE("a comma that follows no value stays a mistake") {
  for (const char* text : {"[,]", "{,}", "[1,,]", "{\"a\":,}"}) CHECK(strict_json(text) == text);
}

TEST_CASE("a byte order mark becomes white space") {
  CHECK(strict_json("\xEF\xBB\xBF{}") == "   {}");
}

TEST_CASE("comments that never end are looked for once") {
  std::string text;
  while (text.size() < (1u << 20)) text += "[/*";
  CHECK(strict_json(text) == text);
}
