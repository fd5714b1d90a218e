#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "mcp/handshake.hpp"
#include "router/suspended_calls.hpp"
#include "router_fixture.hpp"

namespace bridge {

inline constexpr std::string_view everything = R"({"sampling":{},"elicitation":{},"roots":{}})";

/// A legacy upstream with a modern client.
struct LegacyUpstreamRouter : OpenRouter {
  explicit LegacyUpstreamRouter(const RouterOptions& options = {}) : OpenRouter(options) {}

  void modern(const FakeClient& from, std::string_view id, std::string_view params,
              std::string_view method = "tools/call", std::string_view capabilities = everything) {
    send(
        from,
        fmt::format(
            R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{{{},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}}}})",
            id, method, params, capabilities));
  }
  void modern_call(const FakeClient& from, std::string_view id, std::string_view name = "t") {
    modern(from, id, fmt::format(R"("name":"{}")", name));
  }
  void retry(const FakeClient& from, std::string_view id, std::string_view state,
             std::string_view result = R"({"role":"x"})", std::string_view name = "t") {
    modern(from, id,
           fmt::format(R"("requestState":"{}","inputResponses":{{"1":{}}},"name":"{}")", state,
                       result, name));
  }
  /// The state in the only line that the client was sent: an `input_required` result.
  std::string state_of(FakeClient& to) {
    advance(SuspendedCalls::gathering_time);
    const std::string line = to.take_line();
    const std::string result(find_member(line, "result").value_or("{}"));
    CHECK(find_string(result, "resultType") == "input_required");
    return find_string(result, "requestState").value_or("");
  }
  bool has_nothing_left() const {
    return router.in_flight() == 0 &&
           std::none_of(upstream.sent.begin(), upstream.sent.end(), [this](const Outgoing& one) {
             return one.kind == OutgoingKind::request && upstream.is_under_way(one.id);
           });
  }
  bool refuses(FakeClient& whom) {
    return contains(whom.take_line(), R"("code":-32602)") && responses().empty();
  }
};

struct OneModern : LegacyUpstreamRouter {
  explicit OneModern(const RouterOptions& options = {}) : LegacyUpstreamRouter(options) {
    modern_call(client, R"("c")");
    call_id = id_of_call("t");
  }
  std::string ask_about(std::string_view raw_id = "77") {
    ask(raw_id, call_id);
    return state_of(client);
  }
  FakeClient& client = connect();
  UpstreamId call_id{};
};

inline Lines answer_of(std::string_view raw_id, std::string_view result = R"({"role":"x"})") {
  return {fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", raw_id, result)};
}

}  // namespace bridge
