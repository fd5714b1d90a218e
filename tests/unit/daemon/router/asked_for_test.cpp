// BEHAVIOUR, "Server requests: who can be asked".
#include "router/asked_for.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

using namespace bridge;

namespace {

constexpr AskedFor any_elicitation = AskedFor::elicitation_form | AskedFor::elicitation_url;

}  // namespace

TEST_CASE("each request of a known capability asks for it, any other for nothing") {
  const std::pair<std::string_view, AskedFor> requests[] = {
      {"sampling/createMessage", AskedFor::sampling},
      {"sampling/anything", AskedFor::sampling},
      {"roots/list", AskedFor::roots},
      {"elicitation/create", AskedFor::elicitation_form},
      {"elicitation/other", any_elicitation},
      {"foo/bar", AskedFor::anything},
      {"sampling", AskedFor::anything},
      {"samplings/x", AskedFor::anything},
      {"Roots/list", AskedFor::anything},
      {"tasks/get", AskedFor::anything},
      {"", AskedFor::anything},
  };
  for (const auto& [method, asked] : requests) {
    const auto& tried = method;  // clang 14 captures no structured binding
    CAPTURE(tried);
    CHECK(asked_for(method, "") == asked);
  }
}

TEST_CASE("an elicitation by URL is another capability than one by form") {
  const std::pair<std::string_view, AskedFor> questions[] = {
      {R"({"mode":"url"})", AskedFor::elicitation_url},
      {R"({"m\u006fde":"\u0075rl"})", AskedFor::elicitation_url},
      {R"({"mode":"form"})", AskedFor::elicitation_form},
      {R"({"mode":7})", AskedFor::elicitation_form},
      {R"({"requestedSchema":{"mode":"url"}})", AskedFor::elicitation_form},
      {"[]", AskedFor::elicitation_form},
  };
  for (const auto& [params, asked] : questions) {
    const auto& tried = params;  // clang 14 captures no structured binding
    CAPTURE(tried);
    CHECK(asked_for("elicitation/create", params) == asked);
  }
}

TEST_CASE("capabilities declare what stands in them as an object") {
  const std::pair<std::string_view, AskedFor> capabilities[] = {
      {"{}", AskedFor::anything},
      {"", AskedFor::anything},
      {"[]", AskedFor::anything},
      {"7", AskedFor::anything},
      {R"({"sampling":{}})", AskedFor::sampling},
      {R"({"sampling":null,"roots":false,"elicitation":7})", AskedFor::anything},
      {R"({"roots":{"listChanged":true},"sampling":{"tools":{}}})",
       AskedFor::sampling | AskedFor::roots},
      {R"({"elicitation":{}})", AskedFor::elicitation_form},
      {R"({"elicitation":{"x":1}})", AskedFor::elicitation_form},
      {R"({"elicitation":{"form":{}}})", AskedFor::elicitation_form},
      {R"({"elicitation":{"url":{}}})", AskedFor::elicitation_url},
      {R"({"elicitation":{"url":{},"form":{}}})", any_elicitation},
      {R"({"experimental":{"sampling":{}}})", AskedFor::anything},
  };
  for (const auto& [text, declared] : capabilities) {
    const auto& tried = text;  // clang 14 captures no structured binding
    CAPTURE(tried);
    CHECK(declared_by(text) == declared);
  }
}

namespace {

bool covers(const DeclaredAnswers& declared, std::string_view method,
            std::string_view params = "{}") {
  return declared.covers(method, asked_for(method, params));
}

std::string names(std::size_t count, std::size_t bytes = 1) {
  std::string list;
  for (std::size_t i = 0; i < count; ++i) {
    list += fmt::format(R"({}"{}")", i > 0 ? "," : "", std::string(bytes, 'x'));
  }
  return fmt::format(R"({{"methods":[{}]}})", list);
}

}  // namespace

TEST_CASE("who has only named its roots has not said whether it answers questions") {
  DeclaredAnswers declared;
  CHECK_FALSE(declared.has_declared());
  REQUIRE(declared.name_methods(R"({"methods":["roots/list"]})"));
  CHECK(covers(declared, "roots/list"));
  CHECK_FALSE(declared.has_declared());
  REQUIRE(declared.name_methods(R"({"methods":["roots/list","elicitation/create"]})"));
  CHECK(declared.has_declared());
}

TEST_CASE("the capabilities of an initialize count once it is said to be complete") {
  DeclaredAnswers declared;
  declared.initialize(R"({"sampling":{}})");
  CHECK_FALSE(covers(declared, "sampling/createMessage"));
  CHECK_FALSE(covers(declared, "foo/bar"));
  declared.initialized();
  CHECK(covers(declared, "sampling/createMessage"));
  CHECK_FALSE(covers(declared, "roots/list"));
  CHECK(covers(declared, "foo/bar"));
  declared.initialize(R"({"roots":{}})");
  CHECK_FALSE(covers(declared, "roots/list"));
  declared.initialized();
  CHECK(covers(declared, "roots/list"));
  CHECK_FALSE(covers(declared, "sampling/createMessage"));
}

TEST_CASE("without an initialize nothing is complete") {
  DeclaredAnswers declared;
  for (const char* method : {"sampling/createMessage", "elicitation/create", "roots/list", "a/b"})
    CHECK_FALSE(covers(declared, method));
  declared.initialized();
  CHECK_FALSE(covers(declared, "foo/bar"));
  declared.initialize("{}");
  CHECK_FALSE(covers(declared, "foo/bar"));
}

TEST_CASE("a client that answers elicitations by form is not asked for one by URL") {
  DeclaredAnswers declared;
  declared.initialize(R"({"elicitation":{}})");
  declared.initialized();
  CHECK(covers(declared, "elicitation/create"));
  CHECK_FALSE(covers(declared, "elicitation/create", R"({"mode":"url"})"));
  REQUIRE(declared.name_methods(R"({"methods":["elicitation/create"]})"));
  CHECK(covers(declared, "elicitation/create", R"({"mode":"url"})"));
}

TEST_CASE("named methods are those and no others, and the last list counts") {
  DeclaredAnswers declared;
  REQUIRE(declared.name_methods(R"({"methods": [ "foo\/bar" , "roots/list"], "x": 1})"));
  CHECK(covers(declared, "foo/bar"));
  CHECK(covers(declared, "roots/list"));
  CHECK_FALSE(covers(declared, "foo/baz"));
  CHECK_FALSE(covers(declared, "sampling/createMessage"));
  declared.initialize("{}");
  CHECK(covers(declared, "roots/list"));
  REQUIRE(declared.name_methods(R"({"methods":["foo/baz"]})"));
  CHECK_FALSE(covers(declared, "roots/list"));
  CHECK(covers(declared, "foo/baz"));
  REQUIRE(declared.name_methods(R"({"methods":[ ]})"));
  CHECK_FALSE(covers(declared, "foo/baz"));
}

TEST_CASE("a list of another form or over a bound changes nothing") {
  DeclaredAnswers declared;
  REQUIRE(declared.name_methods(R"({"methods":["a"]})"));
  const std::string too_many = names(DeclaredAnswers::max_methods + 1);
  const std::string too_long = names(1, DeclaredAnswers::max_method_bytes + 1);
  for (const std::string_view params :
       {std::string_view(), std::string_view("[]"), std::string_view("{}"),
        std::string_view(R"({"methods":"b"})"), std::string_view(R"({"methods":{"b":1}})"),
        std::string_view(R"({"methods":["b",7]})"), std::string_view(R"({"methods":[["b"]]})"),
        std::string_view(too_many), std::string_view(too_long)}) {
    CAPTURE(params);
    CHECK_FALSE(declared.name_methods(params));
    CHECK(covers(declared, "a"));
    CHECK_FALSE(covers(declared, "b"));
  }
  CHECK(declared.name_methods(names(DeclaredAnswers::max_methods)));
  CHECK(declared.name_methods(names(1, DeclaredAnswers::max_method_bytes)));
}
