#include <doctest/doctest.h>

#include <string>

#include "frames.hpp"

using bridge::fault_of;
using bridge::frame_of;

// Every open array or object counts as a level, and the message itself is the first one. So
// `params` is the second level, and an array in it the third.

namespace {

/// A message that is `levels` deep.
std::string in_params(std::size_t levels) {
  return R"({"id":1,"method":"a","params":{"x":)" + std::string(levels - 2, '[') +
         std::string(levels - 2, ']') + "}}";
}

std::string in_result(std::size_t levels) {
  std::string text = R"({"id":1,"result":)";
  for (std::size_t level = 1; level < levels; ++level) text += R"({"a":)";
  return text + '0' + std::string(levels, '}');
}

std::string in_meta(std::size_t levels) {
  return R"({"id":1,"method":"a","params":{"_meta":{"x":)" + std::string(levels - 3, '[') +
         std::string(levels - 3, ']') + "}}}";
}

std::string reason_of(const std::string& text) {
  const auto parsed = bridge::parse_frame(text);
  return std::string(std::get<bridge::FrameFault>(parsed).reason);
}

}  // namespace

TEST_CASE("1000 levels and 1024 levels pass unchanged") {
  for (const std::size_t levels : {std::size_t{1000}, std::size_t{1023}, std::size_t{1024}}) {
    CAPTURE(levels);
    CHECK(frame_of(in_params(levels)).bytes == in_params(levels));
    CHECK(frame_of(in_result(levels)).bytes == in_result(levels));
    CHECK(frame_of(in_meta(levels)).bytes == in_meta(levels));
  }
}

TEST_CASE("1025 levels are invalid, and the answer says why") {
  CHECK(fault_of(in_params(1025)) == -32600);
  CHECK(fault_of(in_result(1025)) == -32600);
  CHECK(fault_of(in_meta(1025)) == -32600);
  CHECK(reason_of(in_params(1025)).find("1024") != std::string::npos);
}

TEST_CASE("200,000 levels are an error and no crash") {
  CHECK(fault_of(in_params(200'000)) == -32600);
  CHECK(fault_of(in_result(200'000)) == -32600);
  CHECK(fault_of(in_meta(200'000)) == -32600);
  CHECK(fault_of(std::string(200'000, '[')) == -32600);
  CHECK(fault_of(std::string(200'000, '[') + std::string(200'000, ']')) == -32600);
  CHECK(fault_of(R"({"id":)" + std::string(200'000, '[')) == -32600);
  std::string params = R"({"id":1,"method":"a")";
  for (int i = 0; i < 200'000; ++i) params += R"(,"params":{"params":{"_meta":{}}})";
  CHECK(fault_of(params + "}") == -32600);
}
