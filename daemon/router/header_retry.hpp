#pragma once

#include <chrono>
#include <functional>
#include <string_view>
#include <vector>

#include "event/event_loop.hpp"
#include "json/failure.hpp"
#include "json/frame.hpp"
#include "router/era_translator.hpp"
#include "router/pending_requests.hpp"
#include "router/router_context.hpp"

namespace bridge {

/// Calls that a modern server has refused since their headers lack parameters of their tool
/// (-32020): the tools are listed, and each is sent once more (MCP 2026-07-28, Streamable HTTP,
/// "Client Behavior").
///
/// Owned by RequestsInFlight; the loop's thread only. Memory: what is in flight. They wait for
/// longest_listing.
class HeaderRetry {
 public:
  /// However many pages there are, and however slowly they come, a call waits so long for them.
  static constexpr std::chrono::seconds longest_listing{30};
  /// So many pages of a server's list of tools are read.
  static constexpr int max_pages = 100;

  struct Actions {
    std::function<void(std::string_view params)> list_tools;
    std::function<bool(UpstreamId)> is_in_flight;
    std::function<void(UpstreamId, const Failure&)> give_up;
  };

  HeaderRetry(const RouterContext& context, const EraTranslator& translator, Actions actions);

  /// Takes a call that has ended so, if it is to be sent once more.
  bool take(PendingRequest& pending, Ending& ending);
  /// A page of the list has come, as the answer to list_tools.
  void listed(const Frame& response);
  /// None comes: they are sent by what is known.
  void go_on();

 private:
  const RouterContext context_;
  const EraTranslator& translator_;
  const Actions actions_;
  std::vector<Outgoing> waiting_;
  int pages_ = 0;
  DeadlineTimer timer_;
};

}  // namespace bridge
