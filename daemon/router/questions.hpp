#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "event/event_loop.hpp"
#include "json/frame.hpp"
#include "mcp/input_required.hpp"
#include "router/answerers.hpp"
#include "router/client.hpp"
#include "router/question.hpp"
#include "router/requests_in_flight.hpp"
#include "router/router_context.hpp"

namespace bridge {

class Crossings;

/// A client that waits for a job and can be asked about it.
struct JobWaiter {
  ClientId client{};
  std::string_view request_id;  ///< raw JSON id of its waiting request
  bool answers = false;         ///< it has declared so for this job
};

/// The requests of the upstream (sampling, elicitation, roots, any other): which client is asked,
/// when another client is asked instead, how long a question is parked while no client can be
/// asked, and which question an answer belongs to (BEHAVIOUR, "Server requests", "Jobs: questions",
/// "Eras").
///
/// Owned by the router; the loop's thread only. Bounds: those of QuestionTable; a question beyond
/// them is answered with an error, and so is a parked one after --park-requests.
class Questions {
 public:
  Questions(const RouterContext& context, RequestsInFlight& in_flight, Crossings& crossings);
  void set_onlookers(RequestOnlookers& onlookers) { onlookers_ = &onlookers; }

  Answerers& answerers() { return answerers_; }

  // From the upstream.
  void take_question(std::optional<UpstreamId> origin, Frame request);
  /// A question in the result of a call.
  void take_question(UpstreamId origin, std::size_t index, const InputRequest& question);
  /// A question of the task that this job has become.
  void take_question(JobNumber job, const InputRequest& question);
  /// Answers the upstream's request with this error; no client is asked.
  void refuse(std::string_view raw_id, int code, std::string_view message);
  void cancel(Frame notification);
  /// This call is no longer in flight: its questions end.
  void call_ending(UpstreamId origin);
  /// The session was lost; the next one numbers its requests from the beginning.
  void session_replaced();

  // From the clients.
  void answer(Client& client, Frame response);
  /// A client can be asked now, or has declared more: offers the parked questions again.
  void offer_parked();
  /// The client has half-closed and answers nothing more.
  void client_half_closed(const Client& client) { ask_others(client, false); }
  /// REQUIRES: the client was removed from Clients.
  void client_left(const Client& client) { ask_others(client, true); }

  /// The clients' rules were looked up again: questions of clients without one go to others, and
  /// parked ones are offered again.
  void policy_changed();

  // For jobs.
  /// The question that the job is asked now; null: none.
  const Question* first_of(JobNumber job) { return table_.first_of(job); }
  /// Whether one of the clients that wait for the job is now asked its first question.
  bool offer(JobNumber job, const std::vector<JobWaiter>& waiters);
  /// Answers the job's first question with a result or an error, as JSON; the other one is empty.
  /// False if that is malformed. REQUIRES: there is a question.
  bool answer(JobNumber job, std::string_view result, std::string_view error);
  /// This client no longer waits with that request (raw JSON).
  void waiter_gone(ClientId client, std::string_view raw_id);
  /// The job has ended: questions that are not about its own request go to other clients.
  void job_over(JobNumber job);

  // For calls of modern clients: visits the questions to ask in a result.
  template <class Visit>
  void each_of(UpstreamId call, Visit&& visit) {
    table_.each_question([&](Question& one) {
      if (one.answerer == Question::Answerer::modern_call && one.origin == call) visit(one);
    });
  }
  /// `result` is JSON.
  void answer_with(const Question& question, std::string_view result);
  /// The client did not answer, or cannot be asked.
  void refuse_unanswered(const Question& question);

  /// Ids of questions continue after this number in the new process.
  std::uint64_t last_id() const { return table_.last_id(); }
  void count_from(std::uint64_t id) { table_.count_from(id); }

  /// Questions of the session and of jobs, and those about calls that survive.
  std::vector<Question> save_questions();
  /// REQUIRES: the clients and the calls were restored.
  void restore(std::vector<Question> saved);

  std::size_t parked() const { return table_.parked(); }

 private:
  Question made(std::optional<UpstreamId> origin, std::string_view method, std::string_view params);
  void take_in(Question question);
  void refuse(const Question& question, int code, std::string_view message);
  void refuse_named(const Question& question);
  bool ask(const Candidate& whom, Question& question);
  void ask(Client& client, Question& question);
  bool ask_next(Question& question);
  void ask_another(Question& question, bool may_be_asked, bool may_wait);
  void ask_others(const Client& client, bool has_left);
  void take_answer(Question& question, Frame&& response);
  void release(Question& question);
  void park(Question& question);
  void expire_parked();
  void withdraw(Question& question, std::string_view reason);
  void tell_withdrawn(const Question& question, std::string_view reason);
  void remove(const Question& question);

  const RouterContext context_;
  RequestsInFlight& in_flight_;
  Crossings& crossings_;
  RequestOnlookers* onlookers_ = nullptr;
  QuestionTable table_;
  Answerers answerers_;
  DeadlineTimer parking_;
  std::uint64_t last_shown_ = 0;  ///< counts ids shown to clients that wait for jobs
};

/// Sends `notifications/bridge/question_refused` (BEHAVIOUR, "Server requests") to the client whose
/// call a refused request is certainly about, if that client never declared what it answers: so it
/// learns why its call may fail. The loop's thread only.
void tell_of_refusal(const Question& question, const RequestsInFlight& in_flight);

}  // namespace bridge
