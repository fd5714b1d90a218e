#include "router/asked_for.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <string_view>

using namespace bridge;

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

TEST_CASE("who has declared nothing answers nothing") {
  const DeclaredAnswers declared;
  for (const char* method : {"sampling/createMessage", "elicitation/create", "roots/list", "a/b"}) {
    CAPTURE(method);
    CHECK_FALSE(covers(declared, method));
  }
}

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
