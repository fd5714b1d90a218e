#pragma once

#include <string_view>

#include "json/frame.hpp"

namespace bridge {

// A legacy server's response as a modern client must see it. Toward a legacy client a modern
// server's response stays byte for byte (what a legacy client does not know in a result it leaves
// alone), unless its resultType is `input_required` (mcp/input_required.hpp) or `task`. Pure.

bool is_input_required(const Frame& response);

/// Whether a legacy client can be given it: an error, or a result whose resultType is missing or
/// "complete". Any other value, of whatever JSON type, is an error (MCP 2026-07-28, basic,
/// "ResultType").
bool is_complete(const Frame& response);

/// `response`, to a request of `method`, as a modern client must see it. One pass at most over
/// the result. A result without resultType, or with one that is no string, is `complete`; a
/// cacheable one without ttlMs or cacheScope says 0 and "private", so that nobody keeps it. Of the
/// errors that the revision forbids (basic, "Error Codes"), -32002 becomes -32602. -32042 becomes
/// an `input_required` result with one `elicitation/create` of mode url for each of its
/// data.elicitations (at most 64); for a client that does not answer those it becomes -32021, and
/// -32603 where it cannot be made of the error or for the method. Anything else stays byte for
/// byte, also a result that is no object.
Frame for_modern_client(Frame response, std::string_view method, bool client_answers_urls);

/// Whether it is an error, or the result of a tool that says so itself (`isError`).
bool has_failed(const Frame& response);

/// -32021 in place of this response, since the server had to ask what the request did not declare
/// (MCP 2026-07-28, basic, "Error Codes"). `capabilities`: as JSON, those that it lacks.
/// `keeps_answer`: the error or result is in its data, since it may have another cause.
Frame missing_capability(const Frame& response, std::string_view capabilities, bool keeps_answer);

}  // namespace bridge
