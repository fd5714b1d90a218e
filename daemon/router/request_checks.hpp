#pragma once

#include <cstdint>

#include "json/frame.hpp"
#include "router/client.hpp"
#include "router/known_tools.hpp"
#include "router/router_context.hpp"

namespace bridge {

/// Whether what a caller sends may go on now: by the policy, its rates, and --audit-required.
/// Answers the requests that may not; each refuse_…() returns whether the request was answered.
///
/// Owned by the router; the loop's thread only.
class RequestChecks {
 public:
  RequestChecks(const RouterContext& context, const KnownTools& tools)
      : context_(context), tools_(tools) {}

  /// Whether the caller's first request cannot be judged before the list of tools was fetched.
  bool needs_tools(const Caller& caller) const;
  /// Whether the policy drops this notification; one with the method of a request is judged as that
  /// request.
  bool is_denied(const Client& client, const Frame& notification) const;
  /// Judges requests of jobs, those that were judged before the policy changed, and those that may
  /// have waited for the list of tools.
  bool refuse_denied(Caller& caller, const Frame& frame, const JobRequest* job);
  /// Takes tokens. `continues`: it may be the next round of a call that was counted.
  bool refuse_over_rate(Client& client, const Frame& frame, std::uint64_t tokens = 1,
                        bool continues = false);
  /// Both, for a client's request that takes no slot.
  bool refuse_by_policy(Client& client, const Frame& frame, std::uint64_t tokens = 1);
  /// --audit-required: it could not be recorded.
  bool refuse_unrecorded(Caller& caller, const Frame& request, const JobRequest* job = nullptr);

 private:
  const RouterContext context_;
  const KnownTools& tools_;
};

}  // namespace bridge
