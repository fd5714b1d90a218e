#include "mcp/discovery.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <string_view>

#include "../json/frames.hpp"
#include "json/json_text.hpp"
#include "mcp/request_meta.hpp"

using namespace bridge;

namespace {

Judgement judged(int status, std::string_view body, ProbeFailure failure = ProbeFailure::none,
                 unsigned closed = 0) {
  std::optional<Frame> frame;
  if (!body.empty()) frame = frame_of(R"({"jsonrpc":"2.0","id":1,)" + std::string(body) + "}");
  return judge_probe({status, frame ? &*frame : nullptr, failure, closed});
}

}  // namespace

TEST_CASE("a probe says of its server what the specification makes of it") {
  using enum ProbeVerdict;
  struct Row {
    int status;
    const char* body;
    ProbeVerdict verdict;
  };
  const Row rows[] = {
      // A result whose supportedVersions holds the revision.
      {200, R"("result":{"supportedVersions":["2026-07-28"]})", modern},
      {0, R"("result":{"supportedVersions":["2025-11-25","2026\u002d07-28"]})", modern},
      {200, R"("result":{"supportedVersions":[7,{},"2026-07-28"]})", modern},
      {200, R"("result":{"supportedVersions":["2025-11-25"]})", legacy},
      {200, R"("result":{"supportedVersions":["2027-01-01"]})", refused},
      {200, R"("result":{"supportedVersions":[]})", refused},
      // One of the three errors of modern servers.
      {400, R"("error":{"code":-32020,"message":""})", modern},
      {400, R"("error":{"code":-32021,"message":""})", modern},
      {0, R"("error":{"code":-32021,"message":""})", modern},
      {400, R"("error":{"code":-32022,"message":"","data":{"supported":["2026-07-28"]}})", modern},
      {400, R"("error":{"code":-32022,"message":"","data":{"supported":["2027-01-01"]}})", refused},
      {400,
       R"("error":{"code":-32022,"message":"","data":{"supported":["2027-01-01","2025-06-18"]}})",
       legacy},
      {0, R"("error":{"code":-32022,"message":""})", refused},
      {500, R"("error":{"code":-32020,"message":""})", modern},
      // Responses that decide nothing.
      {401, "", undecided},
      {403, "", undecided},
      {407, "", undecided},
      {429, "", undecided},
      {503, "", undecided},
      {401, R"("error":{"code":-32601,"message":""})", undecided},
      {503, R"("error":{"code":-32022,"message":""})", undecided},
      // Any other JSON-RPC error or 4xx, an empty result.
      {200, R"("error":{"code":-32601,"message":""})", legacy},
      {0, R"("error":{"code":-32602,"message":""})", legacy},
      {400, R"("error":{"code":-32000,"message":"Server not initialized"})", legacy},
      {400, R"("error":{"code":"-32020","message":""})", legacy},
      {400, "", legacy},
      {404, "", legacy},
      {405, "", legacy},
      {415, "", legacy},
      {200, R"("result":{})", legacy},
      {200, R"("result":null)", legacy},
      {200, R"("result":{"supportedVersions":"2026-07-28"})", legacy},
      {202, "", legacy},
      // Other 5xx.
      {500, "", legacy_for_this_session},
      {502, "", legacy_for_this_session},
      {500, R"("error":{"code":-32603,"message":""})", legacy_for_this_session},
      {302, "", legacy_for_this_session},
  };
  for (const Row& row : rows) {
    CAPTURE(row.status);
    CAPTURE(row.body);
    CHECK(judged(row.status, row.body).verdict == row.verdict);
  }
  CHECK(judged(200, R"("result":{"supportedVersions":["2026-07-28"]})").text == "2026-07-28");
  CHECK(judged(0, "", ProbeFailure::not_delivered).verdict == undecided);
  CHECK(judged(0, "", ProbeFailure::connection_closed, 1).verdict == undecided);
  CHECK(judged(0, "", ProbeFailure::connection_closed, 2).verdict == legacy_for_this_session);
  CHECK(judged(0, "", ProbeFailure::no_answer).verdict == legacy_for_this_session);
  CHECK(judged(0, "", ProbeFailure::child_ended).verdict == legacy_for_this_session);
}

TEST_CASE("a refusal names the server's revisions, but nothing that is none") {
  std::string versions = R"("2027-01-01","bad\nline","\u001b[31m")";
  for (int i = 0; i < 20; ++i) versions += ",\"v" + std::to_string(i) + "\"";
  const Judgement refused =
      judged(400, R"("error":{"code":-32022,"data":{"supported":[)" + versions + "]}}");
  CHECK(
      refused.text ==
      "the server speaks 2027-01-01, v0, v1, v2, v3, v4, v5, v6; this bridge speaks 2024-11-05 to "
      "2025-11-25 and 2026-07-28");
}

TEST_CASE("a refusal that no server of the assumed era makes asks for another probe") {
  struct Row {
    Era assumed;
    int status;
    const char* error;
    bool contradicted;
  };
  const Row rows[] = {
      {Era::legacy, 400, R"({"code":-32020})", true},
      {Era::legacy, 404, R"({"code":-32021})", true},
      {Era::legacy, 400, R"({"code":-32022})", true},
      {Era::legacy, 0, R"({"code":-32022})", true},
      {Era::legacy, 400, R"({"code":-32602,"message":"params._meta is required"})", true},
      {Era::legacy, 400, R"({"code":-32602,"message":"name is required"})", false},
      {Era::legacy, 400, R"({"code":-32000,"message":"no session"})", false},
      {Era::legacy, 200, R"({"code":-32022})", false},
      {Era::legacy, 500, R"({"code":-32022})", false},
      {Era::legacy, 404, nullptr, false},
      {Era::modern, 400, nullptr, true},
      {Era::modern, 404, nullptr, true},
      {Era::modern, 0, nullptr, false},
      {Era::modern, 503, nullptr, false},
      {Era::modern, 400, R"({"code":-32000,"message":"Bad Request: Server not initialized"})",
       true},
      {Era::modern, 400,
       R"({"code":-32000,"message":"Bad Request: Unsupported protocol version: 2026-07-28"})",
       true},
      {Era::modern, 404, R"({"code":-32001,"message":"Session not found"})", true},
      {Era::modern, 404, R"({"code":-32601,"message":"Method not found: session/x"})", false},
      {Era::modern, 400, R"({"code":-32602,"message":"bad session"})", false},
      {Era::modern, 400, R"({"code":-32020,"message":"session"})", false},
      {Era::modern, 400, R"({"code":-32000,"message":"out of tea"})", false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.status);
    CAPTURE(row.error);
    std::optional<Frame> frame;
    if (row.error != nullptr) {
      frame = frame_of(R"({"id":1,"error":)" + std::string(row.error) + "}");
    }
    CHECK(contradicts(row.assumed, row.status, frame ? &*frame : nullptr) == row.contradicted);
  }
}

TEST_CASE("the probe is a modern request") {
  RequestIdentity identity;
  identity.client_info = R"({"name":"n","version":"1"})";
  const Frame frame = frame_of(discover_request(UpstreamId{4}, identity));
  CHECK(frame.is_modern());
  CHECK(frame.method == "server/discover");
  CHECK(frame.text(frame.id) == "4");
  CHECK(missing_request_meta(frame) == nullptr);
}

TEST_CASE("a legacy client is told what a modern server said") {
  const std::string discovered =
      R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"resources":{"subscribe":true},"logging":{},"extensions":{"io.modelcontextprotocol/tasks":{},"x":{}}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"2"}},"instructions":"i\n","ttlMs":1})";
  CHECK(
      initialize_result_of(discovered, "2025-06-18", "t") ==
      R"({"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{"subscribe":true},"logging":{},"extensions":{"x":{}}},"serverInfo":{"name":"s","version":"2"},"instructions":"i\n"})");
  CHECK(
      initialize_result_of(
          R"({"capabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}},"tools":{}}})",
          "2026-07-28", "https://h/\"x\"") ==
      R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"https://h/\"x\"","version":"unknown"}})");
  for (const char* hostile :
       {"", "null", "[]", "{}", R"({"capabilities":[],"_meta":7,"instructions":{}})",
        R"({"_meta":{"io.modelcontextprotocol/serverInfo":"x"}})"}) {
    CHECK(
        initialize_result_of(hostile, "\",", "t") ==
        R"({"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"t","version":"unknown"}})");
  }
}

TEST_CASE("a modern client is told what a legacy server said") {
  CHECK(
      discover_result_of(
          R"({"protocolVersion":"2025-11-25","capabilities":{"tasks":{"list":{}},"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"2"},"instructions":"i"})",
          "t") ==
      R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"2"}},"instructions":"i","ttlMs":0,"cacheScope":"private"})");
  CHECK(
      discover_result_of("{}", "t") ==
      R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"t","version":"unknown"}},"ttlMs":0,"cacheScope":"private"})");
  const std::string modern = discover_result_of(R"({"capabilities":{"logging":{}}})", "t");
  CHECK(find_member(initialize_result_of(modern, "", "u"), "capabilities") == R"({"logging":{}})");
}
