#include "router/likely_caller.hpp"

#include <fmt/format.h>

#include <string_view>

#include "json/reply.hpp"
#include "mcp/methods.hpp"
#include "mcp/modern_result.hpp"
#include "router/client.hpp"
#include "router/requests_in_flight.hpp"
#include "router/server_request_table.hpp"

namespace bridge {

namespace {

/// Empty: this client's, or nobody's.
std::string_view caller_of(const ServerRequest& request, ClientId asked) {
  if (request.origin) return request.owner == asked ? "" : "another";
  switch (request.caller.kind) {
    case LikelyCaller::Kind::nobody: return "";
    case LikelyCaller::Kind::one: return request.caller.client == asked ? "" : "another";
    case LikelyCaller::Kind::several: return "unknown";
  }
  return "";
}

}  // namespace

LikelyCaller likely_caller(const RequestsInFlight& in_flight) {
  LikelyCaller caller;
  in_flight.each([&](UpstreamId, const PendingRequest& pending) {
    if (!pending.is_upstream || pending.is_own || pending.side == Era::modern ||
        !may_require_input(pending.method))
      return;
    if (caller.kind == LikelyCaller::Kind::nobody) {
      caller = {LikelyCaller::Kind::one, pending.client};
    } else if (caller.client != pending.client) {
      caller = {LikelyCaller::Kind::several, {}};
    }
  });
  return caller;
}

std::string notice_of_caller(const ServerRequest& request, const Client& asked) {
  if (!asked.declared.names(request.method)) return {};
  const std::string_view caller = caller_of(request, asked.id());
  if (caller.empty()) return {};
  return own_notification("notifications/bridge/question_about",
                          fmt::format(R"({{"requestId":{},"caller":"{}"}})", request.id, caller));
}

}  // namespace bridge
