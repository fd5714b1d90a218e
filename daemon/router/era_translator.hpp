#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"
#include "json/frame.hpp"
#include "mcp/tool_headers.hpp"
#include "router/call.hpp"
#include "router/client.hpp"
#include "router/restorable_state.hpp"
#include "router/router_context.hpp"

namespace bridge {

/// The server's tools as seen in passing lists: the last complete list, and the parameters to
/// mirror into headers (MCP 2026-07-28, Streamable HTTP, "Custom Headers from Tool Parameters").
///
/// Owned by the router; the loop's thread only. Memory: tool_header_limit and that of ToolList.
class KnownTools {
 public:
  explicit KnownTools(Log& log) : log_(log) {}

  const HeadersOfTools& annotations() const { return headers_; }
  /// A page of the list that goes to a client unchanged.
  void note(const Frame& response);
  /// A page of the list. Returns it without tools whose annotations are invalid: clients must not
  /// see those.
  Frame learn(Frame response);
  /// A page as clients may see it; `asked_cursor` is JSON, empty for the first page.
  void keep(std::string_view asked_cursor, const Frame& response);
  const ToolList& list() const { return list_; }
  /// The list has changed, or belongs to another server.
  void forget() {
    headers_.clear();
    list_.forget();
  }

 private:
  ToolHeaders read(const Frame& response);

  Log& log_;
  HeadersOfTools headers_;
  ToolList list_;
  bool has_warned_of_cursor_ = false;
};

/// Translates messages between clients and an upstream of different eras (BEHAVIOUR, "Eras").
/// Between peers of one era the bytes stay as they came. The translations are functions of mcp/;
/// this class decides which one applies.
///
/// Owned by the router; the loop's thread only. Memory: that of KnownTools.
class EraTranslator {
 public:
  EraTranslator(const RouterContext& context, const RestorableState& restorable)
      : context_(context), restorable_(restorable), tools_(context.log) {}

  /// The bridge's reason to refuse a modern client's request, as a JSON-RPC error object; empty:
  /// not refused.
  static std::string refusal_of(const Frame& request);
  /// An answer of the bridge itself: a result or an error, as JSON.
  struct OwnAnswer {
    std::string result;
    std::string error;
  };
  /// The answer if the upstream is of another era than the request and has no such method; nullopt:
  /// the upstream is asked.
  std::optional<OwnAnswer> own_answer(const Frame& request) const;
  /// Whether the notification is dropped because the upstream does not know it.
  bool swallows(const Frame& notification, Era client) const;

  /// Records what translating the response will need. REQUIRES: before make_for_upstream(); the
  /// call's era and side are set.
  void note(const Frame& request, Call& call) const;
  /// Rewrites the request for this side of the upstream, with this id and the mirrored headers;
  /// sets the fields of the message that depend on them. Returns the header that cannot be
  /// sent; empty: none. `caller`: the owner; null: the bridge, or a caller that has left.
  std::string make_for_upstream(Frame&& request, const Caller* caller, Era side,
                                Outgoing& message) const;
  /// A job's call in the form for the present server: as a task if possible.
  Frame as_task(Frame call) const;
  /// Sets the mirrored headers again, by the present list of tools.
  void mirror_again(Outgoing& message) const;
  /// Converts the response to the client's form, except for its id, which stays in place or, in a
  /// newly made frame, is in `response.id`.
  void translate_for_client(Frame& response, const Call& call);
  /// Whether the client may see this notification about its request.
  bool is_for_client(const Frame& notification, const Call& call) const;

  /// Whether a modern client's request asked for log messages of this level.
  bool reaches(const Frame& log_message, const Call& call) const;

  KnownTools& tools() { return tools_; }
  const KnownTools& tools() const { return tools_; }

 private:
  std::string capabilities_of(const Caller* caller) const;

  const RouterContext context_;
  const RestorableState& restorable_;
  KnownTools tools_;
};

}  // namespace bridge
