#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "mcp/handshake.hpp"
#include "router/crossing/modern_to_legacy.hpp"
#include "router_fixture.hpp"

namespace bridge {

inline constexpr std::string_view everything = R"({"sampling":{},"elicitation":{},"roots":{}})";

/// A legacy upstream with a modern client.
struct LegacyUpstreamRouter : OpenRouter {
  explicit LegacyUpstreamRouter(const RouterOptions& options = {}) : OpenRouter(options) {}

  void modern_call(const FakeClient& from, std::string_view id, std::string_view name = "t",
                   std::string_view capabilities = everything) {
    modern(from, id, "tools/call", fmt::format(R"("name":"{}",)", name), capabilities);
  }
  void retry_with(const FakeClient& from, std::string_view id, std::string_view state,
                  std::string_view responses, std::string_view name = "t",
                  std::string_view more = {}) {
    modern(from, id, "tools/call",
           fmt::format(R"("requestState":"{}","inputResponses":{},"name":"{}",)", state, responses,
                       name),
           everything, more);
  }
  void retry(const FakeClient& from, std::string_view id, std::string_view state,
             std::string_view result = R"({"role":"x"})", std::string_view name = "t") {
    retry_with(from, id, state, fmt::format(R"({{"1":{}}})", result), name);
  }
  static std::string state_in(std::string_view line) {
    return find_string(find_member(line, "result").value_or("{}"), "requestState").value_or("");
  }
  /// The state in the only line that the client was sent: an `input_required` result.
  std::string state_of(FakeClient& to) {
    advance(ModernToLegacy::gathering_time);
    const std::string line = to.take_line();
    CHECK(contains(line, R"("resultType":"input_required")"));
    return state_in(line);
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

struct ModernClient : LegacyUpstreamRouter {
  using LegacyUpstreamRouter::LegacyUpstreamRouter;
  FakeClient& client = connect();
};

struct OneModern : ModernClient {
  explicit OneModern(const RouterOptions& options = {}) : ModernClient(options) {
    modern_call(client, R"("c")");
    call_id = id_of_call("t");
  }
  std::string ask_about(std::string_view raw_id = "77") {
    ask(raw_id, call_id);
    return state_of(client);
  }
  UpstreamId call_id{};
};

inline Lines answer_of(std::string_view raw_id, std::string_view result = R"({"role":"x"})") {
  return {fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", raw_id, result)};
}

}  // namespace bridge
