#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/frame.hpp"
#include "router/client.hpp"
#include "router/known_tools.hpp"
#include "router/pending_requests.hpp"
#include "router/restorable_state.hpp"
#include "router/router_context.hpp"

namespace bridge {

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

  /// What of the request has to be kept for what comes of it. REQUIRES: before make_for_upstream();
  /// its era and its side are set.
  void note(const Frame& request, PendingRequest& pending) const;
  /// The request as this side of the upstream is to get it, under this id, with the headers that
  /// mirror it: what the message says of both is set. Returns why it cannot be sent; empty: it can.
  std::string make_for_upstream(Frame&& request, const Client* client, Era side,
                                Outgoing& message) const;
  /// A call of a job, as it is sent to the server of now: a task of it if it can be one.
  Frame as_task(Frame call) const;
  /// Sets the headers anew, by what is known of the server's tools now.
  void mirror_again(Outgoing& message) const;
  /// Makes of the response what the client is to get, but for its id, which stays where it was or
  /// is in `response.id` of a frame made anew.
  void translate_for_client(Frame& response, const PendingRequest& pending);
  /// Whether the client is to see this notification about its request.
  bool is_for_client(const Frame& notification, const PendingRequest& pending) const;

  /// Whether a modern client's request has asked for log messages of this level.
  bool reaches(const Frame& log_message, const PendingRequest& pending) const;

  KnownTools& tools() { return tools_; }
  const KnownTools& tools() const { return tools_; }

 private:
  std::string capabilities_of(const Client* client) const;
  bool is_job(const PendingRequest& pending) const;

  const RouterContext context_;
  const RestorableState& restorable_;
  KnownTools tools_;
};

}  // namespace bridge
