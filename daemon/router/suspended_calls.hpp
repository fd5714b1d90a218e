#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/byte_budget.hpp"
#include "event/event_loop.hpp"
#include "json/frame.hpp"
#include "mcp/input_required.hpp"
#include "router/question_subject.hpp"
#include "router/requests_in_flight.hpp"
#include "router/router_context.hpp"

namespace bridge {

/// Modern clients' calls in which a legacy upstream asks something (MCP 2026-07-28, "Multi
/// Round-Trip Requests"; BEHAVIOUR, "Eras: questions to a modern client"): the client is answered
/// with an `input_required` result, and the call stays open upstream, with nobody who waits for it,
/// until a request of the same user brings the answers and takes it over. Questions that come
/// within gathering_time of the first are asked in one result.
///
/// What names such a call is a state that cannot be guessed, that counts once, and that is bound to
/// the user and to the request (request_digest).
///
/// Owned by the router; the loop's thread only. Bounds: --client-inflight suspended calls of a
/// user, --max-inflight in all; of each max_rounds, max_questions that wait and max_messages; what
/// is kept of them counts against --max-buffered. Each ends after --input-wait.
class SuspendedCalls {
 public:
  static constexpr unsigned max_rounds = 16;
  static constexpr std::size_t max_questions = max_input_requests;
  /// Of the log messages of a suspended call the newest are kept.
  static constexpr std::size_t max_messages = 64;
  static constexpr std::size_t max_message_bytes = 64u << 10;
  /// A server that asks for several things at once does so in messages of their own.
  static constexpr std::chrono::milliseconds gathering_time{10};

  struct Question {
    std::string raw_id;  ///< as the upstream wrote it
    InputRequest request;
    bool is_of_session = false;  ///< it did not come on the call's stream

    template <class A>
    void each_field(A& archive) {
      archive(raw_id, request, is_of_session);
    }
  };
  struct Suspended {
    std::string state;                ///< empty: a client waits for it
    std::vector<Question> questions;  ///< those with a key are asked, if it is suspended
    unsigned rounds = 0;
    SteadyTime due{};  ///< when its questions are asked, or were to be answered

    template <class A>
    void each_field(A& archive) {
      archive(state, questions, rounds, due);
    }
  };
  /// With what has come of it, as lines.
  struct Saved {
    UpstreamId id{};
    Suspended call;
    std::vector<std::string> messages;
    std::string end;  ///< the response that no client has had yet; empty: none has come

    template <class A>
    void each_field(A& archive) {
      archive(id, call, messages, end);
    }
  };

  SuspendedCalls(const RouterContext& context, ByteBudget& budget, RequestsInFlight& in_flight,
                 const ServerRequests& server_requests);

  // From the upstream.
  /// Takes a request of a legacy upstream that a modern client is to answer; false: it is none.
  bool add(std::optional<UpstreamId> origin, const Frame& request);
  /// The upstream needs no answer to that any more; false if it is none of these.
  bool cancel(std::string_view raw_id);
  /// What came of a suspended call is kept for who takes it over.
  void keep(UpstreamId id, RequestsInFlight::End end);
  /// So is a log message about it; of those the ones of its retry's level are passed on.
  void keep_message(UpstreamId id, Frame message);
  /// The call is in flight no more.
  void request_ending(UpstreamId id);
  /// The session was lost. The next one counts its ids anew.
  void session_replaced();

  // From the clients.
  /// A client's request that is to be sent: one with a state is answered, or takes a call over.
  /// False: it is to be sent, as `request` is now. REQUIRES: the client has a place for it.
  bool take_retry(Client& client, WaitingFrame& request);

  /// The daemon is ending.
  void end_all();

  /// In an upgrade: asks what is gathered, at once.
  void ask_gathered();
  /// Those whose requests go along.
  std::vector<Saved> save() const;
  /// REQUIRES: their requests are there.
  void restore(std::vector<Saved> saved);
  std::size_t size() const { return calls_.size(); }

 private:
  struct Call : Suspended {
    explicit Call(ByteBudget& budget) : held(budget) {}

    std::deque<Frame> messages;  ///< came while no client waited
    std::size_t message_bytes = 0;
    std::optional<RequestsInFlight::End> end;
    ByteBudget::Share held;
  };

  bool has_room_for(UpstreamId id) const;
  void refuse(const Question& question);
  void suspend(UpstreamId id, Call& call);
  void gather(Call& call);
  void ask(UpstreamId id);
  void go_on(UpstreamId id, Client& client, const WaitingFrame& request,
             const std::vector<InputResponse>& responses);
  void refuse(Client& client, const Frame& request, std::string_view reason);
  void pass_messages_on(UpstreamId id, Call& call);
  void drop_oldest_message(Call& call);
  void give_up(UpstreamId id, std::string_view reason);
  void expire();

  const RouterContext context_;
  ByteBudget& budget_;
  RequestsInFlight& in_flight_;
  const QuestionSubject subject_;
  std::map<UpstreamId, Call> calls_;  ///< all that were asked something
  std::map<std::string, UpstreamId, std::less<>> states_;
  DeadlineTimer timer_;
  bool is_ending_ = false;
};

}  // namespace bridge
