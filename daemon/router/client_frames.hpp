#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_budget.hpp"
#include "event/event_loop.hpp"
#include "json/frame.hpp"
#include "json/reply.hpp"
#include "mcp/methods.hpp"
#include "router/client.hpp"
#include "router/control_requests.hpp"
#include "router/crossing/crossings.hpp"
#include "router/known_tools.hpp"
#include "router/listens.hpp"
#include "router/request_checks.hpp"
#include "router/requests_in_flight.hpp"
#include "router/restorable_state.hpp"
#include "router/router_context.hpp"

namespace bridge {

/// Chooses the served clients: with --max-clients 1 one at a time, otherwise all. A client is
/// served until it leaves or turns out to only look on (BEHAVIOUR, "Socket: connections at a
/// time"). A client that is not served gets no notifications. A part of ClientFrames; the loop's
/// thread only.
class ServedClient {
 public:
  ServedClient(const Clients& clients, bool one_at_a_time)
      : clients_(clients), one_at_a_time_(one_at_a_time) {}

  bool is_served(const Caller& caller) const {
    const Client* const client = caller.client();
    return !one_at_a_time_ || client == nullptr || served_ == client->id();
  }
  void connected(Client& client) {
    if (!served_) served_ = client.id();
    if (!is_served(client)) client.channel.set_feed(RingFeed::none);
  }
  /// Chooses again if the served client lost its turn. Returns the newly served client; null if
  /// none changed.
  Client* choose() {
    if (!one_at_a_time_) return nullptr;
    const Client* const served = clients_.find_client(served_);
    if (served != nullptr && !served->is_observer()) return nullptr;
    served_.reset();
    for (const auto& [id, client] : clients_) {
      if (client->is_observer()) continue;
      served_ = id;
      if (client->takes_from_ring()) client->channel.set_feed(RingFeed::takes);
      return client.get();
    }
    return nullptr;
  }

 private:
  const Clients& clients_;
  const bool one_at_a_time_;
  std::optional<ClientId> served_;
};

/// Assigns the --max-inflight slots for requests at the upstream: at once while a slot is free and
/// no caller is queued, otherwise one slot each in order of asking. Pure.
class SlotQueue {
 public:
  /// `waits`: the member that marks a queued caller.
  explicit SlotQueue(std::size_t slots, bool Caller::*waits = &Caller::waits_for_slot)
      : slots_(slots), waits_(waits) {}

  void set_slots(std::size_t slots) { slots_ = slots; }

  /// Whether `caller` may take a slot now, with `used` taken; otherwise it is queued. A queued
  /// caller may also take one if a slot is free: the queue is served as soon as a slot is freed, so
  /// callers before it have had theirs.
  bool admits(Caller& caller, std::size_t used) {
    if (std::exchange(its_turn_, nullptr) == &caller) return true;
    if (used < slots_ && (queue_.empty() || caller.*waits_)) return true;
    if (!(caller.*waits_)) queue_.push_back(&caller);
    caller.*waits_ = true;
    return false;
  }
  /// Removes and returns the next queued caller, if there is a slot for it, which admits() then
  /// gives it once.
  Caller* next(std::size_t used) {
    turn_is_over();
    if (used >= slots_ || queue_.empty()) return nullptr;
    Caller* const caller = queue_.front();
    queue_.pop_front();
    caller->*waits_ = false;
    its_turn_ = caller;
    return caller;
  }
  void turn_is_over() { its_turn_ = nullptr; }
  bool empty() const { return queue_.empty(); }
  void caller_left(const Caller& caller) {
    std::erase(queue_, &caller);
    if (its_turn_ == &caller) its_turn_ = nullptr;
  }

 private:
  std::size_t slots_;
  bool Caller::*waits_;
  std::deque<Caller*> queue_;         ///< without duplicates
  const Caller* its_turn_ = nullptr;  ///< may take the slot that is free now
};

/// Assigns the slots of users whose rules limit their requests in flight (`inflight`), in turn to
/// the callers of a user. A part of ClientFrames; the loop's thread only.
class UserSlots {
 public:
  UserSlots(const Permissions& permissions, const RequestsInFlight& in_flight)
      : permissions_(permissions), in_flight_(in_flight) {}

  /// Whether the caller's first frame may start; otherwise the caller is queued.
  bool admits(Caller& caller);
  /// The next queued caller of this user, which admits() then once; null: none, or no free slot.
  Caller* next(const User& user);
  void turn_is_over(const User& user) {
    if (const auto found = queues_.find(user); found != queues_.end()) found->second.turn_is_over();
  }
  void caller_left(const Caller& caller) {
    for (auto& [user, queue] : queues_) queue.caller_left(caller);  // its user may have changed
  }
  void clear() { queues_.clear(); }

 private:
  const Permissions& permissions_;
  const RequestsInFlight& in_flight_;
  std::map<User, SlotQueue> queues_;
};

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
  bool answer_front(Client& client);
  bool start_initialize(Client& client);
  void log_undeclared(const Client& client, std::string_view capabilities);
  bool start_without_session(Caller& caller);
  bool start_listen(Client& client);
  bool answer_unsubscribe(Client& client);
  bool waits_for_tools(const Caller& caller);
  void tools_listed(const std::string& response);
  void start_recorded();
  void give_free_slots_of_user(const User& user);
  bool answer_for_upstream(Client& client);
  bool takes_id_of_listen(const Client& client, const Frame& request) const;
  void give_free_slots();
  void refuse(Caller& caller, const Frame& refused, const Failure& failure);
  void expire();
  SteadyTime expires(const WaitingFrame& waiting, const EraSession& session) const;
  Failure failure_without(const EraSession& session) const;
  void note_unserved(const Frame& refused, const Failure& failure);

  const RouterContext context_;
  const ByteBudget& budget_;
  RestorableState& restorable_;
  const KnownTools& tools_;
  RequestChecks& checks_;
  RequestsInFlight& in_flight_;
  Listens& listens_;
  Crossings& crossings_;
  ControlRequests& control_;
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
  std::set<std::string> logged_undeclared_;  ///< capabilities, at most 64
  std::string undeclared_ = "{}";            ///< those of all logged clients
  std::vector<ClientId> unrecorded_;  ///< --audit-required: whose frames arrived in this turn
  bool unrecorded_jobs_ = false;      ///< the same of any job
  Deferred recording_;                ///< records them with one write, then starts them
  bool waits_for_memory_ = false;     ///< requests wait until less is buffered
  Deferred relief_;                   ///< starts them
};

}  // namespace bridge
