// BEHAVIOUR, "Jobs: submitting".
#include "jobs/submitted_request.hpp"

#include <doctest/doctest.h>

#include <string>

namespace bridge {
namespace {

constexpr JobNumber seven{7};

SubmittedRequest read(std::string_view params) {
  auto read = read_submitted(params, seven);
  if (const auto* wrong = std::get_if<std::string>(&read)) FAIL(*wrong);
  return std::move(std::get<SubmittedRequest>(read));
}
std::string fault(std::string_view params) {
  auto read = read_submitted(params, seven);
  const auto* wrong = std::get_if<std::string>(&read);
  return wrong != nullptr ? *wrong : std::string();
}
std::uint64_t digest(std::string_view params) {
  return read(R"({"key":"k","method":"tools/call","params":)" + std::string(params) + "}").digest;
}

TEST_CASE("the request has the job's number as its id and its progress token") {
  CHECK(read(R"({"method":"tools/list"})").request.bytes ==
        R"({"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{"progressToken":7}}})");
  CHECK(
      read(R"({"method":"m","params":{"a":1e400,"_meta":{"progressToken":"x","own":0.10}}})")
          .request.bytes ==
      R"({"jsonrpc":"2.0","id":7,"method":"m","params":{"a":1e400,"_meta":{"own":0.10,"progressToken":7}}})");
  CHECK(read(R"({"method":"m","params":{"_meta":{"progressToken":1}}})").request.bytes ==
        R"({"jsonrpc":"2.0","id":7,"method":"m","params":{"_meta":{"progressToken":7}}})");
}

TEST_CASE("what a modern client says of itself is not said of its job") {
  const auto request =
      read(
          R"({"method":"m","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"x":1}}})")
          .request;
  CHECK_FALSE(request.is_modern());
  CHECK(request.bytes.find("io.modelcontextprotocol") == std::string::npos);
  CHECK(request.bytes.find(R"("x":1)") != std::string::npos);
}

TEST_CASE("the tool, the key and the time are read") {
  const auto call = read(
      R"({"method":"tools/call","key":"a\u0062","keepMs":5,"params":{"name":"t\u0031","arguments":{}}})");
  CHECK(call.tool == "t1");
  CHECK(call.key == "ab");
  CHECK(call.keep == std::chrono::milliseconds(5));
  CHECK(read(R"({"method":"prompts/get","params":{"name":"p"}})").tool.empty());
  const std::string long_name(1000, 'x');
  CHECK(read(R"({"method":"tools/call","params":{"name":")" + long_name + R"("}})").tool.size() ==
        longest_shown_name);
  CHECK(shortened(std::string(255, 'x') + "\u00e9").size() == 255);
}

TEST_CASE("the digest goes by value, and by numbers as they are written") {
  const auto plain = digest(R"({"name":"t","arguments":{"a":1,"b":"A"}})");
  CHECK(digest(R"({ "arguments":{"b":"\u0041","a":1},"name":"t" })") == plain);
  CHECK(digest(R"({"name":"t","arguments":{"a":1,"b":"A"},"_meta":{"x":1}})") == plain);
  CHECK(digest(
            R"({"name":"t","arguments":{"a":1,"b":"A"},"requestState":"s","inputResponses":{}})") ==
        plain);
  CHECK(digest(R"({"name":"t","arguments":{"a":1.0,"b":"A"}})") != plain);
  CHECK(digest(R"({"name":"t","arguments":{"a":"1","b":"A"}})") != plain);
  CHECK(digest(R"({"name":"u","arguments":{"a":1,"b":"A"}})") != plain);
}

TEST_CASE("what cannot be submitted is refused") {
  for (const char* method :
       {"initialize", "server/discover", "ping", "subscriptions/listen", "logging/setLevel",
        "resources/subscribe", "resources/unsubscribe", "bridge/status", "notifications/x", ""}) {
    CAPTURE(method);
    CHECK_FALSE(fault(R"({"method":")" + std::string(method) + R"("})").empty());
  }
  CHECK_FALSE(fault("").empty());
  CHECK_FALSE(fault("[]").empty());
  CHECK_FALSE(fault(R"({"method":7})").empty());
  CHECK_FALSE(fault(R"({"method":"m","params":[1]})").empty());
  CHECK_FALSE(fault(R"({"method":"m","key":""})").empty());
  CHECK_FALSE(fault(R"({"method":"m","key":")" + std::string(257, 'k') + R"("})").empty());
  CHECK(fault(R"({"method":"m","key":")" + std::string(256, 'k') + R"("})").empty());
  CHECK_FALSE(fault(R"({"method":")" + std::string(257, 'm') + R"("})").empty());
  CHECK_FALSE(fault(R"({"method":"m","keepMs":-1})").empty());
  CHECK_FALSE(
      fault(R"({"method":"m","params":{"_meta":{"progressToken":1,"progressToken":2}}})").empty());
}

}  // namespace
}  // namespace bridge
