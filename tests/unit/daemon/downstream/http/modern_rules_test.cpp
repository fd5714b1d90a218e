// BEHAVIOUR, "HTTP frontend: modern requests".
#include "downstream/http/posted_messages.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "json/json_text.hpp"
#include "mcp/handshake.hpp"

namespace bridge {
namespace {

const std::string meta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";

std::string call(const std::string& more = {}) {
  return R"({"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"echo",)" + more +
         meta + "}}";
}

struct Posted {
  std::vector<std::pair<std::string, std::string>> headers{
      {"mcp-protocol-version", "2026-07-28"}, {"mcp-method", "tools/call"}, {"mcp-name", "echo"}};
  std::string body = call();
  HeadersOfTools known{};

  RequestHead head() const {
    RequestHead head;
    head.method = "POST";
    for (const auto& [name, value] : headers) head.headers.push_back({name, value});
    return head;
  }
  PostedMessages messages() const { return std::get<PostedMessages>(read_posted(body)); }
  bool speaks_modern() const { return is_modern(head(), messages()); }
  /// `STATUS CODE ID` of the refusal; empty: not refused.
  std::string fault() const {
    const auto response = modern_fault(head(), messages(), known);
    if (!response) return {};
    const auto error = find_member(response->body, "error");
    REQUIRE(error);
    return std::to_string(response->status) + ' ' +
           std::string(find_member(*error, "code").value_or("")) + ' ' +
           std::string(find_member(response->body, "id").value_or(""));
  }
};

Posted with_body(std::string body) {
  Posted posted;
  posted.body = std::move(body);
  return posted;
}

Posted without(std::string_view header) {
  Posted posted;
  std::erase_if(posted.headers, [header](const auto& one) { return one.first == header; });
  return posted;
}

Posted with(std::string header, std::string value) {
  Posted posted = without(header);
  posted.headers.emplace_back(std::move(header), std::move(value));
  return posted;
}

const std::string bare = R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})";
const std::string legacy_initialize = R"({"jsonrpc":"2.0","id":1,"method":"initialize"})";

TEST_CASE("a POST is of the revision that its request says, or else its head") {
  CHECK(Posted().speaks_modern());
  CHECK(without("mcp-protocol-version").speaks_modern());
  CHECK(with("mcp-protocol-version", "2025-11-25").speaks_modern());
  CHECK(with_body(bare).speaks_modern());
  CHECK(with_body("[" + bare + "," + call() + "]").speaks_modern());
  Posted old = with("mcp-protocol-version", "2025-11-25");
  old.body = bare;
  CHECK_FALSE(old.speaks_modern());
  old.headers.clear();
  CHECK_FALSE(old.speaks_modern());
  CHECK_FALSE(with_body(legacy_initialize).speaks_modern());
}

TEST_CASE("what head and body agree on passes") {
  CHECK(Posted().fault().empty());
  CHECK(with("mcp-name", "=?base64?ZWNobw==?=").fault().empty());
  CHECK(with("mcp-param-unknown", "x").fault().empty());
  CHECK(with_body(R"({"jsonrpc":"2.0","method":"notifications/x"})").fault().empty());
}

TEST_CASE("what they do not agree on is refused under the id of the request") {
  const std::string mismatch = R"(400 -32020 "a")";
  CHECK(without("mcp-name").fault() == mismatch);
  Posted mirrored = with_body(call(R"("arguments":{"region":"x"},)"));
  mirrored.known["echo"] = {{{"region"}, "Region", ParameterType::string}};
  CHECK(mirrored.fault() == mismatch);
  mirrored.headers.emplace_back("mcp-param-region", "x");
  CHECK(mirrored.fault().empty());
}

TEST_CASE("a revision that is not served is told which are") {
  Posted future = with("mcp-protocol-version", "2099-01-01");
  CHECK(future.fault() == R"(400 -32020 "a")");  // the body has a different one
  future.body.replace(future.body.find("2026-07-28"), 10, "2099-01-01");
  CHECK(future.fault() == R"(400 -32022 "a")");
  CHECK(modern_fault(future.head(), future.messages(), {})
            ->body.find(R"("supported":["2026-07-28"],)") != std::string::npos);
  future.body = bare;
  CHECK_FALSE(names_known_version(future.head()));
  const HttpResponse refused = unknown_version(future.head(), future.messages());
  CHECK(refused.status == 400);
  CHECK(find_member(refused.body, "id") == "1");
  const auto data = find_member(*find_member(refused.body, "error"), "data");
  REQUIRE(data);
  CHECK(find_member(*data, "supported") ==
        R"(["2026-07-28","2024-11-05","2025-03-26","2025-06-18","2025-11-25"])");
  CHECK(find_member(*data, "requested") == R"("2099-01-01")");
}

TEST_CASE("a request without what each must carry is refused by its params") {
  Posted posted = with_body(bare);
  posted.headers[1].second = "tools/list";
  CHECK(posted.fault() == "400 -32602 1");
  posted.body =
      R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})";
  CHECK(posted.fault() == "400 -32602 1");
  posted.body =
      R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":1}}})";
  CHECK(posted.fault() == "400 -32602 1");
}

TEST_CASE("only one message, and no response") {
  CHECK(with_body("[" + call() + "]").fault() == "400 -32600 null");
  CHECK(with_body("[1]").fault() == "400 -32600 null");
  CHECK(with_body(R"({"jsonrpc":"2.0","id":1,"result":{}})").fault() == "400 -32600 null");
}

TEST_CASE("the status says which errors there are") {
  const auto status = [](int code) {
    return status_of_answer(R"({"jsonrpc":"2.0","id":1,"error":{"code":)" + std::to_string(code) +
                            R"(,"message":"m"}})");
  };
  CHECK(status(-32601) == 404);
  for (const int code : {-32020, -32021, -32022}) CHECK(status(code) == 400);
  for (const int code : {-32602, -32603, -32000, -32001, 5}) CHECK(status(code) == 200);
  CHECK(status_of_answer(R"({"id":1,"result":{"error":{"code":-32601}}})") == 200);
}

}  // namespace
}  // namespace bridge
