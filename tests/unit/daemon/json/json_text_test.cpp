#include "json/json_text.hpp"

#include <doctest/doctest.h>
#include <simdjson.h>

#include <string>
#include <string_view>

using namespace bridge;
using namespace std::string_literals;

namespace {

const std::string replacement = "\xEF\xBF\xBD";

/// A JSON string as decoded by another parser.
std::string decoded(const std::string& json) {
  simdjson::dom::parser parser;
  std::string_view text;
  REQUIRE(parser.parse(json).get(text) == simdjson::SUCCESS);
  return std::string(text);
}

}  // namespace

TEST_CASE("every escape is undone") {
  CHECK(unescape(R"(plain \"\\\/\b\f\n\r\t end)") == "plain \"\\/\b\f\n\r\t end");
  CHECK(unescape(R"(\u0041\u00e9\u20AC)") == "A\xC3\xA9\xE2\x82\xAC");
  CHECK(unescape(R"(\ud83d\ude00)") == "\xF0\x9F\x98\x80");
  CHECK(unescape(R"(\uDBFF\uDFFF)") == "\xF4\x8F\xBF\xBF");
  CHECK(unescape(R"(a\u0000b)") == "a\0b"s);
  CHECK(unescape("") == "");
}

TEST_CASE("a lone surrogate becomes the replacement character, what follows stays") {
  CHECK(unescape(R"(\ud800)") == replacement);
  CHECK(unescape(R"(\udc00)") == replacement);
  CHECK(unescape(R"(\ud800x)") == replacement + "x");
  CHECK(unescape(R"(\ud800\n)") == replacement + "\n");
  CHECK(unescape(R"(\ud800\u0041)") == replacement + "A");
  CHECK(unescape(R"(\ud800\ud83d\ude00)") == replacement + "\xF0\x9F\x98\x80");
  CHECK(unescape(R"(\udc00\ud800)") == replacement + replacement);
}

TEST_CASE("text that no scanner has accepted is read without a crash") {
  for (const char* raw :
       {"\\", "\\u", "\\u1", "\\u12g4", "\\ud800\\u", "\\ud800\\u1", "\\ud800\\"}) {
    const std::string copy(raw);
    CHECK(unescape(copy).size() <= copy.size() + 3);
  }
}

TEST_CASE("what is quoted reads the same in another parser") {
  for (const std::string& text : {""s, "plain"s, "q\"b\\s/"s, "a\nb\rc\td\be\f"s, "\0\x01\x1f\x7f"s,
                                  "\xC3\xA9\xF0\x9F\x98\x80"s, "\xE2\x80\xA8"s}) {
    CHECK(decoded(quote(text)) == text);
    CHECK(unescape(quote(text).substr(1, quote(text).size() - 2)) == text);
  }
  for (int byte = 0; byte < 128; ++byte) {
    const std::string text(1, static_cast<char>(byte));
    CHECK(decoded(quote(text)) == text);
  }
}

TEST_CASE("a quoted text is one line of printable bytes") {
  const std::string quoted = quote("a\nb\r\x1b[31m\x7f");
  CHECK(quoted.find_first_of("\n\r\x1b\x7f") == std::string::npos);
}

TEST_CASE("bytes that are no UTF-8 become replacement characters, the rest stays") {
  CHECK(decoded(quote("a\xFFz")) == "a" + replacement + "z");
  CHECK(decoded(quote("\xC3")) == replacement);
  CHECK(decoded(quote("\xC3\xA9\xFF\xF0\x9F\x98\x80")) ==
        "\xC3\xA9" + replacement + "\xF0\x9F\x98\x80");
}

TEST_CASE("a member is found by its unescaped name, the first of several") {
  const std::string object = R"( {"a":{"id":1}, "\u0069d" : [ 2 ] ,"id":3,"e":""})";
  CHECK(find_member(object, "id") == "[ 2 ]");
  CHECK(find_member(object, "a") == R"({"id":1})");
  CHECK(find_member(object, "e") == "\"\"");
  CHECK_FALSE(find_member(object, "b"));
  CHECK_FALSE(find_member("{}", "a"));
}

TEST_CASE("what is no object has no members") {
  for (const char* text : {"", "[{\"a\":1}]", "1", "\"a\"", "null", "{", "{\"b\":1"})
    CHECK_FALSE(find_member(text, "a"));
}

TEST_CASE("a string member is read as text, others are not") {
  const std::string object = R"({"s":"a\u00e9\n","e":"","n":1,"o":{"s":"x"},"z":null})";
  CHECK(find_string(object, "s") == "a\xC3\xA9\n");
  CHECK(find_string(object, "e") == "");
  CHECK_FALSE(find_string(object, "n"));
  CHECK_FALSE(find_string(object, "o"));
  CHECK_FALSE(find_string(object, "z"));
  CHECK_FALSE(find_string(object, "missing"));
}

TEST_CASE("only a plain whole number that fits is one") {
  CHECK(to_unsigned("0") == 0);
  CHECK(to_unsigned("18446744073709551615") == UINT64_MAX);
  for (const char* raw :
       {"18446744073709551616", "-1", "-0", "1.0", "1e2", "\"1\"", "", "+1", " 1", "null"})
    CHECK_FALSE_MESSAGE(to_unsigned(raw), raw);
}

TEST_CASE("a number that a peer returns is compared by its value") {
  const std::string zeros(100'000, '0');
  for (const std::string& raw :
       {std::string("3"), std::string("3.0"), std::string("3e0"), std::string("3E+0"),
        std::string("30e-1"), std::string("0.3e1"), std::string("0.0003e4"), std::string("3.000"),
        std::string(R"("3")"), std::string(R"("3.0")"), std::string(R"("\u0033")"), "3." + zeros,
        "3" + zeros + "e-100000", "0." + zeros + "3e100001"})
    CHECK_MESSAGE(unsigned_by_value(raw) == 3, raw.substr(0, 40));
  CHECK(unsigned_by_value("0e99999999999999999999") == 0);
  CHECK(unsigned_by_value("1844674407370955161.5e1") == UINT64_MAX);
  for (const std::string& raw : {std::string("3.5"),
                                 std::string("-3"),
                                 std::string("-0"),
                                 std::string("31e-1"),
                                 std::string(R"("03")"),
                                 std::string(R"(" 3")"),
                                 std::string(R"("3 ")"),
                                 std::string(R"("+3")"),
                                 std::string(R"("-3")"),
                                 std::string(R"("3.")"),
                                 std::string(R"(".3")"),
                                 std::string(R"("0x3")"),
                                 std::string(R"("")"),
                                 std::string(R"("\"3\"")"),
                                 std::string("null"),
                                 std::string(),
                                 std::string("true"),
                                 std::string("{\"3\":3}"),
                                 std::string("[3]"),
                                 std::string("18446744073709551616"),
                                 std::string("3e999999999"),
                                 std::string("3e-999999999"),
                                 std::string("3e99999999999999999999"),
                                 std::string("3e-99999999999999999999"),
                                 "3" + zeros,
                                 "3." + zeros + "1"})
    CHECK_FALSE_MESSAGE(unsigned_by_value(raw), raw.substr(0, 40));
}

TEST_CASE("two ids are the same if their bytes are, or if they are equal strings or integers") {
  using Pair = std::pair<const char*, const char*>;
  for (const auto& [one, other] :
       {Pair{"1", "1"}, Pair{R"("a")", R"("\u0061")"}, Pair{R"("a\/b")", R"("a/b")"},
        Pair{R"("\u0061")", R"("\u0061")"}, Pair{R"("")", R"("")"}, Pair{"5", "5.0"},
        Pair{"5e0", "50E-1"}, Pair{"-5", "-5.0"}, Pair{"0", "-0"}, Pair{"-0.0", "0e7"},
        Pair{"1.5", "1.5"}})
    CHECK_MESSAGE(same_id(one, other), one);
  for (const auto& [one, other] :
       {Pair{"1", "\"1\""}, Pair{"1", "2"}, Pair{R"("a")", R"("A")"}, Pair{R"("a")", R"("\u0062")"},
        Pair{R"("")", "0"}, Pair{R"("\u0031")", "1"}, Pair{R"("5.0")", "5"},
        Pair{R"("5.0")", R"("5")"}, Pair{"5", "-5.0"}, Pair{"1.5", "1"}, Pair{"true", "false"},
        Pair{"1e400", "1e401"}})
    CHECK_FALSE_MESSAGE(same_id(one, other), one);
}

TEST_CASE("a message becomes one line by blanks for its line ends, nothing else changes") {
  std::string message = "{\r\n\t\"a\": \"\\n\",\n \"b\": 1\r}";
  make_single_line(message);
  CHECK(message == "{  \t\"a\": \"\\n\",  \"b\": 1 }");
  std::string plain = R"({"a":1})";
  make_single_line(plain);
  CHECK(plain == R"({"a":1})");
}
