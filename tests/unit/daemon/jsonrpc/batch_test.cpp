#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "frames.hpp"

using bridge::fault_of;
using bridge::FrameFault;
using bridge::is_batch;
using bridge::split_batch;

namespace {

std::vector<std::string> elements(std::string_view text) {
  const auto split = split_batch(text);
  const auto* parts = std::get_if<std::vector<std::string_view>>(&split);
  REQUIRE(parts != nullptr);
  return {parts->begin(), parts->end()};
}

int batch_fault(std::string_view text) {
  const auto split = split_batch(text);
  const auto* fault = std::get_if<FrameFault>(&split);
  return fault == nullptr ? 0 : fault->code;
}

}  // namespace

TEST_CASE("a text that begins with an array is a batch") {
  CHECK(is_batch("[]"));
  CHECK(is_batch(" \t\r\n[1"));
  CHECK_FALSE(is_batch(R"({"id":[]})"));
  CHECK_FALSE(is_batch("\"[\""));
  CHECK_FALSE(is_batch(""));
  CHECK_FALSE(is_batch("  "));
}

TEST_CASE("a batch falls into its elements, each with its own bytes") {
  CHECK(elements(R"( [ {"id":1,"method":"a"} ,{"method":"b","params":{"x":[1, 2]}}, 7,"x"] )") ==
        std::vector<std::string>{R"({"id":1,"method":"a"})",
                                 R"({"method":"b","params":{"x":[1, 2]}})", "7", "\"x\""});
}

TEST_CASE("an empty batch is invalid") {
  CHECK(batch_fault("[]") == -32600);
  CHECK(batch_fault(" [ ] ") == -32600);
}

TEST_CASE("a nested batch is an element that is no frame") {
  const auto parts = elements(R"([[{"id":1,"method":"a"}],{"id":2,"method":"a"}])");
  REQUIRE(parts.size() == 2);
  CHECK(fault_of(parts[0]) == -32600);
  CHECK(fault_of(parts[1]) == 0);
}

TEST_CASE("in a mixed batch each element stands for itself") {
  const auto parts = elements(
      R"([1,{"id":1,"method":"a"},{"id":null,"method":"a"},{"id":1,"result":{}},{"method":"b"}])");
  REQUIRE(parts.size() == 5);
  CHECK(fault_of(parts[0]) == -32600);
  CHECK(fault_of(parts[1]) == 0);
  CHECK(fault_of(parts[2]) == -32600);
  CHECK(fault_of(parts[3]) == 0);
  CHECK(fault_of(parts[4]) == 0);
}

TEST_CASE("the whole batch is checked before any of it counts") {
  for (const char* text : {"[", "[1", "[1,2}", "[1,]", "[1 2]", "[1] 2", "[1][2]",
                           R"([{"id":1,"method":"a"},{"id"}])", R"([{"id":1,"method":"a"})"}) {
    CAPTURE(text);
    CHECK(batch_fault(text) == -32700);
  }
  CHECK(batch_fault("[\"\xFF\"]") == -32700);
}

TEST_CASE("a batch's own array is a level like any other") {
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  CHECK(batch_fault(nested(1024)) == 0);
  CHECK(batch_fault(nested(1025)) == -32600);
  CHECK(batch_fault(nested(200'000)) == -32600);
}

TEST_CASE("a batch has at most 10000 messages") {
  const auto ones = [](std::size_t count) {
    std::string text = "[1";
    for (std::size_t i = 1; i < count; ++i) text += ",1";
    return text + "]";
  };
  CHECK(elements(ones(10'000)).size() == 10'000);
  CHECK(batch_fault(ones(10'001)) == -32600);
}
