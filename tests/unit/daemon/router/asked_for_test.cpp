#include "router/asked_for.hpp"

#include <doctest/doctest.h>

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
