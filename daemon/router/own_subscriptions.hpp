#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_budget.hpp"
#include "base/ids.hpp"
#include "router/client.hpp"
#include "router/own_requests.hpp"
#include "router/requests_in_flight.hpp"
#include "router/router_context.hpp"

namespace bridge {

/// Subscribes and unsubscribes resources at the legacy upstream for the bridge itself, because of
/// clients' listens: at most own_requests_at_once at a time. Beyond the first each waits for a slot
/// of --max-inflight, and the first of each user takes one of its rule's `inflight`.
///
/// Owned by the router; the loop's thread only. Bounds: those of OwnRequests.
class OwnSubscriptions final : public OwnCaller {
 public:
  OwnSubscriptions(const RouterContext& context, ByteBudget& budget, RequestsInFlight& requests)
      : OwnCaller(budget), context_(context), in_flight_(requests) {}

  /// Sends the request when it may be sent. `cause`: the client that wants it; null: none.
  void request_later(const Client* cause, const std::string& uri, bool subscribes);
  /// Those that were not sent yet, or were given up in an upgrade.
  const OwnRequests& unsent() const { return unsent_; }

 private:
  struct UnderWay {
    UpstreamId id{};
    OwnRequests::Request request;
  };

  void answer(std::string_view raw_id, Frame&&) override { request_ended(raw_id); }
  void fail(std::string_view raw_id, const Failure&) override { request_ended(raw_id); }
  void given_up(std::string_view raw_id, const Failure&) override;

  void send_unsent();
  bool may_send_for(const User& cause) const;
  OwnRequests::Request forget(std::string_view raw_id);
  void request_ended(std::string_view raw_id) {
    forget(raw_id);
    // The next session is given all that is wanted as it is opened.
    if (!context_.session.stateful().is_open()) unsent_.clear();
    send_unsent();
  }

  const RouterContext context_;
  RequestsInFlight& in_flight_;
  OwnRequests unsent_;
  std::vector<UnderWay> under_way_;
  std::uint32_t session_ = 0;  ///< the session that the unsent ones belong to
};

}  // namespace bridge
