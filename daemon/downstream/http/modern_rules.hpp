#pragma once

#include <optional>
#include <string_view>

#include "downstream/http/posted_messages.hpp"
#include "http/request_head.hpp"
#include "http/response.hpp"
#include "mcp/tool_headers.hpp"

namespace bridge {

// What a POST of MCP 2026-07-28 must be before the router sees it, and the status of what it is
// answered with (MCP 2026-07-28, Streamable HTTP). Pure.

/// Whether the head says no revision, or one that is known in either era.
bool names_known_version(const RequestHead& head);

/// 400 with the -32022 that names all revisions. REQUIRES: !names_known_version().
HttpResponse unknown_version(const RequestHead& head, const PostedMessages& posted);

/// Whether the head says the revision that has neither sessions nor streams of their own.
bool names_modern_version(const RequestHead& head);

/// Whether it speaks the revision without sessions: a request in it says its revision, or else the
/// head says that one. An `initialize` that does not say it opens a legacy session all the same
/// ("Versioning: Backward Compatibility").
bool is_modern(const RequestHead& head, const PostedMessages& posted);

/// Why it is refused, under the id of its request: no single request or notification, head and body
/// that do not agree ("Server Validation"; `known` are the tools whose parameters have headers), a
/// revision that is not served, no `_meta`. REQUIRES: is_modern().
std::optional<HttpResponse> modern_fault(const RequestHead& head, const PostedMessages& posted,
                                         const HeadersOfTools& known);

/// The status of a response that comes as one body: 404 with -32601, 400 with the errors that MCP
/// itself defines, else 200.
int status_of_answer(std::string_view response);

}  // namespace bridge
