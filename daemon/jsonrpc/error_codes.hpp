#pragma once

namespace bridge::json_rpc {

// JSON-RPC 2.0, section 5.1; the server errors as MCP and this bridge use them.
constexpr int parse_error = -32700;
constexpr int invalid_request = -32600;
constexpr int method_not_found = -32601;
constexpr int invalid_params = -32602;
constexpr int bridge_error = -32000;
constexpr int http_error = -32001;

}  // namespace bridge::json_rpc
