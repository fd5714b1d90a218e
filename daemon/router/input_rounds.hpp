#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_budget.hpp"
#include "event/event_loop.hpp"
#include "json/frame.hpp"
#include "json/reply.hpp"
#include "mcp/input_required.hpp"
#include "router/requests_in_flight.hpp"
#include "router/router_context.hpp"
#include "router/server_requests.hpp"

namespace bridge {

/// Legacy clients' requests that a modern upstream has answered with questions (MCP 2026-07-28,
/// "Multi Round-Trip Requests"; BEHAVIOUR, "Eras: questions to a legacy client"): the questions
/// become requests to a client, and the request is sent again with the answers. An elicitation that
/// nobody answers is answered as cancelled by the user; of anything else the request ends.
///
/// Owned by the router; the loop's thread only. Bounds: one round for a request in flight, at most
/// `max_rounds` of each; their bytes count against --max-buffered. A round waits for its answers
/// for --input-wait, and for a session for --connect-wait.
class InputRounds {
 public:
  static constexpr unsigned max_rounds = 16;
  /// Between a result without a question and the next try; doubled from one to the next.
  static constexpr std::chrono::milliseconds first_pause{100};
  static constexpr std::chrono::milliseconds longest_pause{30000};

  enum class Waits { for_answers, for_pause, for_session };
  friend constexpr Waits last_of(Waits) { return Waits::for_session; }
  struct Question {
    std::string key;
    std::string method;
    std::string result;  ///< as JSON; empty: not answered yet

    template <class A>
    void each_field(A& archive) {
      archive(key, method, result);
    }
  };
  /// A round, but for what it is counted by and what has ended it.
  struct Saved {
    Waits waits = Waits::for_answers;
    std::vector<Question> questions;
    std::string request_state;  ///< as JSON; empty: none
    SteadyTime due{};

    template <class A>
    void each_field(A& archive) {
      archive(waits, questions, request_state, due);
    }
  };

  InputRounds(const RouterContext& context, ByteBudget& budget, RequestsInFlight& in_flight,
              ServerRequests& server_requests);

  /// `response` is what RequestEvents::input_required tells of.
  void asked(UpstreamId id, const Frame& response);
  /// As QuestionEvents::answered.
  void question_answered(UpstreamId id, std::size_t place, const Frame* response);
  /// The request is in flight no more.
  void request_ending(UpstreamId id) { rounds_.erase(id); }

  void session_open();
  /// Whoever waits for one asks for it again.
  void session_closed();
  /// Ends those that wait for the session.
  void fail_waiting(const Failure& failure);
  bool wait_for_session() const;
  std::size_t size() const { return rounds_.size(); }

  /// In an upgrade: those whose requests go along.
  std::map<UpstreamId, Saved> save() const;
  /// REQUIRES: their requests are there.
  void restore(std::map<UpstreamId, Saved>&& saved);

 private:
  struct Round : Saved {
    explicit Round(ByteBudget& budget) : held(budget) {}

    std::optional<Failure> failure;
    ByteBudget::Share held;
  };

  void begin(UpstreamId id, InputRequired required, InputRound& told);
  void wait(Round& round, Waits waits, SteadyTime::duration time);
  void settle();
  void expire();
  void go_on(UpstreamId id);
  void fail(UpstreamId id, const Failure& failure);
  std::vector<UpstreamId> ids() const;

  const RouterContext context_;
  ByteBudget& budget_;
  RequestsInFlight& in_flight_;
  ServerRequests& server_requests_;
  std::map<UpstreamId, Round> rounds_;
  DeadlineTimer timer_;
  Deferred settled_;  ///< some may have all their answers, or one that ends them
};

}  // namespace bridge
