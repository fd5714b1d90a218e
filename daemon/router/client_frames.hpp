#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_budget.hpp"
#include "event/event_loop.hpp"
#include "json/frame.hpp"
#include "json/reply.hpp"
#include "router/bridge_answers.hpp"
#include "router/client.hpp"
#include "router/client_notifications.hpp"
#include "router/control_requests.hpp"
#include "router/crossing/crossings.hpp"
#include "router/known_tools.hpp"
#include "router/listens.hpp"
#include "router/request_checks.hpp"
#include "router/requests_in_flight.hpp"
#include "router/restorable_state.hpp"
#include "router/router_context.hpp"
#include "router/served_client.hpp"
#include "router/slot_queue.hpp"

namespace bridge {

/// The frames of clients that have not been started upstream. Decides which may start: in order for
/// each client, within the limits on requests in flight, and only with a session, for which frames
/// wait up to --connect-wait (BEHAVIOUR, "Routing").
///
/// Owned by the router; the loop's thread only. Memory: --client-buffer per client, not counting
/// its first frame; it counts against --max-buffered. A `Client&` is used only during the call.
class ClientFrames {
 public:
  ClientFrames(const RouterContext& context, ByteBudget& budget, RestorableState& restorable,
               const KnownTools& tools, RequestChecks& checks, RequestsInFlight& in_flight,
               Listens& listens, Crossings& crossings, ControlRequests& control);

  void client_connected(Client& client) { served_.connected(client); }
  /// The client reads again.
  void client_proceeds(Client& client) {
    if (waits_for_memory_) start_waiting(client);
  }
  /// Drops the client's requests; its notifications are still sent. REQUIRES: it was removed from
  /// Clients.
  void client_left(Client& client);
  bool is_served(const Client& client) const { return served_.is_served(client); }
  /// Starts nothing until resume(); new frames wait.
  void pause() { paused_ = true; }
  void resume();
  /// Restores a client of the previous process, with its frames that were not started.
  void client_continued(Client& client, std::vector<std::string> waiting);

  /// The served client has left, or may have turned out to only look on.
  void choose_served();
  /// The clients' rules have changed, or this one's and perhaps its user.
  void policy_changed(Client* only = nullptr);

  /// A request or notification to be forwarded.
  void queue_frame(Caller& caller, Frame&& frame, std::unique_ptr<JobRequest> job = nullptr);
  /// Drops what waits of this caller.
  void drop_waiting(Caller& caller);
  /// Drops the waiting request with this id, but no `initialize`; false if there is none.
  bool cancel(Caller& caller, std::string_view raw_id);
  void request_ended(const Call& call);
  /// A request of this caller has released its slot.
  void slot_freed(Caller& caller);
  /// A message that is not a request is complete.
  void message_ended(UpstreamId id) { notifications_.notification_ended(id); }

  // Events of the session.
  void session_open();
  void session_closed(const EraSession& session);
  void session_away(const EraSession& session);
  /// The deadline of waiting frames has changed.
  void session_awaits_login();
  /// Answers all waiting frames with an error, or those for one session.
  void fail_all(const Failure& failure, const EraSession* session = nullptr);
  /// The same, also for all later frames.
  void shut_down(const Failure& failure);
  /// Whether a request waits for this session.
  bool has_request_for(const EraSession& session) const;
  std::size_t waiting() const;

 private:
  void start_waiting(Caller& caller);
  void start_notification(Client& client);
  bool leaves_answers_unread(const Caller& caller) const;
  /// The session that serves this frame, as far as is known.
  EraSession& session_of(const Caller& caller, const Frame& frame) const {
    return context_.session.serving(caller.era_of(frame));
  }
  /// The same of the frame that the caller waits with first.
  EraSession& session_of_front(const Caller& caller) const {
    return session_of(caller, caller.waiting.front().frame);
  }
  bool start_initialize(Client& client);
  bool start_without_session(Caller& caller);
  bool waits_for_tools(const Caller& caller);
  void tools_listed(const std::string& response);
  void start_recorded();
  void give_free_slots_of_user(const User& user);
  void give_free_slots();
  void refuse(Caller& caller, const Frame& refused, const Failure& failure);
  void expire();
  SteadyTime expires(const WaitingFrame& waiting, const EraSession& session) const;
  Failure failure_without(const EraSession& session) const;
  void note_unserved(const Frame& refused, const Failure& failure);

  const RouterContext context_;
  const ByteBudget& budget_;
  const KnownTools& tools_;
  RequestChecks& checks_;
  RequestsInFlight& in_flight_;
  Crossings& crossings_;
  ControlRequests& control_;
  BridgeAnswers answers_;
  ServedClient served_;
  SlotQueue slots_;
  UserSlots user_slots_;
  ClientNotifications notifications_;
  std::optional<Failure> shut_down_;  ///< the answer to every request once shutting down
  bool paused_ = false;
  /// Since when a session that was open, or was being opened, is not.
  std::map<const EraSession*, SteadyTime> not_open_since_;
  bool is_listing_ = false;     ///< the server's tools, for requests that wait for them
  int listings_ = 0;            ///< in a row without a list
  std::uint64_t unserved_ = 0;  ///< requests that failed since the last session
  DeadlineTimer expiry_;
  std::vector<ClientId> unrecorded_;  ///< --audit-required: whose frames arrived in this turn
  bool unrecorded_jobs_ = false;      ///< the same of any job
  Deferred recording_;                ///< records them with one write, then starts them
  bool waits_for_memory_ = false;     ///< requests wait until less is buffered
  Deferred relief_;                   ///< starts them
};

}  // namespace bridge
