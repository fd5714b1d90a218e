#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "json/frame.hpp"

using namespace bridge;

namespace {

std::vector<ParsedFrame> elements(std::string_view text) {
  auto batch = parse_batch(text);
  auto* all = std::get_if<std::vector<ParsedFrame>>(&batch);
  REQUIRE(all != nullptr);
  return std::move(*all);
}

/// The error's code; 0: there is none.
int batch_fault(std::string_view text) {
  const auto batch = parse_batch(text);
  const auto* fault = std::get_if<FrameFault>(&batch);
  return fault == nullptr ? 0 : fault->code;
}

/// Everything about a parsed message, as text.
std::string described(const ParsedFrame& parsed) {
  if (const auto* fault = std::get_if<FrameFault>(&parsed)) return std::string(fault->reason);
  const Frame& frame = std::get<Frame>(parsed);
  std::string all = frame.bytes + "|" + frame.method + "|" + (frame.id_is_null ? "null" : "");
  for (const Slice part :
       {frame.id, frame.params, frame.result, frame.error, frame.progress_token, frame.request_id,
        frame.meta, frame.protocol_version, frame.subscription_id, frame.result_type}) {
    all += "|";
    all += frame.text(part);
  }
  return all;
}

}  // namespace

TEST_CASE("a text that begins with an array is a batch, an empty one is invalid") {
  CHECK(is_batch("[]"));
  CHECK(is_batch(" \t\r\n[1"));
  CHECK_FALSE(is_batch(R"({"id":[]})"));
  CHECK_FALSE(is_batch("\"[\""));
  CHECK_FALSE(is_batch(""));
  CHECK_FALSE(is_batch("  "));
  CHECK(batch_fault("[]") == -32600);
  CHECK(batch_fault(" [ ] ") == -32600);
}

TEST_CASE("each element of a batch is what it is alone, wherever it stands") {
  const std::vector<std::string> alone = {
      R"({"id":1,"method":"a"})",
      R"({ "method" : "b" , "params" : {"x":[1, 2]} })",
      R"({"id":"q","method":"c","params":{"_meta":{"progressToken":"t\u0041"},"y":"]"}})",
      R"({"method":"notifications/progress","params":{"progressToken":7,"progress":1}})",
      R"({"method":"notifications/cancelled","params":{"requestId":"q"}})",
      R"({"id":3,"result":{"a":[{}]}})",
      R"({"id":4,"result":{"resultType":"complete"}})",
      R"({"id":5,"method":"d","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"v"}}})",
      R"({"method":"e","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"s"}}})",
      R"({"id":null,"error":{"code":-1,"message":"m"}})",
      R"({"id":1,"id":2,"method":"a"})",
      R"({"id":1,"method":"a","result":1})",
      R"({})",
      R"([{"id":1,"method":"a"}])",
      "7",
      R"("x")",
      "null",
  };
  std::string text = " [ ";
  for (const std::string& element : alone) text += (text.size() > 3 ? " ,\n" : "") + element;
  const auto parsed = elements(text + " ] ");
  REQUIRE(parsed.size() == alone.size());
  for (std::size_t at = 0; at < alone.size(); ++at)
    CHECK(described(parsed[at]) == described(parse_frame(alone[at])));
}

TEST_CASE("the whole batch is checked before any of it counts") {
  for (const char* text :
       {"[", "[1", "[1,2}", "[1,]", "[1 2]", "[1] 2", "[1][2]", "[{}", "[{}}", "[{} {}]",
        R"([{"id":1,"method":"a"},{"id"}])", R"([{"id":1,"method":"a"})"})
    CHECK_MESSAGE(batch_fault(text) == -32700, text);
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
