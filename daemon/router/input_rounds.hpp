#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_budget.hpp"
#include "event/event_loop.hpp"
#include "json/frame.hpp"
#include "json/reply.hpp"
#include "mcp/input_required.hpp"
#include "router/questions.hpp"
#include "router/requests_in_flight.hpp"
#include "router/router_context.hpp"

namespace bridge {

/// The calls of legacy clients and jobs in stage input_required: a modern upstream has answered
/// them with questions (MCP 2026-07-28, "Multi Round-Trip Requests"; BEHAVIOUR, "Eras: questions to
/// a legacy client"). Each question becomes a Question, and the request is sent again with the
/// answers. An unanswered elicitation is answered as cancelled by the user; without any other
/// answer the request ends.
///
/// The state of a call is Call::rounds. Owned by the router; the loop's thread only. Bounds:
/// `max_rounds` per call; their bytes count against --max-buffered. A round waits for its answers
/// for --input-wait and for a session for --connect-wait; that of a job, which has a deadline of
/// its own, as long as the job lasts.
class InputRounds {
 public:
  static constexpr unsigned max_rounds = 16;
  /// Pause before repeating a request after a result without a question; doubled each time.
  static constexpr std::chrono::milliseconds first_pause{100};
  static constexpr std::chrono::milliseconds longest_pause{30000};

  InputRounds(const RouterContext& context, ByteBudget& budget, RequestsInFlight& in_flight,
              Questions& questions);

  /// The call's stage is now input_required, by this result. `answers`: to the first questions, if
  /// an earlier process had them.
  void begin(UpstreamId id, Call& call, std::string_view result,
             const std::vector<std::string>& answers = {});
  /// See QuestionEvents::answered.
  void question_answered(const Question& question, const Frame* response);

  void session_open();
  /// Requests that wait for a session request one again.
  void session_closed();
  /// Ends the calls that wait for the session.
  void fail_waiting(const Failure& failure);
  bool wait_for_session() const { return !waiting(InputRound::Waits::for_session).empty(); }

  /// In an upgrade. REQUIRES: the calls were restored.
  void restore();

 private:
  std::vector<UpstreamId> waiting(InputRound::Waits what) const;
  void hold(InputRound& round);
  void wait(const Call& call, InputRound::Waits waits, SteadyTime::duration time);
  void settle();
  void expire();
  void proceed(UpstreamId id);

  const RouterContext context_;
  ByteBudget& budget_;
  RequestsInFlight& in_flight_;
  Questions& questions_;
  DeadlineTimer timer_;
  Deferred settled_;  ///< for calls that may have all answers, or one that ends them
};

}  // namespace bridge
