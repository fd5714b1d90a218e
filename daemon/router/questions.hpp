#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "event/event_loop.hpp"
#include "json/frame.hpp"
#include "mcp/input_required.hpp"
#include "router/asked_for.hpp"
#include "router/client.hpp"
#include "router/client_channel.hpp"
#include "router/requests_in_flight.hpp"
#include "router/router_context.hpp"
#include "router/told_names.hpp"

namespace bridge {

/// A possible caller of a question that names no request: it had requests in flight, about which
/// this may be asked, when the question arrived.
struct LikelyCaller {
  enum class Kind { nobody, one, several };
  friend constexpr Kind last_of(Kind) { return Kind::several; }

  Kind kind = Kind::nobody;
  std::optional<ClientId> client;  ///< the only candidate; none: it has left

  template <class A>
  void each_field(A& archive) {
    archive(kind, client);
  }
};

LikelyCaller likely_caller(const RequestsInFlight& in_flight);

/// A question of the upstream that is not answered yet: from a request on a stream, from the result
/// of a call, or from a task.
struct Question {
  /// After this many clients have declined, the last answer counts.
  static constexpr std::size_t max_declined = 64;

  /// How the question is answered.
  enum class Answerer : std::uint8_t {
    client,       ///< by a client; parked while none is asked
    job,          ///< by a client that waits for the job, or by bridge/answer
    modern_call,  ///< by a modern client, which is asked in the result of its call
  };
  friend constexpr Answerer last_of(Answerer) { return Answerer::modern_call; }

  std::uint64_t id = 0;             ///< as the client sees it
  std::string upstream_request_id;  ///< raw JSON of the upstream; empty: not a request
  std::size_t index = 0;            ///< position in its result
  std::string method;
  AskedFor asked_for = AskedFor::anything;
  std::string line;                  ///< the frame, with the client's id
  std::optional<UpstreamId> origin;  ///< its call; none: the session's, or a task's
  std::optional<ClientId> owner;     ///< the call's client, also if it has left
  LikelyCaller likely_caller;        ///< if it names no call
  std::optional<User> user;          ///< for a question about a call: only this user is asked
  std::optional<ClientId> named;     ///< it names something that only this client knows
  std::optional<ClientId> asked;
  SteadyTime asked_since{};
  SteadyTime parked_until{};
  std::vector<ClientId> declined;  ///< clients that answered that they do not know the method
  bool shown = false;              ///< to onlookers, which may answer while no client is asked
  bool is_of_session = false;      ///< it arrived on a stream that belongs to no call
  Answerer answerer = Answerer::client;
  JobNumber job{};            ///< with Answerer::job
  std::string key{};          ///< JSON: its key in the result of a call or of a task
  std::string shown_id{};     ///< raw JSON: the id shown to a client that waits for the job
  std::string shown_about{};  ///< raw JSON: that client's waiting request

  bool is_request() const { return !upstream_request_id.empty(); }
  bool is_parked() const { return answerer == Answerer::client && !asked; }
  /// As JSON; empty: none.
  std::string_view params() const;

  template <class A>
  void each_field(A& archive) {
    archive(id, upstream_request_id, index, method, asked_for, line, origin, owner, likely_caller,
            user, named, asked, asked_since, parked_until, declined, shown, is_of_session, answerer,
            job, key, shown_id, shown_about);
  }
};

/// The notification that tells a client whose call a question is about. Empty if it is the client's
/// own call or the session's, or if the client has not named the method in `bridge/answers`.
std::string notice_of_caller(const Question& question, const Client& asked);

/// The unanswered questions. Pure. Bounds: `max_parked` and `max_parked_bytes` of parked ones,
/// `max_questions` and `max_bytes` in all.
class QuestionTable {
 public:
  static constexpr std::size_t max_parked = 64;
  static constexpr std::size_t max_parked_bytes = 1u << 20;
  static constexpr std::size_t max_questions = 1024;
  static constexpr std::size_t max_bytes = 16u << 20;

  std::uint64_t next_id() { return ++last_id_; }
  std::uint64_t last_id() const { return last_id_; }
  void count_from(std::uint64_t id) { last_id_ = id; }

  bool has_room_for(std::size_t bytes) const {
    return questions_.size() < max_questions && bytes_ + bytes <= max_bytes;
  }
  bool can_park(std::size_t bytes) const;

  Question& add(Question question);
  void remove(const Question& question);
  /// Moves the question behind all others of its job.
  void move_to_end(const Question& question);

  Question* find(std::uint64_t id);
  /// By the id that the client was given, raw JSON.
  Question* find_shown(std::string_view raw_id);
  Question* find_by_upstream_id(std::string_view raw_id);
  /// The question that the job is asked now; null: none.
  Question* first_of(JobNumber job);

  /// Whether this client has left a question unanswered since `then` or longer.
  bool has_left_open(ClientId client, SteadyTime then) const;

  template <class Visit>
  void each(Visit&& visit) {
    for (auto at = questions_.begin(); at != questions_.end();) visit(*at++);
  }

  std::size_t parked() const;

 private:
  template <class IsOne>
  Question* find_if(IsOne&& is_one);

  std::list<Question> questions_;
  std::size_t bytes_ = 0;
  std::uint64_t last_id_ = 0;
};

/// A client that waits for a job and can be asked about it.
struct JobWaiter {
  ClientId client{};
  std::string_view request_id;  ///< raw JSON id of its waiting request
  bool answers = false;         ///< it has declared so for this job
};

/// A candidate for answering a question, reachable now.
struct Candidate {
  ClientId client{};
  bool is_own = false;               ///< the question is about its request
  bool is_busy = false;              ///< it has requests in flight
  bool is_silent = false;            ///< has left an earlier question open for too long
  JobNumber job{};                   ///< not a client but this job, answered by a collector
  std::optional<UpstreamId> call{};  ///< not a client but this modern call, asked in its result
};

/// Chooses the candidate to ask, in order of connecting: the one whose request it is about; else
/// the only one with requests in flight; else the one connected longest. A job only while no
/// connected client has requests in flight; a silent client only if all are silent. Null if there
/// is none. Pure.
const Candidate* who_is_asked(const std::vector<Candidate>& candidates);

/// Whether this client has answered that it does not know the method.
bool has_declined(const Question& question, ClientId client);

/// Reports about questions.
struct QuestionEvents {
  /// A question in a call's result was answered. `response` is the client's; null: no answer. The
  /// callee may only take note.
  std::function<void(const Question& question, const Frame* response)> answered;
  /// The upstream's request about a call was refused because no client has declared it.
  std::function<void(std::optional<UpstreamId> call, std::string_view method, AskedFor asked)>
      no_client_declares;
  /// Asks a question in the result of this call; false: not possible.
  std::function<bool(UpstreamId call)> ask_in_result;
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
  Questions(const RouterContext& context, RequestsInFlight& in_flight, QuestionEvents events);
  void set_onlookers(RequestOnlookers& onlookers) { onlookers_ = &onlookers; }

  // From the upstream.
  void add(std::optional<UpstreamId> origin, Frame request);
  /// A question in the result of a call.
  void add(UpstreamId origin, std::size_t index, const InputRequest& question);
  /// A question of the task that this job has become.
  void add(JobNumber job, const InputRequest& question);
  /// Answers the upstream's request with this error; no client is asked.
  void refuse(std::string_view raw_id, int code, std::string_view message);
  void cancel(Frame notification);
  /// This call is no longer in flight: its questions end.
  void call_ending(UpstreamId origin);
  /// The session was lost; the next one numbers its requests from the beginning.
  void session_replaced();
  /// The upstream has answered a request of this client: the response may tell it of a name.
  void told(ClientId client, const Frame& response);

  // From the clients.
  void answer(Client& client, Frame response);
  /// The client tells of one of its tasks.
  void told_of_task(const Client& client, const Frame& notification);
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
    table_.each([&](Question& one) {
      if (one.answerer == Question::Answerer::modern_call && one.origin == call) visit(one);
    });
  }
  /// `result` is JSON.
  void answer_with(const Question& question, std::string_view result);
  /// The client did not answer, or cannot be asked.
  void refuse_in_result(const Question& question);
  /// Whether the call is a modern client's that can be asked this in its result.
  bool may_be_asked_in(UpstreamId call, const Question& question) const;

  /// Ids of questions continue after this number in the new process.
  std::uint64_t last_id() const { return table_.last_id(); }
  void count_from(std::uint64_t id) { table_.count_from(id); }

  /// Questions of the session and of jobs, and those about calls that survive.
  std::vector<Question> save();
  std::vector<ToldNames::Entry> told_names() const {
    return {told_.entries().begin(), told_.entries().end()};
  }
  void restore_told(const std::vector<ToldNames::Entry>& names);
  /// REQUIRES: the clients and the calls were restored.
  void restore(std::vector<Question> saved);

  std::size_t parked() const { return table_.parked(); }

 private:
  Question made(std::optional<UpstreamId> origin, std::string_view method, std::string_view params);
  void take_in(Question question);
  void refuse(const Question& question, int code, std::string_view message);
  std::vector<Candidate> candidates(const Question& question, bool is_new) const;
  void add_modern_calls(std::vector<Candidate>& candidates, const Question& question) const;
  std::optional<UpstreamId> suspended_call(const Question& question) const;
  std::optional<Candidate> choose(const Question& question, bool is_new) const;
  bool can_answer(const Client& client, const Question& question) const;
  bool may_be_asked(JobNumber job) const;
  std::optional<ClientId> client_named_by(std::string_view method, std::string_view params) const;
  std::optional<UpstreamId> client_request_named_by(const Frame& request, Slice& name) const;
  bool may_answer_later(const Question& question) const;
  std::optional<Candidate> choose_named(const Question& question) const;
  void refuse_named(const Question& question);
  bool has_reachable_client() const;
  std::string_view subject(const Question& question, const Client& client) const;
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
  const QuestionEvents events_;
  RequestOnlookers* onlookers_ = nullptr;
  QuestionTable table_;
  ToldNames told_;
  DeadlineTimer parking_;
  std::uint64_t last_shown_ = 0;  ///< counts ids shown to clients that wait for jobs
};

/// Sends `notifications/bridge/question_refused` (BEHAVIOUR, "Server requests") to the client whose
/// call a refused request is certainly about, if that client never declared what it answers: so it
/// learns why its call may fail. The loop's thread only.
void tell_of_refusal(const Question& question, const RequestsInFlight& in_flight);

}  // namespace bridge
