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

/// Between clients and an upstream of different eras: each message in the form that its receiver
/// knows (BEHAVIOUR, "Eras"). Where both are legacy, or both modern, the bytes stay as they came.
/// What is made of them is decided in mcp/; here is which of it is due.
///
/// Owned by the router; the loop's thread only. Memory: that of KnownTools.
class EraTranslator {
 public:
  EraTranslator(const RouterContext& context, const RestorableState& restorable)
      : context_(context), restorable_(restorable), tools_(context.log) {}

  /// Why the bridge itself refuses a modern client's request, as a JSON-RPC error object; empty: it
  /// does not.
  static std::string refusal_of(const Frame& request);
  /// What the bridge answers by itself: one of the two, as JSON.
  struct OwnAnswer {
    std::string result;
    std::string error;
  };
  /// Since the upstream, of another era than the request, has no such method; nothing if it is
  /// asked.
  std::optional<OwnAnswer> own_answer(const Frame& request) const;
  /// Whether the upstream has no such notification.
  bool swallows(const Frame& notification, Era client) const;

  /// Notes what translating the response will need. REQUIRES: before make_for_upstream(); its era
  /// and its side are set.
  void note(const Frame& request, Call& call) const;
  /// The request as this side of the upstream expects it, under this id, with the headers that
  /// mirror it; sets what the message says of both. Returns why it cannot be sent; empty: it can.
  /// `caller`: its owner; null: the bridge, or a caller that has left.
  std::string make_for_upstream(Frame&& request, const Caller* caller, Era side,
                                Outgoing& message) const;
  /// A call of a job, as it is sent to the server of now: a task of it if it can be one.
  Frame as_task(Frame call) const;
  /// Sets the headers again, by the present list of tools.
  void mirror_again(Outgoing& message) const;
  /// Turns the response into the client's form, except for its id, which stays in place or, in a
  /// frame that was made from scratch, is in `response.id`.
  void translate_for_client(Frame& response, const Call& call);
  /// Whether the client is to see this notification about its request.
  bool is_for_client(const Frame& notification, const Call& call) const;

  /// Whether a modern client's request has asked for log messages of this level.
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
