#pragma once

#include <string>
#include <string_view>

#include "base/log.hpp"
#include "json/frame.hpp"
#include "mcp/tool_headers.hpp"

namespace bridge {

/// What is known of the server's tools from the lists that have passed: the last whole one, and
/// which parameters of theirs are mirrored into headers (MCP 2026-07-28, Streamable HTTP, "Custom
/// Headers from Tool Parameters").
///
/// Owned by the router; the loop's thread only. Memory: tool_header_limit and that of ToolList.
class KnownTools {
 public:
  explicit KnownTools(Log& log) : log_(log) {}

  const HeadersOfTools& annotations() const { return headers_; }
  /// A page of the list has come, and goes to a client as it is.
  void note(const Frame& response);
  /// A page of the list has come. Returns it without the tools whose annotations are invalid, which
  /// no client may be shown.
  Frame learn(Frame response);
  /// A page as clients may see it has come; `asked_cursor` is JSON, empty for the first one.
  void keep(std::string_view asked_cursor, const Frame& response) {
    list_.take_page(asked_cursor, response.text(response.result));
  }
  const ToolList& list() const { return list_; }
  /// The list has changed, or is another server's.
  void forget() {
    headers_.clear();
    list_.forget();
  }

 private:
  ToolHeaders read(const Frame& response);

  Log& log_;
  HeadersOfTools headers_;
  ToolList list_;
};

}  // namespace bridge
