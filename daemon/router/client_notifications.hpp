#pragma once

#include <deque>
#include <functional>
#include <list>
#include <optional>
#include <string>

#include "base/byte_budget.hpp"
#include "event/event_loop.hpp"
#include "router/client.hpp"
#include "router/router_context.hpp"

namespace bridge {

/// Sends the notifications of clients to the upstream: one per client at a time; no further frame
/// of that client starts until it is delivered, for 30 s at most (BEHAVIOUR, "Routing: order of a
/// client's messages"). Notifications of clients that have left are sent in the same way
/// ("Cancellation and leaving"); they were bounded by --client-buffer and count against
/// --max-buffered.
///
/// Owned by ClientFrames; the loop's thread only.
class ClientNotifications {
 public:
  /// `handed_over` is called for each connected client whose next frame may start.
  ClientNotifications(const RouterContext& context, ByteBudget& budget,
                      std::function<void(Client&)> handed_over);

  /// REQUIRES: the client's session is open, and no notification of the client is being sent.
  void send_notification(Client& client, std::string body);
  /// The client has left; `rest` are its unsent notifications. Returns whether they wait for a
  /// session. REQUIRES: the client was removed from Clients.
  bool client_left(const Client& client, std::deque<std::string> rest);
  /// The message is complete; ignored if it is not a client's notification.
  void notification_ended(UpstreamId id);
  void session_open();
  /// Drops notifications of clients that have left and that have waited for --connect-wait. Returns
  /// whether more wait.
  bool expire();

 private:
  /// Unsent notifications of a client that has left.
  struct OrphanedQueue {
    explicit OrphanedQueue(ByteBudget& budget) : share(budget) {}

    std::deque<std::string> bodies;
    Era client = Era::legacy;  ///< of the client
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
  DeadlineTimer too_slow_;  ///< set while a connected client's notification is being sent
};

}  // namespace bridge
