#include "json/canonical_json.hpp"

#include <doctest/doctest.h>

using bridge::canonical_json;

TEST_CASE("white space, the order of members and escapes make no difference") {
  CHECK(canonical_json(R"( { "b" : [ 1 , 2 ] , "a" : "\u0078" } )") == R"({"a":"x","b":[1,2]})");
  CHECK(canonical_json(R"({"\u0061":{"z":null,"y":true}})") == R"({"a":{"y":true,"z":null}})");
  CHECK(canonical_json(R"({"a":"\u00e4"})") == canonical_json("{\"a\":\"\xC3\xA4\"}"));
}

TEST_CASE("numbers are as they were written, and 1 is not 1.0") {
  CHECK(canonical_json("[1,1.0,1e400,-0]") == "[1,1.0,1e400,-0]");
}

TEST_CASE("empty ones and scalars are themselves") {
  for (const char* text : {"{}", "[]", "\"\"", "null", "[{},[]]", R"({"a":{}})"})
    CHECK(canonical_json(text) == text);
}

TEST_CASE("what is in order already is the same as what was put into order") {
  CHECK(canonical_json(R"({"a":{"b":1,"c":[{"d":2,"e":3}]},"f":""})") ==
        canonical_json(R"({ "f":"","a":{"c":[{"e":3,"d":2}],"b":1} })"));
  CHECK(canonical_json(R"({"a":1,"a":2})") == R"({"a":1,"a":2})");
  CHECK(canonical_json(R"({"b":1,"a":2,"b":0})") == R"({"a":2,"b":1,"b":0})");
}

TEST_CASE("members out of order on every level take no more than a few walks") {
  std::string text = "1";
  for (int level = 0; level < 900; ++level) text = "{\"b\":" + text + ",\"a\":0}";
  const std::string ordered = canonical_json(text);
  CHECK(ordered.size() == text.size());
  CHECK(ordered.starts_with(R"({"a":0,"b":{"a":0,"b":)"));
}
