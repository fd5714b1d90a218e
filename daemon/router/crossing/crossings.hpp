#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_budget.hpp"
#include "event/event_loop.hpp"
#include "json/frame.hpp"
#include "mcp/input_required.hpp"
#include "router/call.hpp"
#include "router/questions.hpp"
#include "router/requests_in_flight.hpp"
#include "router/router_context.hpp"

namespace bridge {

/// The calls between the eras that a server asks about: those of LegacyToModern that wait at the
/// bridge, and those of ModernToLegacy that are suspended. Their state is that of the calls.
///
/// Owned by the router; the loop's thread only. Bounds: those of the two, and --client-inflight
/// suspended calls per user, --max-inflight in all. A round waits for its answers for --input-wait
/// and for a session for --connect-wait; that of a job, which has a deadline of its own, as long as
/// the job lasts. A suspended call ends after --input-wait.
class Crossings {
 public:
  Crossings(const RouterContext& context, ByteBudget& budget, RequestsInFlight& in_flight,
            Questions& questions);

  // Legacy callers' calls. A question in a result was answered: see Questions.
  /// The call was answered with this `input_required` result. `answers`: to the first questions, if
  /// an earlier process had them.
  void server_asks(UpstreamId id, Call& call, std::string_view result,
                   const std::vector<std::string>& answers = {});
  /// `response`: the client's; null: no answer. Only takes note.
  void question_answered(const Question& question, const Frame* response);
  void session_open();
  /// Calls that wait for a session request one again.
  void session_closed();
  bool wait_for_session() const;
  /// Ends the calls that wait for the session.
  void fail_waiting(const Failure& failure);

  // Modern clients' calls.
  /// Asks a question in the result of this call; false: not possible.
  bool ask_in_result(UpstreamId id);
  /// A suspended call has ended; its client does not know yet.
  void suspended_ended(UpstreamId id, Call& call, ModernToLegacy::End end);
  /// A log message has arrived about a suspended call; those of the retry's level are passed on.
  void suspended_notified(Call& call, const Frame& message);
  /// A client's request that is about to be sent. If it has a state, it is answered here or takes
  /// over a suspended call. False: it is to be sent, as `request` is now. REQUIRES: the client has
  /// a slot for it.
  bool take_retry(Client& client, WaitingFrame& request);
  /// The daemon is ending.
  void end_suspended();
  /// A request of the upstream was refused. `id`: the call that it is about; nullopt: it names
  /// none, so it may be about any call whose client has not declared it; the first of them that
  /// fails is taken.
  void note_undeclared(std::optional<UpstreamId> id, std::string_view method, AskedFor asked);
  /// A modern client's call has this response: if it failed because of a refused request, no other
  /// call did.
  void crossing_ended(const ModernToLegacy& ended, const Frame& response);

  /// In an upgrade: asks the gathered questions at once.
  void ask_gathered();
  /// REQUIRES: the calls and their questions were restored.
  void restore();

 private:
  std::vector<UpstreamId> waiting(LegacyToModern::Waits what) const;
  void wait(const Call& call, LegacyToModern::Waits what, SteadyTime::duration time);
  void proceed_answered();
  void proceed(UpstreamId id);
  void expire_waiting();
  Failure failure_of_wait(LegacyToModern::Waits what) const;

  bool has_room_for(const User& user) const;
  std::vector<UpstreamId> suspended() const;
  std::size_t questions_of(UpstreamId id);
  void ask(UpstreamId id);
  void take_over(UpstreamId id, Client& client, const WaitingFrame& request,
                 const std::vector<InputResponse>& responses);
  void drop(UpstreamId id, std::string_view reason);
  void expire_suspended();

  const RouterContext context_;
  ByteBudget& budget_;
  RequestsInFlight& in_flight_;
  Questions& questions_;
  DeadlineTimer waits_;
  DeadlineTimer suspensions_;
  Deferred settled_;  ///< for calls that may have all answers, or one that ends them
  bool is_ending_ = false;
};

}  // namespace bridge
