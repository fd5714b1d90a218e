#include "schema/arguments.hpp"

#include <doctest/doctest.h>

#include <random>

#include "schema/signature.hpp"
#include "text/shell_word.hpp"
#include "verbs/operands.hpp"

using namespace client;

namespace {

/// Words without files as arguments.
std::vector<Argument> arguments(const std::vector<std::string>& words) {
  const auto parsed = parse_argument_words(words);
  REQUIRE(std::holds_alternative<std::vector<ArgumentWord>>(parsed));
  std::vector<Argument> all;
  for (const ArgumentWord& word : std::get<std::vector<ArgumentWord>>(parsed)) {
    all.push_back(word.argument);
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
  const auto& [one, is_file] = std::get<std::vector<ArgumentWord>>(parsed).front();
  const std::string_view forms = is_file ? "?TJ-" : "t?jo";
  return std::string(1, forms[static_cast<std::size_t>(one.form)]) + " " + one.key + "|" +
         one.value;
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
  CHECK(apart("-") == "- |-");
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

TEST_CASE("what a schema does not say, or says in words of its own, constrains nothing") {
  struct Row {
    std::string schema, word, made;
  };
  for (
      const Row& row : {
          Row{R"({"properties":{"p":{"type":"float"}}})", "p=1.5", R"({"p":1.5})"},
          Row{R"({"properties":{"p":{"type":"float"}}})", "p=x", R"({"p":"x"})"},
          Row{R"({"properties":{"p":{"type":["float","null"]}}})", "p=2", R"({"p":2})"},
          Row{R"({"properties":{"p":{"type":"select","enum":["a"]}}})", "p=a", R"({"p":"a"})"},
          Row{R"({"properties":{"p":{"type":"list"}}})", "p=1 p=b", R"({"p":["1","b"]})"},
          Row{R"({"patternProperties":{"^x-":{}},"additionalProperties":false})", "x-a=1",
              R"({"x-a":"1"})"},
          Row{R"({"properties":{"q":{}},"patternProperties":{"^n":{"type":"number"}},"additionalProperties":false})",
              "n1=1", R"({"n1":1})"},
      })
    CHECK_MESSAGE(made(*bridge::shell_words(row.word), row.schema) == row.made, row.schema);
}

constexpr std::string_view order =
    R"({"properties":{"items":{"type":"array","items":{"type":"object","properties":{
      "sku":{"type":"string"},"count":{"type":"integer"}},"required":["sku"]}},
      "grid":{"anyOf":[{"type":"array","items":{"type":"array","items":{"type":"number"}}},{"type":"null"}]},
      "customer":{"type":"object","properties":{"name":{"type":"string"},"mail":{"type":"string"}},
      "required":["name","mail"]}},"required":["customer"]})";

TEST_CASE("an index leads into a list, as in --field") {
  struct Row {
    std::string words, made;
  };
  const std::string who = "customer.name=A customer.mail=B ";
  const std::string begin = R"({"customer":{"name":"A","mail":"B"},)";
  for (const Row& row : {
           Row{"items.0.sku=x", R"("items":[{"sku":"x"}]})"},
           Row{"items.1.sku=y items.0.sku=x items.1.count=2",
               R"("items":[{"sku":"x"},{"sku":"y","count":2}]})"},
           Row{"grid.0.0=1 grid.0.1=2 grid.1=3", R"("grid":[[1,2],[3]]})"},
           Row{R"('items:=[{"sku":"a"},{"sku":"b"}]' items.1.sku=c)",
               R"("items":[{"sku":"a"},{"sku":"c"}]})"},
       })
    CHECK_MESSAGE(made(*bridge::shell_words(who + row.words), order) == begin + row.made,
                  row.words);
  CHECK(made(*bridge::shell_words(who + "items.1.sku=y"), order)
            .starts_with("wrong: 'items.0' is required"));
  CHECK(made(*bridge::shell_words(who + "items.sku=y"), order) ==
        "wrong: unknown argument 'items.sku': a list has elements, as items.0;");
  for (const char* wrong : {"items.01.sku=y", "items.0.=y", "items.12345.sku=y", "items.-1.sku=y"})
    CHECK_MESSAGE(made(*bridge::shell_words(who + wrong), order).starts_with("wrong: "), wrong);
}

TEST_CASE("what is missing in an object is named as it is typed, and not twice") {
  CHECK(made({}, order) == "wrong: 'customer.name' is required; 'customer.mail' is required;");
  CHECK(made({"customer.mail=x", "customer.nmae=5"}, order) ==
        "wrong: unknown argument 'customer.nmae'; did you mean 'name'?;");
  CHECK(
      made({"customer.nmae=5"}, order) ==
      "wrong: unknown argument 'customer.nmae'; did you mean 'name'?; 'customer.mail' is required;");
  CHECK(made({"customer=5"}, order) ==
        "wrong: customer=5: object expected, for example customer.name=text customer.mail=text;");
}

namespace {

/// Random schemas that some value satisfies, of what servers write: nested objects with required
/// members, defaults and examples that do not fit, alternatives, references, unknown types.
class Schemas {
 public:
  explicit Schemas(unsigned seed) : random_(seed) {}

  std::string input() {
    return object(0, R"("$defs":{"leaf":)" + object(5, "") + R"(,"word":{"type":"string"}},)");
  }

 private:
  unsigned below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }

  std::string any(int depth) {
    const char* const leaves[] = {R"({"type":"string"})",
                                  R"({"type":"integer","minimum":0.5})",
                                  R"({"type":"float"})",
                                  R"({"type":"boolean"})",
                                  R"({"type":["null","number"]})",
                                  R"({"enum":["-x",7,null]})",
                                  R"({"const":{"a":1}})",
                                  R"({"type":"string","default":null})",
                                  R"({})",
                                  R"({"type":"integer","examples":["no"],"default":[]})",
                                  R"({"$ref":"#/$defs/word"})",
                                  R"({"type":"string","enum":["it's; rm","a=b"]})",
                                  R"({"type":"number","maximum":-3})",
                                  R"({"$ref":"#/$defs/leaf"})"};
    if (depth > 3 || below(3) == 0) return leaves[below(depth > 4 ? 13 : 14)];
    switch (below(6)) {
      case 0: return R"({"type":"array","items":)" + any(depth + 1) + "}";
      case 1:
        return R"({"type":"array","prefixItems":[)" + any(depth + 1) + "," + any(depth + 1) + "]}";
      case 2:
        return std::string(R"({")") + (below(2) ? "anyOf" : "oneOf") + R"(":[)" + any(depth + 1) +
               "," + any(depth + 1) + "]}";
      case 3: return R"({"allOf":[)" + object(depth + 1, "") + R"(],"description":"x"})";
      default: return object(depth + 1, "");
    }
  }

  std::string object(int depth, const std::string& before) {
    const char* const names[] = {"name", "a.b", "-x", "a=b", "two words", "0", "", "e:", "{q"};
    std::string members;
    std::string required;
    const unsigned first = below(9);
    for (unsigned at = 0; at < 1 + below(4); ++at) {
      const std::string name = json::quote(names[(first + at) % 9]);
      members += (at > 0 ? "," : "") + name + ":" + any(depth + 1);
      if (below(3) > 0) required += (required.empty() ? "" : ",") + name;
    }
    std::string text = "{" + before + R"("type":"object","properties":{)" + members +
                       R"(},"required":[)" + required + "]";
    if (below(3) == 0) text += R"(,"additionalProperties":false)";
    if (below(5) == 0 && !required.empty())
      text +=
          R"(,"anyOf":[{"required":["never"],"properties":{"never":{"type":"null"}}},{"required":[)" +
          required + "]}]";
    return text + "}";
  }

  std::minstd_rand random_;
};

}  // namespace

TEST_CASE("the example made of any schema passes the check of the call that it is copied into") {
  for (unsigned seed = 1; seed <= 1000; ++seed) {
    const std::string text = Schemas(seed).input();
    const json::Value document = json::parse_or_null(text);
    const Schema schema(document);
    const std::string example = example_arguments(schema);
    const auto problems = problems_of(json::parse_or_null(example), schema);
    REQUIRE_MESSAGE(problems.empty(), text << "\n" << example << "\n" << problems.front());
    auto words = bridge::shell_words(example_call("tool", schema));
    REQUIRE(words);
    std::erase(*words, "--");
    REQUIRE(words->front() == "tool");
    words->erase(words->begin());
    const auto made = arguments_by_schema(arguments(*words), schema);
    REQUIRE_MESSAGE(std::holds_alternative<std::string>(made), text << "\n"
                                                                    << example_call("tool", schema)
                                                                    << "\n"
                                                                    << text_of(made));
  }
}
