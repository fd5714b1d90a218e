#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "event/event_loop.hpp"
#include "json/frame.hpp"
#include "json/reply.hpp"
#include "router/call_table.hpp"
#include "router/known_tools.hpp"
#include "router/restorable_state.hpp"
#include "router/router_context.hpp"

namespace bridge {

struct Client;
class Crossings;
class Questions;
class RequestsInFlight;
struct RouterParts;

/// Calls that a modern server refused because their headers lack parameters of their tool (-32020):
/// lists the tools, then sends each call once more (MCP 2026-07-28, Streamable HTTP, "Client
/// Behavior"). Its list takes no turn, unlike that of ToolLookup: the calls keep their slots.
///
/// Owned by RequestsInFlight; the loop's thread only. Memory: calls in flight. They wait for
/// longest_listing.
class HeaderRetry final : public OwnCaller {
 public:
  /// The longest time that a call waits for the list, however many pages it has.
  static constexpr std::chrono::seconds longest_listing{30};
  /// The most pages of the list that are read.
  static constexpr int max_pages = 100;

  HeaderRetry(const RouterContext& context, const KnownTools& tools, RequestsInFlight& requests,
              ByteBudget& budget);

  /// Takes over a call with this ending if it is to be sent once more.
  bool retry_call(Call& call, Ending& ending);

 private:
  // A page of the list has arrived, or none will.
  void answer(std::string_view raw_id, Frame&& response) override;
  void fail(std::string_view, const Failure&) override { proceed(); }

  void list_tools(std::string_view params);
  void proceed();

  const RouterContext context_;
  const KnownTools& tools_;
  RequestsInFlight& in_flight_;
  std::vector<Outgoing> waiting_;
  int pages_ = 0;
  GivenCursors cursors_;
  DeadlineTimer timer_;
};

/// The requests of clients at the upstream: ids and tokens, the owner of each response and
/// progress, and how each request ends (BEHAVIOUR, "Ids and tokens" and "Cancellation and
/// leaving").
///
/// Only this table knows the owner of a request. If the client leaves, the request stays without an
/// owner (--orphans finish) or becomes a job (JobOwner::adopt).
///
/// Owned by the router; the loop's thread only. Bounds: --max-inflight requests, one `initialize`,
/// the bridge's own, those of jobs that wait for an answer (--jobs), and suspended calls. Holds ids
/// and tokens; the session holds the bodies. The transport ends each request in time, except those
/// of jobs, which have their own deadline.
class RequestsInFlight {
 public:
  RequestsInFlight(const RouterContext& context, RestorableState& restorable, KnownTools& tools,
                   Questions& questions, Crossings& crossings, RouterParts& owner,
                   ByteBudget& budget);

  // To the upstream.
  /// REQUIRES: the session is open.
  void start_call(Caller& caller, WaitingFrame&& request);
  /// Opens the first session. REQUIRES: Session::wants_initialize().
  void open_session(Client& client, WaitingFrame initialize);

  /// A request of the bridge itself, which takes no turn. `user`: who has caused it.
  UpstreamId start_at_once(OwnCaller& caller, const User& user, std::string_view method,
                           std::string_view params, EraSession& session);
  /// Rewrites the message for sending it again in this session, perhaps with another id.
  void remake(Outgoing& message, EraSession& session, bool under_new_id);
  /// A job's request that an earlier process sent to a modern server and that was answered with
  /// questions.
  Call& add_asked(Caller& caller, WaitingFrame&& request, UpstreamId id);
  /// Sends the call again with `request` as its new content. REQUIRES: it waits at the bridge; the
  /// session is open.
  void send_again(UpstreamId id, Frame request);
  // Suspended calls.
  /// Answers the client with these questions. The call stays in flight without a client and without
  /// a slot, until this time.
  void suspend(UpstreamId id, SteadyTime until, const std::vector<InputRequest>& questions);
  /// `client` waits for the call with another request. REQUIRES: the call is suspended; the client
  /// has a slot.
  ModernToLegacy::Kept resume(UpstreamId id, Client& client, const WaitingFrame& request);
  /// Cancels the call at the upstream without an answer to a client. REQUIRES: it is suspended.
  void drop_suspended(UpstreamId id, std::string_view reason);

  // From the upstream.
  /// Returns the answered request if it was in flight.
  std::optional<UpstreamId> answer(std::optional<UpstreamId> origin, Frame&& response);
  void progress(Frame notification);
  /// Sends a notification to the client that owns this stream; false if that client is gone.
  bool deliver(UpstreamId origin, Frame& notification);
  /// Sends a log message that belongs to no request's stream to the clients whose requests in this
  /// session asked for its level, suspended calls included. False if there is none.
  bool pass_log_message_on(const Frame& message, const EraSession& session);
  /// A message on this request's stream was malformed.
  void note_malformed(UpstreamId origin, std::string_view reason);
  /// The message is complete; false if it is not a request.
  bool end_request(UpstreamId id, Ending& ending);
  void end_request(UpstreamId id, ModernToLegacy::End end);

  // Ended by clients and by the bridge.
  /// Ends the request with this failure and answers its client.
  void give_up(UpstreamId id, const Failure& failure);
  /// Cancels the caller's request with this id if it is in flight. `notification`: a client's own,
  /// forwarded to the upstream in place of one with the reason.
  void cancel(Caller& caller, std::string_view raw_id, std::string_view reason,
              std::optional<Frame> notification = {});
  void pause_answers(const Caller& caller, bool paused);
  /// Sets whether the job is asked about this request, which then takes no slot. False if it is not
  /// in flight or nothing changes.
  bool set_asked(const Caller& caller, std::string_view raw_id, bool is_asked);
  /// Applies --orphans to the client's requests. REQUIRES: the client was removed from Clients.
  void client_left(Client& client);

  /// Ends each `initialize` that has waited for the first session for session_timeout(). Returns
  /// when to call again.
  std::optional<SteadyTime> expire_initialize(const Failure& failure);
  /// Cancels and answers all requests. `keeps_jobs`: those of jobs are not cancelled.
  void give_up_all(const Failure& failure, bool keeps_jobs = false);

  // In an upgrade.
  /// Whether the next process can receive the answer to this request for its client.
  bool survives_upgrade(UpstreamId id) const;
  /// The number of requests that cannot survive and do not wait for their clients' answers.
  std::size_t left_behind() const;
  void give_up_left_behind(const Failure& failure, std::string_view reason);
  /// The requests that survive.
  SavedCalls save_calls() const;
  /// `is_awaited`: the upstream knows the request. REQUIRES: the clients were restored.
  void restore(UpstreamId id, SavedCall call, bool is_awaited);

  const Call* find_call(std::optional<UpstreamId> id) const {
    return id ? table_.find_call(*id) : nullptr;
  }
  Call* find_call(std::optional<UpstreamId> id) { return id ? table_.find_call(*id) : nullptr; }
  const CallTable& calls() const { return table_; }
  /// Whether --orphans keeps it as a job when its client leaves.
  bool outlives_client_as_job(const Call& call) const {
    return context_.options.orphans == Orphans::keep && !call.ends_with_client() &&
           call.awaits_upstream();
  }

 private:
  void describe(Call& call, Caller& caller, const WaitingFrame& waiting) const;
  Call& add_call(Caller& caller, WaitingFrame& waiting, UpstreamId id, Call::Kind kind);
  void await_resumed(Caller& caller, WaitingFrame&& waiting);
  std::string make(Outgoing& message, Frame&& request, const Caller* caller,
                   EraSession& session) const;
  bool send_call(UpstreamId id, const Call& call, Frame&& frame);
  void give_up(const std::vector<UpstreamId>& ids, const Failure& failure, std::string_view reason,
               bool keeps_jobs = false);
  Call* rename(UpstreamId former, UpstreamId next);
  TakenCall take_call(UpstreamId id);
  void end_unanswered(UpstreamId id, Outcome outcome);
  void fail(UpstreamId id, const Call& ended, const Failure& failure);
  void end_failed(UpstreamId id, const Call& ended, const Failure& failure);
  bool keep_orphan(UpstreamId id, Call& call, const Client& former);

  const RouterContext context_;
  RestorableState& restorable_;
  KnownTools& tools_;
  Questions& questions_;
  Crossings& crossings_;
  RouterParts& owner_;
  CallTable table_;
  ByteBudget::Share kept_subjects_;  ///< of the calls in flight: a subject has any length
  HeaderRetry header_retry_;
};

}  // namespace bridge
