#include <doctest/doctest.h>

#include "json/document.hpp"

using namespace json;

TEST_CASE("text is JSON if it is one value, nested no deeper than a frame may be") {
  CHECK(is_json(" [1, {\"a\": [null, true, false]}] \n"));
  for (const char* bad : {"", " ", "{} {}", "[1 2]", "01"}) CHECK_FALSE(is_json(bad));
  CHECK(is_json(std::string(1024, '[') + std::string(1024, ']')));
  CHECK_FALSE(is_json(std::string(1025, '[') + std::string(1025, ']')));
}

TEST_CASE("members and elements keep their bytes") {
  const auto found = members(R"( {"a" : 1e400 , "\u0062":[ 1 ,2 ], "c":{} } )");
  REQUIRE(found);
  REQUIRE(found->size() == 3);
  CHECK((*found)[0].value == "1e400");
  CHECK(decode_string((*found)[1].key) == "b");
  CHECK((*found)[1].value == "[ 1 ,2 ]");
  const auto items = elements("[ 0.10,\"x\" , [ ] ]");
  REQUIRE(items);
  CHECK(*items == std::vector<std::string_view>{"0.10", "\"x\"", "[ ]"});
  CHECK(members("{}")->empty());
  CHECK(elements(" [ ] ")->empty());
  CHECK_FALSE(members("[]"));
  CHECK_FALSE(elements("[1] 2"));
  CHECK(find_member(R"({"\u0069d":7})", "id") == std::optional<std::string_view>("7"));
  CHECK_FALSE(find_member("7", "id"));
}

TEST_CASE("a message is told by its members") {
  using Kind = Message::Kind;
  CHECK(parse_message(R"({"jsonrpc":"2.0","id":0,"method":"m","params":{}})").kind ==
        Kind::request);
  CHECK(parse_message(R"({"method":"m"})").kind == Kind::notification);
  CHECK(parse_message(R"({"id":1,"result":{}})").kind == Kind::response);
  const Message refusal = parse_message(R"({"id":null,"error":{"code":1}})");
  CHECK(refusal.kind == Kind::response);
  CHECK(refusal.id == "null");
  CHECK(refusal.error == R"({"code":1})");
  for (const char* bad : {"", "[]", "1", "{}", R"({"id":1})", R"({"id":1,"result":1,"error":{}})",
                          R"({"method":1})", R"({"method":"m")"})
    CHECK_MESSAGE(parse_message(bad).kind == Kind::invalid, bad);
}

TEST_CASE("a value is decoded for showing") {
  const auto value = parse(
      R"({"s":"\u0041","n":-3,"b":18446744073709551615,"d":0.5,"t":true,"z":null,"l":[1,"x"]})");
  REQUIRE(value);
  CHECK(value->string("s") == "A");
  CHECK(value->count("n") == 0);
  CHECK(value->find("b")->text == "18446744073709551615");
  CHECK(value->find("missing") == nullptr);
  CHECK(value->find("n", Value::Kind::string) == nullptr);
  CHECK(to_json(*value) ==
        R"({"s":"A","n":-3,"b":18446744073709551615,"d":0.5,"t":true,"z":null,"l":[1,"x"]})");
}

TEST_CASE("what cannot be shown as a value is none") {
  CHECK_FALSE(parse("1e400"));
  CHECK_FALSE(parse("{"));
  CHECK_FALSE(parse("\"\xFF\""));
  CHECK_FALSE(parse(std::string(2000, '[') + std::string(2000, ']')));
}
