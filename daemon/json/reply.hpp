#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "json/failure.hpp"

namespace bridge::json_rpc {

// JSON-RPC 2.0, section 5.1; the server errors as MCP and this bridge use them.
constexpr int parse_error = -32700;
constexpr int invalid_request = -32600;
constexpr int method_not_found = -32601;
constexpr int invalid_params = -32602;
constexpr int bridge_error = -32000;
constexpr int http_error = -32001;

}  // namespace bridge::json_rpc

namespace bridge {

class JsonObject;

/// `{"jsonrpc":"2.0","id":…,"error":…}` of the bridge's own, without a newline.
/// `raw_id` is JSON: the bytes of the client's id, or `null`.
/// `raw_data` is JSON too; empty: there is none.
std::string error_reply(std::string_view raw_id, int code, std::string_view message,
                        std::string_view raw_data = {});
std::string error_reply(std::string_view raw_id, const Failure& failure);

std::string result_reply(std::string_view raw_id, std::string_view raw_result);
std::string result_reply(std::string_view raw_id, const JsonObject& result);

}  // namespace bridge

namespace bridge {

/// Which request a line answers of which only the first and the last bytes are known; nothing if
/// that is not certain. The line is taken for well-formed JSON: then a member before its last brace
/// is one of the message itself, whatever stands between. Pure.
std::optional<std::uint64_t> id_of_oversized_answer(std::string_view beginning,
                                                    std::string_view end);

/// What is told of it. `limit` in bytes.
Failure answer_too_large(std::size_t limit);

}  // namespace bridge
