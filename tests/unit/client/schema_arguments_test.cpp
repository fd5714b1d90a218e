#include "schema/arguments.hpp"

#include <doctest/doctest.h>

#include "verbs/operands.hpp"

using namespace client;

namespace {

/// Words without files as arguments.
std::vector<Argument> arguments(const std::vector<std::string>& words) {
  const auto parsed = parse_argument_words(words);
  REQUIRE(std::holds_alternative<std::vector<ArgumentWord>>(parsed));
  std::vector<Argument> all;
  for (const ArgumentWord& word : std::get<std::vector<ArgumentWord>>(parsed)) {
    Argument one{Argument::Form::text, word.key, word.value};
    if (word.form == ArgumentWord::Form::json) one.form = Argument::Form::json;
    if (word.form == ArgumentWord::Form::object) one.form = Argument::Form::object;
    if (word.form == ArgumentWord::Form::text_file) one.form = Argument::Form::string;
    all.push_back(one);
  }
  return all;
}

std::string text_of(const std::variant<std::string, WrongArguments>& made) {
  if (const auto* json = std::get_if<std::string>(&made)) return *json;
  std::string all = "wrong:";
  for (const std::string& one : std::get<WrongArguments>(made).problems) all += " " + one + ";";
  return all;
}

std::string made(const std::vector<std::string>& words, std::string_view schema) {
  const auto document = json::parse(schema);
  REQUIRE(document);
  return text_of(arguments_by_schema(arguments(words), Schema(*document)));
}

std::string raw(const std::vector<std::string>& words) {
  return text_of(arguments_as_written(arguments(words)));
}

/// The form and the parts of a word, "F key|value".
std::string apart(const std::string& word) {
  const auto parsed = parse_argument_words({word});
  if (std::holds_alternative<UsageError>(parsed)) return "refused";
  const ArgumentWord& one = std::get<std::vector<ArgumentWord>>(parsed).front();
  return std::string(1, "tjTJo-"[static_cast<int>(one.form)]) + " " + one.key + "|" + one.value;
}

constexpr std::string_view search =
    R"({"type":"object","properties":{
      "q":{"type":"string"},"limit":{"type":"integer"},"exact":{"type":"boolean"},
      "tags":{"type":"array","items":{"type":"string"}},"ids":{"type":"array","items":{"type":"integer"}},
      "filter":{"type":"object","properties":{"from":{"type":"integer"},"to":{"type":"integer"}}},
      "a.b":{"type":"string"},"a":{"type":"object","additionalProperties":{"type":"number"}}
    },"required":["q"]})";

}  // namespace

TEST_CASE("a word is taken apart at its first sign") {
  CHECK(apart("a=b") == "t a|b");
  CHECK(apart("a=") == "t a|");
  CHECK(apart("a=@b") == "t a|@b");
  CHECK(apart("a=x:@y") == "t a|x:@y");
  CHECK(apart("a=b:=c") == "t a|b:=c");
  CHECK(apart("a:=1") == "j a|1");
  CHECK(apart("a:@f") == "T a|f");
  CHECK(apart("a:@f=x") == "T a|f=x");
  CHECK(apart("a:@-") == "T a|-");
  CHECK(apart("a:=@f") == "J a|f");
  CHECK(apart("{}") == "o |{}");
  CHECK(apart(" {\"a\":1}") == "o | {\"a\":1}");
  CHECK(apart("-") == "- |");
  for (const char* word : {"a", "=b", ":=1", ":@f", "", "[1]"})
    CHECK_MESSAGE(apart(word) == "refused", word);
  CHECK(std::holds_alternative<UsageError>(parse_argument_words({"a:@-", "b:=@-"})));
  CHECK(std::holds_alternative<UsageError>(parse_argument_words({"-", "b:@-"})));
}

TEST_CASE("pairs are made what the schema wants") {
  CHECK(made({"q=2", "limit=3", "exact=true"}, search) == R"({"q":"2","limit":3,"exact":true})");
  CHECK(made({"q=x", "tags=a", "tags=b"}, search) == R"({"q":"x","tags":["a","b"]})");
  CHECK(made({"q=x", "tags=a"}, search) == R"({"q":"x","tags":["a"]})");
  CHECK(made({"q=x", "ids=1", "ids:=2"}, search) == R"({"q":"x","ids":[1,2]})");
  CHECK(made({"q=x", "ids=[1,2]"}, search) == R"({"q":"x","ids":[1,2]})");
  CHECK(made({"q:@f"}, search) == R"({"q":"f"})");
  CHECK(made({"q=x", "limit:=4"}, search) == R"({"q":"x","limit":4})");
}

TEST_CASE("a name with dots leads into an object, unless it is a name itself") {
  CHECK(made({"q=x", "filter.from=1", "filter.to=2"}, search) ==
        R"({"q":"x","filter":{"from":1,"to":2}})");
  CHECK(made({"q=x", "a.b=1"}, search) == R"({"q":"x","a.b":"1"})");
  CHECK(made({"q=x", "a.c=1"}, search) == R"({"q":"x","a":{"c":1}})");
  CHECK(made({"q=x", "filter.form=1"}, search) ==
        "wrong: unknown argument 'filter.form'; did you mean 'from'?;");
  CHECK(made({"q=x", "limit.y=1"}, search) ==
        "wrong: unknown argument 'limit.y': limit is not an object but integer;");
}

TEST_CASE(
    "an object may stand with pairs, which win; what is not touched stays as it was written") {
  CHECK(made({R"({"q":"x", "limit": 1 })", "limit=2"}, search) == R"({"q":"x","limit":2})");
  CHECK(made({"limit=2", R"({"q":"x","limit":1})"}, search) == R"({"q":"x","limit":2})");
  CHECK(made({R"({"q":"x","filter":{"from":1.0,"to":9}})", "filter.to=2"}, search) ==
        R"({"q":"x","filter":{"from":1.0,"to":2}})");
  CHECK(raw({R"({"n":0.10,"s":"\u0041"})", "t=1"}) == R"({"n":0.10,"s":"\u0041","t":"1"})");
}

TEST_CASE("all that is wrong is said once") {
  CHECK(
      made({"limit=many", "exat=true"}, search) ==
      "wrong: limit=many: integer expected, for example limit=1; unknown argument 'exat'; did you mean "
      "'exact'?; 'q' is required;");
  CHECK(made({"q=1", "q=2"}, search) ==
        "wrong: argument 'q' is given 2 times, and is not an array;");
  CHECK(made({R"({"q":1})"}, search) == "wrong: q: string expected, not 1;");
  CHECK(made({"q:=1"}, search) == "wrong: q: string expected, not 1;");
  CHECK(made({"q=x", "limit:=1e400"}, search) ==
        R"({"q":"x","limit":1e400})");  // left to the server
  constexpr std::string_view one = R"({"properties":{"n":{"type":"number"}},"required":["n"]})";
  CHECK(made({"n=x"}, one) == "wrong: n=x: number expected, for example n=1;");
}

TEST_CASE("of a list that is not taken the element is said") {
  constexpr std::string_view modes =
      R"({"properties":{"m":{"type":"array","items":{"enum":["fast","slow"]}}}})";
  CHECK(made({"m=fast", "m=x"}, modes) == R"(wrong: m[1]=x: "fast"|"slow" expected;)");
  CHECK(made({"m:=3", "m=fast"}, modes) == R"(wrong: m[0]=3: "fast"|"slow" expected;)");
  CHECK(made({"q=x", "ids=1", "ids=b"}, search) == "wrong: ids[1]=b: integer expected;");
  constexpr std::string_view point =
      R"({"properties":{"p":{"prefixItems":[{"type":"number"},{"type":"string"}]}}})";
  CHECK(made({"p=1", "p=2"}, point) == R"({"p":[1,"2"]})");
  CHECK(made({"p=x", "p=2"}, point) == "wrong: p[0]=x: number expected;");
}

TEST_CASE("raw sends text as strings, and names as they are") {
  CHECK(raw({"a=1", "b.c=x", "d:=2"}) == R"({"a":"1","b.c":"x","d":2})");
  CHECK(raw({"a=1", "a=2"}) == "wrong: argument 'a' is given twice;");
  CHECK(raw({}) == "{}");
}

TEST_CASE("a tool that takes anything gets strings") {
  CHECK(made({"n=1"}, R"({"type":"object"})") == R"({"n":"1"})");
  CHECK(made({"n=1"}, R"({"additionalProperties":{"type":"number"}})") == R"({"n":1})");
}
