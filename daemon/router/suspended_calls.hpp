#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>
#include <vector>

#include "base/byte_budget.hpp"
#include "event/event_loop.hpp"
#include "json/frame.hpp"
#include "mcp/input_required.hpp"
#include "router/questions.hpp"
#include "router/requests_in_flight.hpp"
#include "router/router_context.hpp"

namespace bridge {

/// The calls of modern clients about which a legacy upstream asks something (MCP 2026-07-28, "Multi
/// Round-Trip Requests"; BEHAVIOUR, "Eras: questions to a modern client"): the client is answered
/// with an `input_required` result, and the call stays open upstream without a client until a
/// request of the same user brings the answers and takes it over. Questions within gathering_time
/// of the first are asked in one result.
///
/// A suspended call is identified by a state that cannot be guessed, is valid once, and is bound to
/// the user and the request (request_digest). The state of a call is Call::suspension.
///
/// Owned by the router; the loop's thread only. Bounds: --client-inflight suspended calls per user,
/// --max-inflight in all; per call max_rounds, max_questions waiting and max_messages; their bytes
/// count against --max-buffered. Each ends after --input-wait.
class SuspendedCalls {
 public:
  static constexpr unsigned max_rounds = 16;
  static constexpr std::size_t max_questions = max_input_requests;
  /// The number of log messages kept per suspended call, the newest.
  static constexpr std::size_t max_messages = 64;
  static constexpr std::size_t max_message_bytes = 64u << 10;
  /// A server that asks several things at once sends a message for each.
  static constexpr std::chrono::milliseconds gathering_time{10};

  SuspendedCalls(const RouterContext& context, ByteBudget& budget, RequestsInFlight& in_flight,
                 Questions& questions);

  // From the upstream.
  /// As QuestionEvents::ask_in_result.
  bool ask_in_result(UpstreamId id);
  /// Keeps the end of a suspended call for the client that takes it over.
  void keep(UpstreamId id, Call& call, Suspension::End end);
  /// Keeps a log message about it; those of the retry's level are passed on.
  void keep_message(Call& call, const Frame& message);

  // From the clients.
  /// A client's request that is about to be sent. If it has a state, it is answered here or takes
  /// over a suspended call. False: it is to be sent, as `request` is now. REQUIRES: the client has
  /// a slot for it.
  bool take_retry(Client& client, WaitingFrame& request);

  /// The daemon is ending.
  void end_all();

  /// In an upgrade: asks the gathered questions at once.
  void ask_gathered();
  /// REQUIRES: the calls and their questions were restored.
  void restore();
  std::size_t size() const { return suspended().size(); }

 private:
  bool has_room_for(const User& user) const;
  std::vector<UpstreamId> suspended() const;
  std::size_t questions_of(UpstreamId id);
  void hold(Suspension& suspension);
  void suspend(UpstreamId id, Call& call);
  void ask(UpstreamId id);
  void proceed(UpstreamId id, Client& client, const WaitingFrame& request,
               const std::vector<InputResponse>& responses);
  void give_up(UpstreamId id, std::string_view reason);
  void expire();

  const RouterContext context_;
  ByteBudget& budget_;
  RequestsInFlight& in_flight_;
  Questions& questions_;
  DeadlineTimer timer_;
  bool is_ending_ = false;
};

}  // namespace bridge
