#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "event/event_loop.hpp"
#include "json/frame.hpp"
#include "json/reply.hpp"
#include "router/call.hpp"
#include "router/era_translator.hpp"
#include "router/restorable_state.hpp"
#include "router/router_context.hpp"

namespace bridge {

struct Client;
class Router;

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
  bool take(Call& call, Ending& ending);
  /// A page of the list has come, as the answer to list_tools.
  void listed(const Frame& response);
  /// None comes: they are sent by what is known.
  void proceed();

 private:
  const RouterContext context_;
  const EraTranslator& translator_;
  const Actions actions_;
  std::vector<Outgoing> waiting_;
  int pages_ = 0;
  DeadlineTimer timer_;
};

/// The requests of clients at the upstream: the id and token of each, the owner of each response
/// and progress, and how each ends (BEHAVIOUR, "Ids and tokens" and "Cancellation and leaving").
///
/// Only this table knows the owner of a request; one whose client has left stays without an owner
/// (--orphans finish), or becomes a job (JobCalls::adopt).
///
/// Owned by the router; the loop's thread only. Bounds: --max-inflight requests, one `initialize`,
/// and those of jobs that wait for an answer (--jobs); they hold their ids and tokens, the session
/// holds their bodies. The transport ends each in time, except for those of a job, which has its
/// own deadline.
class RequestsInFlight {
 public:
  RequestsInFlight(const RouterContext& context, RestorableState& restorable,
                   EraTranslator& translator, Router& router);

  // To the upstream: requests_in_flight_to_upstream.cpp.
  /// REQUIRES: the session is open.
  void start(Caller& caller, WaitingFrame&& request);
  /// Opens the first session. REQUIRES: Session::wants_initialize().
  void open_session(Client& client, WaitingFrame initialize);

  /// A request of the router's own, whose response only this table reads: no client waits for it,
  /// and it takes no slot.
  void start_own(std::string_view method, std::string_view params, Era side);
  /// It is sent again on this side, as that wants it, and perhaps under another id.
  void remake(Outgoing& message, Era side, bool under_new_id);
  /// A job's that another process has sent, and that was answered with questions.
  Call& add_asked(JobsOfUser& caller, WaitingFrame&& request, UpstreamId id);
  /// Sends it again, as `request` is now. REQUIRES: its stage is input_required, and the session is
  /// open.
  void send_again(UpstreamId id, Frame request);
  // Suspended ones.
  /// Answers its client with this result. It stays in flight, without a client and without a place.
  void suspend(UpstreamId id, std::string_view result);
  /// `client` waits for it with another request. REQUIRES: it is suspended, and the client has a
  /// place.
  void resume(UpstreamId id, Client& client, const WaitingFrame& request);
  /// Ends it at the upstream; no client is told. REQUIRES: it is suspended.
  void drop_suspended(UpstreamId id, std::string_view reason);

  // From the upstream: requests_in_flight_from_upstream.cpp.
  /// Returns the request that it answers, if that was in flight.
  std::optional<UpstreamId> answer(std::optional<UpstreamId> origin, Frame&& response);
  void progress(Frame notification);
  /// Gives it to the client whose request's stream this is or was; false if that client is gone.
  bool pass_on(UpstreamId origin, Frame& notification);
  /// A log message that came on the stream of no request: it is about any of the requests of this
  /// side that have asked for messages of its level, and about those that are suspended. False if
  /// no client has it now.
  bool pass_log_message_on(const Frame& message, Era side);
  /// The upstream's request was refused. `id`: the call that it is about; nullopt: it names none,
  /// and is about one of those whose clients have not declared it; the first of them that fails is
  /// taken to be the one.
  void note_undeclared(std::optional<UpstreamId> id, std::string_view method, AskedFor asked);
  /// A message on this request's stream was malformed.
  void note_malformed(UpstreamId origin, std::string_view reason);
  /// Nothing follows for this message; false if it is not a request.
  bool end(UpstreamId id, Ending& ending);
  void end(UpstreamId id, Suspension::End end);

  // What their clients and the bridge end: requests_in_flight_ending.cpp.
  /// Ends it so, and tells its client.
  void give_up(UpstreamId id, const Failure& failure);
  /// Cancels its request of this id, if that is in flight. `notification` of a client says so to
  /// the upstream as it came.
  void cancel(Caller& caller, std::string_view raw_id, std::optional<Frame> notification = {});
  void pause(const Caller& caller, bool paused);
  /// Whether its job is asked something about it: then it takes no slot. False if it is not in
  /// flight, or nothing changes.
  bool set_asked(const JobsOfUser& caller, std::string_view raw_id, bool is_asked);
  /// --orphans decides about its requests. REQUIRES: it was taken out of Clients.
  void client_left(Client& client);

  /// Ends every initialize that has waited for the first session for --connect-wait. Returns when
  /// to look again.
  std::optional<SteadyTime> expire_initialize(const Failure& failure);
  /// Cancels all and answers them so. `keeps_jobs`: those of jobs are not cancelled.
  void give_up_all(const Failure& failure, bool keeps_jobs = false);

  // In an upgrade.
  /// Whether the next process can await what comes of this request, for its client.
  bool survives_upgrade(UpstreamId id) const;
  /// How many there are of which that is not so, and that do not wait for their clients' answers.
  std::size_t left_behind() const;
  void give_up_left_behind(const Failure& failure, std::string_view reason);
  /// Those that go along.
  SavedCalls save() const;
  /// `is_awaited`: the upstream knows it. REQUIRES: the clients are there.
  void restore(UpstreamId id, Call call, bool is_awaited);

  const Call* find(std::optional<UpstreamId> id) const { return id ? table_.find(*id) : nullptr; }
  Call* find(std::optional<UpstreamId> id) { return id ? table_.find(*id) : nullptr; }
  /// The request of this id of its caller, with its own; null: it is not in flight.
  std::pair<UpstreamId, const Call*> find(const Caller& caller, std::string_view raw_id) const;
  /// The ids of all for which this is so.
  template <class IsOne>
  std::vector<UpstreamId> all(IsOne&& is_one) const {
    std::vector<UpstreamId> ids;
    for (const auto& [id, call] : table_) {
      if (is_one(call)) ids.push_back(id);
    }
    std::sort(ids.begin(), ids.end());
    return ids;
  }
  /// The request in flight whose upstream id this is, as JSON.
  std::optional<UpstreamId> named_by(std::string_view raw_id) const;
  /// Whether the client has a request of this id in flight.
  bool has(const Client& client, std::string_view raw_id) const {
    return find(client, raw_id).second != nullptr;
  }
  /// Whether a modern client's request is in flight about which something may be asked.
  bool has_modern_call() const;
  /// Whether it is a job's.
  bool is_job(UpstreamId id) const { return table_.owner(id) == client_of_jobs; }
  /// In which session it went; none: it is not in flight.
  std::optional<Era> side_of(UpstreamId id) const {
    const Call* const call = table_.find(id);
    return call == nullptr ? std::nullopt : std::optional(call->side);
  }
  /// Whose request's stream this is or was.
  std::optional<ClientId> owner(UpstreamId id) const { return table_.owner(id); }
  std::size_t size() const { return table_.size(); }
  std::size_t slots_used() const { return table_.slots_used(); }
  /// How many of its requests take one of its --client-inflight slots.
  std::size_t slots_used_by(const Caller& caller) const;
  /// Those of one user's clients.
  std::size_t slots_used_by(const User& user) const;
  /// `visit` gets the upstream id and the request, and starts and ends none.
  template <class Visit>
  void each(Visit&& visit) const {
    for (const auto& [id, request] : table_) visit(id, request);
  }

 private:
  void describe(Call& call, const Caller& caller, const WaitingFrame& waiting) const;
  Call& take_in(Caller& caller, WaitingFrame& waiting, UpstreamId id, Call::Kind kind);
  void take_up(Caller& caller, WaitingFrame&& waiting);
  static bool is_modern_call(const Call& call);
  void found_undeclared(const ModernRequest& failed);
  void refuse_unsendable(UpstreamId id, std::string_view header);
  std::string send(UpstreamId id, const Call& call, Frame&& frame, const Caller* caller);
  void give_up(const std::vector<UpstreamId>& ids, const Failure& failure, std::string_view reason,
               bool keeps_jobs = false);
  Call* set_aside(UpstreamId former, UpstreamId next);
  TakenCall take(UpstreamId id);
  void end_unanswered(UpstreamId id, Outcome outcome);
  void fail(UpstreamId id, const Call& ended, const Failure& failure);
  bool keep_orphan(UpstreamId id, Call& call, const Client& former);
  void tell(const Call& call, Frame&& notification);

  const RouterContext context_;
  RestorableState& restorable_;
  EraTranslator& translator_;
  Router& router_;
  CallTable table_;
  HeaderRetry header_retry_;
};

}  // namespace bridge
