#include <doctest/doctest.h>

#include <string>

#include "elicitation/form.hpp"
#include "elicitation/web_address.hpp"

using namespace client;

namespace {

Field one_field(const std::string& schema, bool required = true) {
  const auto value = json::parse(R"({"properties":{"f":)" + schema + R"(},"required":[)" +
                                 (required ? "\"f\"" : "") + "]}");
  REQUIRE(value);
  const auto fields = read_fields(*value);
  REQUIRE(fields.size() == 1);
  return fields[0];
}

/// JSON, "skipped" or "refused".
std::string answered(const Field& field, std::string_view typed) {
  const auto outcome = read_answer(field, typed);
  if (std::holds_alternative<FieldRefusal>(outcome)) return "refused";
  return std::get<FieldAnswer>(outcome).value_or("skipped");
}

constexpr std::string_view question = R"({"message":"Who?","requestedSchema":{"type":"object",
  "required":["name"],"properties":{
    "name":{"type":"string","maxLength":5},
    "age":{"type":"integer","minimum":1},
    "likes":{"type":"array","items":{"type":"string","enum":["x","y"]}},
    "colour":{"type":"string","oneOf":[{"const":"r","title":"Red"}],"default":"r"}}}})";

/// The result, or "refused: " and why.
std::string filled(std::string_view values, std::string_view params = question) {
  const auto result = fill_form(params, values);
  if (const auto* refusal = std::get_if<FieldRefusal>(&result)) return "refused: " + refusal->why;
  return std::get<std::string>(result);
}

}  // namespace

TEST_CASE("text is taken as it was typed") {
  const Field field = one_field(R"({"type":"string","minLength":2,"maxLength":4})");
  CHECK(answered(field, "a\"b") == R"("a\"b")");
  CHECK(answered(field, "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9") ==
        "\"\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\"");
  for (const char* typed : {"a", "abcde", "\xFF\xFF"})
    CHECK_MESSAGE(answered(field, typed) == "refused", typed);
}

TEST_CASE("numbers are checked and keep their digits") {
  const Field number = one_field(R"({"type":"number","minimum":0,"maximum":10})");
  CHECK(answered(number, " 0.10 ") == "0.10");
  CHECK(answered(number, "1e1") == "1e1");
  for (const char* typed : {"11", "-1", "ten", "\"1\""})
    CHECK_MESSAGE(answered(number, typed) == "refused", typed);
  const Field integer = one_field(R"({"type":"integer"})");
  CHECK(answered(integer, "-7") == "-7");
  for (const char* typed : {"1.5", "1e3", "007"})
    CHECK_MESSAGE(answered(integer, typed) == "refused", typed);
}

TEST_CASE("yes and no have many forms") {
  const Field field = one_field(R"({"type":"boolean"})");
  for (const char* yes : {"y", "YES", "true", "1"}) CHECK(answered(field, yes) == "true");
  for (const char* no : {"n", "No", "FALSE", "0"}) CHECK(answered(field, no) == "false");
  CHECK(answered(field, "maybe") == "refused");
}

TEST_CASE("a choice is taken by value, title or number") {
  const Field plain =
      one_field(R"({"type":"string","enum":["red","blue"],"enumNames":["Red!","Blue!"]})");
  CHECK(answered(plain, "blue") == R"("blue")");
  CHECK(answered(plain, "red!") == R"("red")");
  CHECK(answered(plain, "2") == R"("blue")");
  for (const char* typed : {"3", "0", "green"})
    CHECK_MESSAGE(answered(plain, typed) == "refused", typed);
  const Field titled =
      one_field(R"({"type":"string","oneOf":[{"const":"a","title":"First"},{"const":"b"}]})");
  CHECK(answered(titled, "first") == R"("a")");
  CHECK(answered(titled, "b") == R"("b")");
}

TEST_CASE("several choices are separated by commas") {
  const Field field = one_field(
      R"({"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["a","b","c"]}})");
  CHECK(answered(field, "a, 3") == R"(["a","c"])");
  for (const char* typed : {",", "a,b,c", "a,x"})
    CHECK_MESSAGE(answered(field, typed) == "refused", typed);
}

TEST_CASE("an empty line is the default, a skip, or refused") {
  CHECK(answered(one_field(R"({"type":"integer","default":5})"), "") == "5");
  CHECK(answered(one_field(R"({"type":"string"})", false), "  ") == "skipped");
  CHECK(answered(one_field(R"({"type":"string"})"), "") == "refused");
}

TEST_CASE("a form asks field by field and again after a wrong answer") {
  auto form = ElicitationForm::from_params(
      R"({"message":"Who?","requestedSchema":{"type":"object","properties":{
          "name":{"type":"string","title":"Your name","description":"in full"},
          "age":{"type":"integer"},"note":{"type":"string"}},"required":["name","age"]}})");
  REQUIRE(form);
  CHECK(form->begin().find("Who?") != std::string::npos);
  CHECK(form->begin().find("Your name (name): text, required\n  in full") != std::string::npos);
  CHECK(form->take("Ann").find("age") != std::string::npos);
  CHECK(form->take("old").find("a whole number is required") != std::string::npos);
  CHECK(form->take("30").find("note") != std::string::npos);
  CHECK_FALSE(form->done());
  CHECK(form->take("").empty());
  REQUIRE(form->done());
  CHECK(form->result() == R"({"action":"accept","content":{"name":"Ann","age":30}})");
}

TEST_CASE("a form can be declined and cancelled") {
  for (const std::string action : {"decline", "cancel"}) {
    auto form = ElicitationForm::from_params(
        R"({"message":"?","requestedSchema":{"properties":{"a":{"type":"string"}}}})");
    form->take("!" + action);
    CHECK(form->result() == R"({"action":")" + action + "\"}");
  }
}

TEST_CASE("a form without fields asks for consent") {
  auto form = ElicitationForm::from_params(R"({"message":"Delete all?"})");
  REQUIRE(form);
  CHECK(form->take("").find("required") != std::string::npos);
  form->take("no");
  CHECK(form->result() == R"({"action":"decline"})");
  auto page =
      ElicitationForm::from_params(R"({"mode":"url","url":"https://x/","message":"Sign in"})");
  CHECK(page->begin().find("https://x/") != std::string::npos);
  CHECK(page->begin().find("host:    x\n") != std::string::npos);
  CHECK(page->begin().find("!cancel or end of input dismisses it") != std::string::npos);
  page->end_of_input();
  CHECK(page->result() == R"({"action":"cancel"})");
  page->take("yes");
  CHECK(page->result() == R"({"action":"accept"})");
}

TEST_CASE("whose call a question is about is said before it, if it is not one's own") {
  const auto begin = [](ElicitationForm::Caller caller) {
    return ElicitationForm::from_params(R"({"mode":"url","url":"https://x/","message":"Sign in"})",
                                        ElicitationForm::EndOfInput::cancels, caller)
        ->begin();
  };
  CHECK(begin(ElicitationForm::Caller::own).starts_with("The server asks you to open"));
  CHECK(begin(ElicitationForm::Caller::another).starts_with("Not about your call: "));
  CHECK(begin(ElicitationForm::Caller::unknown).starts_with("Perhaps not about your call: "));
}

TEST_CASE("the host of a page is the one that a browser goes to") {
  CHECK(host_of("https://example.com/path?x=https://other/") == "example.com");
  CHECK(host_of("HTTPS://example.com:8443#x") == "example.com:8443");
  CHECK(host_of("https://github.com@evil.example/login") == "evil.example");
  CHECK(host_of("https://evil.example\\@github.com/") == "evil.example");
  CHECK(host_of("https://user:github.com@[::1]:80?x") == "[::1]:80");
  CHECK(host_of("javascript://github.com/%0aalert(1)").empty());
  CHECK(host_of("file:///etc/passwd").empty());
  CHECK(host_of("").empty());
}

TEST_CASE("nothing that the server writes looks like the host of its page") {
  const auto page = ElicitationForm::from_params(
      R"({"mode":"url","message":"Sign in\n  host:    github.com","url":"https://\u0430pple.com/\n  host:    github.com\u202e"})");
  REQUIRE(page);
  const std::string shown = page->begin();
  CHECK(shown.find("\n  host:    \\xd0\\xb0pple.com (xn--pple-43d.com)\n") != std::string::npos);
  CHECK(shown.find("\n  host:    github.com") == std::string::npos);
  CHECK(shown.find("\xE2\x80\xAE") == std::string::npos);
}

TEST_CASE("a host of other letters has a name that is looked up") {
  CHECK(punycode_host("example.com:8080") == "example.com:8080");
  CHECK(punycode_host("b\u00fccher.example") == "xn--bcher-kva.example");
  CHECK(punycode_host("B\u00dcCHER.example") == "xn--bcher-kva.example");
  CHECK(punycode_host("\u4ed6\u4eec\u4e3a\u4ec0\u4e48\u4e0d\u8bf4\u4e2d\u6587") ==
        "xn--ihqwcrb4cv8a8dqg056pqjye");
  CHECK(punycode_host("\u043f\u0440\u0438\u043c\u0435\u0440\u3002\u0440\u0444:1") ==
        "xn--e1afmkfd.xn--p1ai:1");
  CHECK_FALSE(punycode_host("\xff"));
}

TEST_CASE("what makes an address look like one of another host is pointed out") {
  CHECK(describe_address("https://github.com/login") ==
        "  address: https://github.com/login\n  host:    github.com\n");
  CHECK(describe_address("https://github.com@evil.example/")
            .find("  beware:  github.com before the @ ") != std::string::npos);
  const std::string shown = describe_address("https://evil.example\\@github.com/");
  CHECK(shown.find("  host:    evil.example\n") != std::string::npos);
  CHECK(shown.find("a backslash") != std::string::npos);
  CHECK(describe_address("https://%67ithub.com/").find("percent") != std::string::npos);
  CHECK(describe_address("https://x/a@b\\c").find("beware") == std::string::npos);
}

TEST_CASE("params that are none make no form") {
  CHECK_FALSE(ElicitationForm::from_params(""));
  CHECK_FALSE(ElicitationForm::from_params("[]"));
  CHECK_FALSE(ElicitationForm::from_params(R"({"message":1e400})"));
}

TEST_CASE("the end of input leaves a question that somebody else may answer") {
  using End = ElicitationForm::EndOfInput;
  auto form = ElicitationForm::from_params(R"({"message":"Well?"})", End::leaves);
  REQUIRE(form);
  CHECK(form->begin().find("leaves it for later") != std::string::npos);
  form->end_of_input();
  CHECK(form->done());
  CHECK(form->was_left());
  auto other = ElicitationForm::from_params(R"({"message":"Well?"})");
  REQUIRE(other);
  other->end_of_input();
  CHECK_FALSE(other->was_left());
  CHECK(other->result() == R"({"action":"cancel"})");
}

TEST_CASE("a text becomes what its field wants, in the order of the fields") {
  CHECK(filled(R"({"colour":"red","age":"36","name":"Ada","likes":"y, x"})") ==
        R"({"action":"accept","content":{"name":"Ada","age":36,"likes":["y","x"],"colour":"r"}})");
}

TEST_CASE("other JSON stays as it is, and a field without value has its default") {
  CHECK(filled(R"({"name":"5","age":1e0})") ==
        R"({"action":"accept","content":{"name":"5","age":1e0,"colour":"r"}})");
}

TEST_CASE("what the question does not allow is refused by the field's name") {
  CHECK(filled("{}") == "refused: field 'name': an answer is required");
  CHECK(filled(R"({"name":"too long"})").starts_with("refused: field 'name': "));
  CHECK(filled(R"({"name":"x","age":"0"})").starts_with("refused: field 'age': "));
  CHECK(filled(R"({"name":"x","size":1})") ==
        "refused: unknown field 'size'; one of name, age, likes, colour");
  CHECK(filled("[]").starts_with("refused: "));
}

TEST_CASE("a question without fields is accepted by an empty object") {
  CHECK(filled("{}", R"({"message":"Sure?"})") == R"({"action":"accept","content":{}})");
  CHECK(filled("{}", R"({"mode":"url","url":"https://x","message":"m"})") ==
        R"({"action":"accept"})");
  CHECK(filled(R"({"a":"b"})", R"({"message":"Sure?"})").starts_with("refused: "));
}
