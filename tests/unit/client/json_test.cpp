#include <doctest/doctest.h>

#include "json/document.hpp"

using namespace json;

TEST_CASE("the whole grammar is checked") {
  for (const char* good :
       {"1", "-0.5e+10", "1e400", "123456789012345678901234567890", "\"\\u00e9\"", "[]", "{}",
        " [1, {\"a\": [null, true, false]}] \n", "{\"a\":1,\"a\":2}"}) {
    CAPTURE(good);
    CHECK(is_valid(good));
  }
  for (const char* bad :
       {"",           " ",     "01",    "1.",  ".5",       "+1",       "-",
        "1e",         "tru",   "nulll", "'a'", "\"a",      "\"\\x\"",  "\"\\u12g4\"",
        "\"\n\"",     "[1,]",  "[1 2]", "[1}", "{\"a\"}",  "{\"a\":}", "{a:1}",
        "{\"a\":1,}", "{} {}", "[",     "]",   "{\"a\":1]"}) {
    CAPTURE(bad);
    CHECK_FALSE(is_valid(bad));
  }
}

TEST_CASE("deep nesting is no recursion, and bounded as the daemon bounds it") {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  CHECK(is_valid(nested(1024)));
  CHECK_FALSE(is_valid(nested(1025)));
  CHECK_FALSE(is_valid(nested(1000000)));
  CHECK_FALSE(is_valid(std::string(1000000, '[')));
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
  CHECK(member(R"({"\u0069d":7})", "id") == std::optional<std::string_view>("7"));
  CHECK_FALSE(member("7", "id"));
}

TEST_CASE("strings are decoded and written") {
  CHECK(decode_string(R"("a\"\\\/\b\f\n\r\t")") == "a\"\\/\b\f\n\r\t");
  CHECK(decode_string(R"("\u00e9\u20AC\ud83d\ude00")") == "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  CHECK(decode_string(R"("\ud83d!")") == "\xEF\xBF\xBD!");
  CHECK(decode_string(R"("\ud83d\u0041")") ==
        "\xEF\xBF\xBD"
        "A");
  CHECK(decode_string(R"("\ude00")") == "\xEF\xBF\xBD");
  CHECK(quote(std::string("\0\x1f\"\\\x7f", 5)) == "\"\\u0000\\u001f\\\"\\\\\\u007f\"");
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
                          R"({"method":1})", R"({"method":"m")"}) {
    CAPTURE(bad);
    CHECK(parse_message(bad).kind == Kind::invalid);
  }
}

TEST_CASE("frames are built as JSON-RPC") {
  CHECK(bridge::own_request("1", "a\"b", "") == R"({"jsonrpc":"2.0","id":1,"method":"a\"b"})");
  CHECK(bridge::own_request("1", "m", "{}") ==
        R"({"jsonrpc":"2.0","id":1,"method":"m","params":{}})");
  CHECK(bridge::own_notification("m", "[1]") == R"({"jsonrpc":"2.0","method":"m","params":[1]})");
  CHECK(bridge::result_reply("\"x\"", "{}") == R"({"jsonrpc":"2.0","id":"x","result":{}})");
  CHECK(bridge::error_reply("2", -32601, "no") ==
        R"({"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no"}})");
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
