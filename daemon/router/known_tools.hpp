#pragma once

#include <string>
#include <string_view>

#include "json/frame.hpp"
#include "mcp/tool_headers.hpp"
#include "router/call.hpp"
#include "router/router_context.hpp"

namespace bridge {

/// The server's tools as seen in passing lists: the last complete list, and the parameters to
/// mirror into headers (MCP 2026-07-28, Streamable HTTP, "Custom Headers from Tool Parameters").
///
/// Owned by the router; the loop's thread only. Memory: tool_header_limit and that of ToolList.
class KnownTools {
 public:
  explicit KnownTools(const RouterContext& context) : context_(context) {}

  const HeadersOfTools& annotations() const { return headers_; }
  const ToolList& list() const { return list_; }
  /// Learns from the response if it is a page of the list, and leaves out tools that clients must
  /// not see.
  void see(Frame& response, const Call& call);
  /// The list has changed, or belongs to another server.
  void forget() {
    headers_.clear();
    list_.forget();
  }

  /// Sets the message's mirrored headers, if this session wants them. Returns the header that
  /// cannot be sent; empty: none.
  std::string mirror(Frame& request, Outgoing& message, EraSession& session) const;
  /// The same of a message whose body is complete.
  void mirror_again(Outgoing& message) const;
  /// A job's call in the form for this session: as a task if its server leaves that to the client,
  /// and its tool supports it (MCP 2025-11-25, "Tasks: Tool-Level Negotiation").
  Frame as_task(Frame call, EraSession& session) const;

 private:
  ToolHeaders read(const Frame& response);
  Frame learn(Frame response);
  void keep(std::string_view asked_cursor, const Frame& response);

  const RouterContext context_;
  HeadersOfTools headers_;
  ToolList list_;
  bool has_warned_of_cursor_ = false;
};

}  // namespace bridge
