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

namespace bridge {

/// What the user says who answers no elicitation.
constexpr std::string_view cancelled_by_user = R"({"action":"cancel"})";

/// A client whose request a question may be about that names no request: it had requests in flight
/// when the question came, about which this may be asked.
struct LikelyCaller {
  enum class Kind { nobody, one, several };
  friend constexpr Kind last_of(Kind) { return Kind::several; }

  Kind kind = Kind::nobody;
  std::optional<ClientId> client;  ///< of one; none: it has left

  template <class A>
  void each_field(A& archive) {
    archive(kind, client);
  }
};

LikelyCaller likely_caller(const RequestsInFlight& in_flight);

/// What the upstream asks, and was not answered yet: by a request on a stream, in the result of a
/// call, or by a task.
struct Question {
  /// After so many clients have declined it, the last one's answer counts.
  static constexpr std::size_t max_declined = 64;

  /// Who brings the answer.
  enum class Answerer : std::uint8_t {
    client,  ///< that is asked; while none is, it is parked
    job,     ///< one of the clients that wait for the job, or bridge/answer
    retry,   ///< of a modern client's call: it is asked in a result of that
  };
  friend constexpr Answerer last_of(Answerer) { return Answerer::retry; }

  std::uint64_t id = 0;             ///< what the client sees
  std::string upstream_request_id;  ///< raw JSON, as the upstream wrote it; empty: no request
  std::size_t place = 0;            ///< of one in a result, among those of it
  std::string method;
  AskedFor asked_for = AskedFor::anything;
  std::string line;                  ///< with the client's id in it
  std::optional<UpstreamId> origin;  ///< the call it belongs to; none: the session, or a task
  std::optional<ClientId> owner;     ///< whose call that is; none: of the session, or it has left
  LikelyCaller caller;               ///< of one of the session
  std::optional<User> user;          ///< of one that belongs to a call: only this user is asked
  std::optional<ClientId> asked;
  SteadyTime asked_since{};
  SteadyTime parked_until{};
  std::vector<ClientId> declined;  ///< have answered that they do not know such requests
  bool shown = false;              ///< to onlookers, who may answer while nobody is asked
  bool is_of_session = false;      ///< it came on the stream of no call
  Answerer answerer = Answerer::client;
  JobNumber job{};            ///< with Answerer::job
  std::string key{};          ///< JSON: of one in a result of the bridge's, or of a task's
  std::string shown_id{};     ///< raw JSON: the id for a client that waits for the job
  std::string shown_about{};  ///< raw JSON: the request with which that waits

  bool is_request() const { return !upstream_request_id.empty(); }
  bool is_parked() const { return answerer == Answerer::client && !asked; }
  /// As JSON; empty: none.
  std::string_view params() const;

  template <class A>
  void each_field(A& archive) {
    archive(id, upstream_request_id, place, method, asked_for, line, origin, owner, caller, user,
            asked, asked_since, parked_until, declined, shown, is_of_session, answerer, job, key,
            shown_id, shown_about);
  }
};

/// The notification that tells a client whose call its question is about; empty if it is its own,
/// or no one's in particular, or if the client has not asked for such questions by
/// `bridge/answers`.
std::string notice_of_caller(const Question& question, const Client& asked);

/// The questions that are not answered yet. Pure. Bounded: `max_parked` of them and
/// `max_parked_bytes` may be parked, and `max_questions` and `max_bytes` are kept in all.
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
  /// Behind all others of its job.
  void move_to_end(const Question& question);

  Question* find(std::uint64_t id);
  /// By the id under which the client was asked, raw JSON.
  Question* find_shown(std::string_view raw_id);
  Question* find_by_upstream_id(std::string_view raw_id);
  /// Which this job is asked now; null: nothing.
  Question* first_of(JobNumber job);

  /// Whether this client has had one of them, unanswered, since `then` or before.
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

/// Who can be asked a question, and can be reached.
struct Askable {
  ClientId client{};
  bool is_own = false;               ///< the upstream asks about a request of this client
  bool is_busy = false;              ///< it has requests in flight
  bool is_silent = false;            ///< it has left an earlier question open for too long
  JobNumber job{};                   ///< no client, but this job: it answers when somebody collects
  std::optional<UpstreamId> call{};  ///< in a result of this call, which a modern client has sent
};

/// Chooses the client to ask, in the order of connecting: the one whose request it is about; else
/// the only one with requests in flight; else the one connected longest. A job's waiter only while
/// no connected client has requests in flight. A silent client only if all are silent. Null if
/// there is none. Pure.
const Askable* who_is_asked(const std::vector<Askable>& able);

/// Whether this client has answered that it does not know such requests.
bool has_declined(const Question& question, ClientId client);

/// Called with the results of questions.
struct QuestionEvents {
  /// A question in the result of a call was answered. `response` is the client's; null: there is no
  /// answer. The callee may only take note.
  std::function<void(const Question& question, const Frame* response)> answered;
  /// The upstream's request about a call was refused, because no client has declared it.
  std::function<void(std::optional<UpstreamId> call, std::string_view method, AskedFor asked)>
      no_client_declares;
  /// A question is to be asked in a result of this call; false: it cannot be.
  std::function<bool(UpstreamId call)> ask_in_result;
};

/// Requests of the upstream (sampling, elicitation, roots, any other): which client is asked, to
/// which one a question is passed on, how long it is parked while no client can be asked, and which
/// question an answer belongs to (BEHAVIOUR, "Server requests", "Jobs: questions", "Eras").
///
/// Owned by the router; the loop's thread only. Bounds: those of QuestionTable; a question beyond
/// them is answered with an error, as is a parked one after --park-requests.
class Questions {
 public:
  Questions(const RouterContext& context, RequestsInFlight& in_flight, QuestionEvents events);
  void set_onlookers(RequestOnlookers& onlookers) { onlookers_ = &onlookers; }
  void set_jobs(JobCalls& jobs) { jobs_ = &jobs; }

  // From the upstream.
  void add(std::optional<UpstreamId> origin, Frame request);
  /// The same of a question in the result that answered a call.
  void add(UpstreamId origin, std::size_t place, const InputRequest& question);
  /// And of one of the task that this job has become.
  void add(JobNumber job, const InputRequest& question);
  /// Answers it with this error; no client is asked.
  void refuse(std::string_view raw_id, int code, std::string_view message);
  void cancel(Frame notification);
  /// The call that some belong to is in flight no more.
  void call_ending(UpstreamId origin);
  /// The session was lost. The next one counts its ids from the beginning.
  void session_replaced();

  // From the clients.
  void answer(Client& client, Frame response);
  /// A client can be asked now, or has declared more: offers the parked questions again.
  void offer_parked();
  /// It has half-closed, and will answer nothing more.
  void client_half_closed(const Client& client) { ask_others(client, false); }
  /// REQUIRES: it was taken out of Clients.
  void client_left(const Client& client) { ask_others(client, true); }

  // Of jobs.
  /// What it is asked now; null: nothing.
  const Question* first_of(JobNumber job) { return table_.first_of(job); }
  /// Whether a client that waits for the job is asked the first, or is from now on.
  bool offer(JobNumber job);
  /// Answers the first with a result or an error, as JSON; the other one is empty. False if that
  /// cannot be read. REQUIRES: there is one.
  bool answer(JobNumber job, std::string_view result, std::string_view error);
  /// This client waits no longer with that request (raw JSON).
  void waiter_gone(ClientId client, std::string_view raw_id);
  /// It has ended: what is not about its own request is asked of others.
  void job_over(JobNumber job);

  // Of modern clients' calls: those that are asked in a result.
  template <class Visit>
  void each_of(UpstreamId call, Visit&& visit) {
    table_.each([&](Question& one) {
      if (one.answerer == Question::Answerer::retry && one.origin == call) visit(one);
    });
  }
  /// `result` is JSON.
  void answer_with(const Question& question, std::string_view result);
  /// Its client has not answered it, or cannot be asked.
  void refuse_in_result(const Question& question);
  /// Whether it is a modern client's call in which this may be asked.
  bool may_be_asked_in(UpstreamId call, const Question& question) const;

  /// No id that the previous process has given to a question is given again.
  std::uint64_t last_id() const { return table_.last_id(); }
  void count_from(std::uint64_t id) { table_.count_from(id); }

  /// Those of the session and of jobs, and those about calls that go along.
  std::vector<Question> save();
  /// REQUIRES: the clients are there, and the calls.
  void restore(std::vector<Question> saved);

  std::size_t parked() const { return table_.parked(); }

 private:
  Question made(std::optional<UpstreamId> origin, std::string_view method, std::string_view params);
  void take_in(Question question);
  void refuse(const Question& question, int code, std::string_view message);
  std::vector<Askable> able(const Question& question, bool is_new) const;
  void add_modern_calls(std::vector<Askable>& able, const Question& question) const;
  std::optional<UpstreamId> suspended_call(const Question& question) const;
  std::optional<Askable> choose(const Question& question, bool is_new) const;
  bool can_answer(const Client& client, const Question& question) const;
  bool has_reachable_client() const;
  std::string_view subject(const Question& question, const Client& client) const;
  bool ask(const Askable& whom, Question& question);
  void ask(Client& client, Question& question);
  bool pass_on(Question& question);
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
  JobCalls* jobs_ = nullptr;
  QuestionTable table_;
  DeadlineTimer parking_;
  std::uint64_t last_shown_ = 0;  ///< of the ids of clients that wait for jobs
};

/// A request of the upstream was refused because no client has declared it. The client whose call
/// it is surely about, and that has never declared what it answers, is told why its call may fail:
/// `notifications/bridge/question_refused` (BEHAVIOUR, "Server requests"). The loop's thread only.
void tell_of_refusal(const Question& question, const RequestsInFlight& in_flight,
                     const Clients& clients);

}  // namespace bridge
