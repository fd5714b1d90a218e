#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "event/event_loop.hpp"
#include "json/failure.hpp"
#include "json/frame.hpp"
#include "mcp/methods.hpp"
#include "router/client_notifications.hpp"
#include "router/listens.hpp"
#include "router/requests_in_flight.hpp"
#include "router/restorable_state.hpp"
#include "router/router_context.hpp"
#include "router/served_client.hpp"
#include "router/slot_queue.hpp"
#include "router/suspended_calls.hpp"

namespace bridge {

/// The frames of clients that have not been started upstream, and which of them may go now: in the
/// order of each client's, within the bounds on requests in flight, and only with a session, which
/// they wait for as long as --connect-wait says (BEHAVIOUR, "Routing").
///
/// Owned by the router; the loop's thread only. Memory: --client-buffer for each client, but for
/// its first frame; it counts against --max-buffered. A `Client&` is used only while the call
/// lasts.
class ClientFrames {
 public:
  ClientFrames(const RouterContext& context, ByteBudget& budget, RestorableState& restorable,
               const EraTranslator& translator, RequestsInFlight& in_flight, Listens& listens,
               SuspendedCalls& suspended_calls);

  void client_connected(Client& client) { served_.connected(client); }
  /// Its requests are dropped, its notifications still go. REQUIRES: it was taken out of Clients.
  void client_left(Client& client);
  bool is_served(const Client& client) const { return served_.is_served(client); }
  /// Starts nothing until resume(): what comes waits.
  void pause() { paused_ = true; }
  void resume();
  /// A client of an earlier image of the program, with what of it had not been started.
  void client_continued(Client& client, std::vector<std::string> waiting);

  /// The one that was served has left, or may have shown that it only looks on.
  void choose_served();

  /// A request or a notification that the upstream is to get.
  void add(Client& client, Frame&& frame);
  /// Drops the request of this id that waits; false if there is none.
  bool cancel(Client& client, std::string_view raw_id);
  void request_ended(const PendingRequest& request);
  /// A request of this client has given its slot back.
  void slot_freed(Client& client);
  /// Nothing more comes for this message, which is no request.
  void message_ended(UpstreamId id) { notifications_.ended(id); }

  // Of the session.
  void session_open();
  void session_closed(Era side);
  void session_away(Era side);
  /// They wait longer, or not so long, than was thought.
  void session_awaits_login();
  /// Answers everything that waits, or what waits for this side.
  void fail_all(const Failure& failure, std::optional<Era> side = {});
  /// The same, and whatever comes from now on.
  void shut_down(const Failure& failure);
  /// Whether a request waits for this side.
  bool has_request_for(Era side) const;
  /// By the modern request that has waited for longest, as a JSON object; empty: there is none.
  std::string declared_capabilities() const;
  std::size_t waiting() const;

 private:
  void start_waiting(Client& client);
  bool is_open_for(const Client& client, const Frame& frame) const {
    return context_.session.is_open_for(client.era_of(frame));
  }
  bool start_front(Client& client);
  bool answer_front(Client& client);
  bool start_initialize(Client& client);
  bool start_without_session(Client& client);
  bool start_listen(Client& client);
  void start_request(Client& client);
  bool answer_unsubscribe(Client& client);
  bool answer_for_upstream(Client& client);
  bool takes_id_of_listen(const Client& client, const Frame& request) const;
  void answer_with_error(Client& client, const Frame& request, int code, std::string_view message);
  void answer_here(Client& client, const Frame& request, MethodClass of, std::string_view result);
  void pass_slots_on();
  void refuse(Client& client, const Frame& refused, const Failure& failure);
  void expire();
  SteadyTime expires(const WaitingFrame& waiting, Era client) const;
  void note_unserved(const Frame& refused, const Failure& failure);

  const RouterContext context_;
  RestorableState& restorable_;
  const EraTranslator& translator_;
  RequestsInFlight& in_flight_;
  Listens& listens_;
  SuspendedCalls& suspended_calls_;
  ServedClient served_;
  SlotQueue slots_;
  ClientNotifications notifications_;
  std::optional<Failure> shut_down_;  ///< what everything is answered with, once that has begun
  bool paused_ = false;
  /// Since when each side is not open; of a legacy one, and of a modern one.
  std::array<SteadyTime, 2> not_open_since_;
  std::uint64_t unserved_ = 0;  ///< requests that have failed since there was a session
  DeadlineTimer expiry_;
};

}  // namespace bridge
