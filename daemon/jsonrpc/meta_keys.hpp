#pragma once

#include <cstddef>
#include <string_view>

namespace bridge {

/// The names in `_meta` that MCP 2026-07-28 reserves (basic, "`_meta`"; schema, RequestMetaObject,
/// NotificationMetaObject, ResultMetaObject).
namespace meta_key {
constexpr std::string_view protocol_version = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view client_capabilities = "io.modelcontextprotocol/clientCapabilities";
constexpr std::string_view client_info = "io.modelcontextprotocol/clientInfo";
constexpr std::string_view log_level = "io.modelcontextprotocol/logLevel";
constexpr std::string_view subscription_id = "io.modelcontextprotocol/subscriptionId";
constexpr std::string_view server_info = "io.modelcontextprotocol/serverInfo";
constexpr std::string_view progress_token = "progressToken";

/// No spelling of one that a request or a notification may carry is shorter, but of progressToken.
constexpr std::size_t shortest_of_requests = log_level.size();
}  // namespace meta_key

}  // namespace bridge
