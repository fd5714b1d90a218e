#include <doctest/doctest.h>

#include <string>

#include "frames.hpp"
#include "json/frame.hpp"

using namespace bridge;

namespace {

constexpr const char* modern =
    R"({"id":1,"method":"a","params":{"x":{}, "_meta": {"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/protocolVersion": "2026-07-28" ,"progressToken":3} }})";

}  // namespace

TEST_CASE("a request that says its revision in its _meta is a modern one") {
  const Frame frame = frame_of(modern);
  CHECK(frame.is_modern());
  CHECK(frame.text(frame.protocol_version) == "\"2026-07-28\"");
  CHECK(frame.text(frame.progress_token) == "3");
  CHECK(
      frame.text(frame.meta) ==
      R"({"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/protocolVersion": "2026-07-28" ,"progressToken":3})");
}

TEST_CASE("the revision is found only where it belongs, and only as a string") {
  for (
      const char* text : {
          R"({"id":1,"method":"a"})",
          R"({"id":1,"method":"a","params":{}})",
          R"({"id":1,"method":"a","params":{"_meta":{}}})",
          R"({"id":1,"method":"a","params":{"_meta":["io.modelcontextprotocol/protocolVersion"]}})",
          R"({"id":1,"method":"a","params":[{"_meta":{"io.modelcontextprotocol/protocolVersion":"v"}}]})",
          R"({"id":1,"method":"a","params":{"io.modelcontextprotocol/protocolVersion":"v"}})",
          R"({"id":1,"method":"a","params":{"a":{"_meta":{"io.modelcontextprotocol/protocolVersion":"v"}}}})",
          R"({"id":1,"method":"a","params":{"_meta":{"_meta":{"io.modelcontextprotocol/protocolVersion":"v"}}}})",
          R"({"id":1,"method":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"v"}})",
          R"({"id":1,"method":"a","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":1}}})",
          R"({"id":1,"method":"a","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":null}}})",
          R"({"id":1,"method":"a","params":{"_meta":{"io.modelcontextprotocol/protocolVersio":"v"}}})",
          R"({"id":1,"method":"a","params":{"_meta":{"io.modelcontextprotocol/protocolVersion2":"v"}}})",
          R"({"id":1,"result":{"_meta":{"io.modelcontextprotocol/protocolVersion":"v"}}})",
      }) {
    CAPTURE(text);
    const Frame frame = frame_of(text);
    CHECK_FALSE(frame.protocol_version.present());
    CHECK_FALSE(frame.is_modern());
  }
  const Frame notification = frame_of(
      R"({"method":"a","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"v"}}})");
  CHECK(notification.text(notification.protocol_version) == "\"v\"");
  CHECK_FALSE(notification.is_modern());
}

TEST_CASE("whether a request brings answers is seen from its params alone") {
  const auto brings_answers = [](std::string_view params) {
    return frame_of(R"({"id":1,"method":"a","params":)" + std::string(params) + "}")
        .has_input_answers;
  };
  CHECK(brings_answers(R"({"name":"x","requestState":"s"})"));
  CHECK(brings_answers(R"({"input\u0052esponses":{}})"));
  CHECK_FALSE(brings_answers(R"({"name":"x","uri":"u","taskId":"t","arguments":{}})"));
  CHECK_FALSE(brings_answers(R"({"arguments":{"requestState":"s","inputResponses":{}}})"));
}

TEST_CASE("the names of the revision and of the result's type may be escaped") {
  const Frame request = frame_of(
      R"({"id":1,"method":"a","params":{"\u005fmeta":{"io.modelcontextprotocol\/protocol\u0056ersion":"v"}}})");
  CHECK(request.is_modern());
  const Frame response = frame_of(R"({"id":1,"result":{"result\u0054ype":"task"}})");
  CHECK(response.text(response.result_type) == "\"task\"");
}

TEST_CASE("what MCP reserves in _meta stands there once or the message is no frame") {
  for (const std::string_view key :
       {meta_key::protocol_version, meta_key::subscription_id, meta_key::client_capabilities,
        meta_key::client_info, meta_key::log_level}) {
    CAPTURE(key);
    const std::string member = "\"" + std::string(key) + "\":";
    std::string escaped = member;
    escaped.replace(escaped.find('/'), 1, "\\u002f");
    for (const std::string& second : {member, escaped}) {
      CAPTURE(second);
      CHECK(fault_of(R"({"id":1,"method":"a","params":{"_meta":{)" + member + "\"a\",\"x\":[]," +
                     second + "1}}}") == -32600);
      CHECK(fault_of(R"({"method":"a","params":{"_meta":{)" + member + "{}," + second + "1}}}") ==
            -32600);
    }
    // Elsewhere it is an ordinary name.
    CHECK(fault_of(R"({"id":1,"method":"a","params":{)" + member + "1," + member + "1}}") == 0);
    CHECK(fault_of(R"({"id":1,"result":{"_meta":{)" + member + "1," + member + "1}}}") == 0);
  }
}

TEST_CASE("a notification of a subscription names it in its _meta") {
  for (const char* id : {"0", "\"\"", "\"listen-1\"", "-1.5e3"}) {
    CAPTURE(id);
    const Frame frame = frame_of(
        R"({"method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":)" +
        std::string(id) + "}}}");
    CHECK(frame.text(frame.subscription_id) == id);
  }
  for (const char* id : {"null", "true", "{}", "[1]"})
    CHECK_FALSE_MESSAGE(
        frame_of(
            R"({"method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":)" +
            std::string(id) + "}}}")
            .subscription_id.present(),
        id);
  CHECK_FALSE(
      frame_of(
          R"({"id":1,"method":"a","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}})")
          .subscription_id.present());
}

TEST_CASE("a result says what it is of at its top") {
  for (const char* type : {"1", "null", "{}"}) {
    const Frame odd = frame_of(R"({"id":1,"result":{"resultType":)" + std::string(type) + "}}");
    CHECK(odd.text(odd.result_type) == type);
  }
  const Frame frame =
      frame_of(R"({"result":{"a":[{"resultType":"x"}], "resultType" : "input_required"},"id":1})");
  CHECK(frame.text(frame.result_type) == "\"input_required\"");
  CHECK(frame.text(frame.result) ==
        R"({"a":[{"resultType":"x"}], "resultType" : "input_required"})");
  for (const char* result : {"{}", "null", "[]", "1", "\"resultType\"", R"([{"resultType":"x"}])",
                             R"({"a":{"resultType":"x"}})", R"({"resultTypes":"x"})"}) {
    CAPTURE(result);
    const Frame other = frame_of(R"({"id":1,"result":)" + std::string(result) + "}");
    CHECK(other.text(other.result) == result);
    CHECK_FALSE(other.result_type.present());
  }
  CHECK_FALSE(frame_of(R"({"id":1,"error":{"resultType":"x"}})").result_type.present());
  CHECK_FALSE(
      frame_of(R"({"id":1,"method":"a","params":{"resultType":"x"}})").result_type.present());
  CHECK(fault_of(R"({"id":1,"result":{"resultType":"complete","result\u0054ype":"task"}})") ==
        -32600);
}
