#pragma once

#include <deque>
#include <functional>
#include <list>
#include <optional>
#include <string>

#include "base/byte_budget.hpp"
#include "event/event_loop.hpp"
#include "router/router_context.hpp"

namespace bridge {

/// The notifications of clients on their way to the upstream: one of each client at a time, and no
/// further frame of that client before it is handed over, for 30 s at most (BEHAVIOUR, "Routing:
/// order of a client's messages"). What clients that have left had still to say follows in the same
/// way ("Cancellation and leaving: a client leaves"); it was bounded by --client-buffer, and counts
/// against --max-buffered.
///
/// Owned by the router; the loop's thread only.
class ClientNotifications {
 public:
  /// `handed_over` is called for each connected client whose next frame may go.
  ClientNotifications(const RouterContext& context, ByteBudget& budget,
                      std::function<void(Client&)> handed_over);

  /// REQUIRES: the client's session is open, and none of this client's is under way.
  void start(Client& client, std::string body);
  /// The client has left: `rest` is what it had still to say. Returns whether that waits for a
  /// session. REQUIRES: it was taken out of Clients.
  bool client_left(const Client& client, std::deque<std::string> rest);
  /// Nothing more comes for this message, which may be no notification of a client's.
  void ended(UpstreamId id);
  void session_open();
  /// Drops what clients have left behind and has waited for --connect-wait. Returns whether more
  /// waits.
  bool expire();

 private:
  /// What one client has left behind.
  struct OrphanedQueue {
    explicit OrphanedQueue(ByteBudget& budget) : share(budget) {}

    std::deque<std::string> bodies;
    Era client = Era::legacy;  ///< that of the client
    std::optional<UpstreamId> under_way;
    SteadyTime left_at;
    ByteBudget::Share share;
  };
  using Queues = std::list<OrphanedQueue>;

  Queues::iterator send_next(Queues::iterator queue);
  void stop_waiting();

  const RouterContext context_;
  ByteBudget& budget_;
  const std::function<void(Client&)> handed_over_;
  Queues orphaned_;
  DeadlineTimer too_slow_;  ///< set while a connected client's is under way
};

}  // namespace bridge
