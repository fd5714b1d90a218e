#include "elicitation/form.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace client;

namespace {

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
