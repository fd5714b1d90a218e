#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/byte_budget.hpp"
#include "base/ids.hpp"
#include "event/event_loop.hpp"
#include "json/frame.hpp"
#include "json/reply.hpp"
#include "mcp/handshake.hpp"
#include "mcp/input_required.hpp"
#include "policy/peer.hpp"
#include "router/asked_for.hpp"
#include "router/client_channel.hpp"
#include "session/session_events.hpp"

namespace bridge {

struct Call;
struct Client;
struct Question;

/// Stands for every job where a client is named.
constexpr ClientId client_of_jobs{~std::uint64_t{0}};

/// Where the answer to a request comes that another daemon had sent.
struct ResumePoint {
  UpstreamId id{};            ///< under which it was sent
  std::uint32_t session = 0;  ///< the number of the session in which that was
  std::string event_id;       ///< of the last event of the answer's stream that was dealt with
};

/// What a modern client's request says beside its method (MCP 2026-07-28, basic, "`_meta`").
struct ModernRequest {
  DeclaredAnswers declared;  ///< which questions its client answers
  std::string log_level;     ///< empty: no log messages
  std::uint64_t digest = 0;  ///< request_digest(), of one that can be asked something
  /// The capabilities, as JSON, without which a request of the upstream about this call was
  /// refused; empty: none was.
  std::string undeclared;
  /// It did not say about which of those in flight.
  bool undeclared_by_one_of_several = false;

  template <class A>
  void each_field(A& archive) {
    archive(declared, log_level, digest, undeclared, undeclared_by_one_of_several);
  }
};

/// Of a request that a modern upstream may answer with questions (MCP 2026-07-28, "Multi Round-Trip
/// Requests"): what it takes to send it again, and while its stage is input_required what it waits
/// for. InputRounds changes it.
struct InputRound {
  enum class Waits : std::uint8_t { for_answers, for_pause, for_session };
  friend constexpr Waits last_of(Waits) { return Waits::for_session; }

  std::string original;  ///< the request as its client wrote it
  unsigned rounds = 0;   ///< so many times it was answered so
  unsigned pauses = 0;   ///< the last of them, without a question
  Waits waits = Waits::for_answers;
  std::vector<InputResponse> answers{};  ///< of this round; with an empty result: not there yet
  std::string request_state{};           ///< as JSON; empty: none
  SteadyTime due{};
  std::optional<Failure> failure{};  ///< what has ended it
  std::unique_ptr<ByteBudget::Share> held{};

  template <class A>
  void each_field(A& archive) {
    archive(original, rounds, pauses, waits, answers, request_state, due,
            archive.not_saved(failure), archive.not_saved(held));
  }
};

/// Of a modern client's call in which a legacy upstream has asked something. SuspendedCalls changes
/// it.
struct Suspension {
  using End = std::variant<Frame, Ending>;

  std::string state{};  ///< names it; empty: a client waits for it
  unsigned rounds = 0;
  SteadyTime due{};                     ///< when its questions are asked, or were to be answered
  std::vector<std::string> messages{};  ///< log messages that came while no client waited
  std::size_t message_bytes = 0;
  std::optional<End> end{};  ///< what has come of it, and no client has had
  std::string saved_end{};   ///< in an upgrade: the same as a response
  std::unique_ptr<ByteBudget::Share> held{};

  template <class A>
  void each_field(A& archive) {
    archive(state, rounds, due, messages, message_bytes, archive.not_saved(end), saved_end,
            archive.not_saved(held));
  }
};

/// What the router is to know of a job's request (BEHAVIOUR, "Jobs").
struct JobRequest {
  JobNumber number{};
  bool about_task = false;  ///< it asks about the task that the job has become
  /// A client waits for the result, with the times of any request, and gets the other messages
  /// about it.
  bool for_client = false;
  // Who has submitted it.
  std::optional<Peer> peer{};  ///< none: not known
  pid_t pid = 0;               ///< 0: not known
  std::string command{};
  std::string remote{};  ///< the address of a caller of the HTTP frontend
  std::string job{};     ///< its name
  /// Where its answer comes, if another daemon has sent it; none: it is to be sent.
  std::optional<ResumePoint> place{};

  /// Its id at the router, as JSON.
  std::string id() const;

  template <class A>
  void each_field(A& archive) {
    archive(number, about_task, for_client, peer, pid, command, remote, job,
            archive.not_saved(place));
  }
};

/// Which request of which job has this id at the router.
JobRequest job_request_of(std::string_view raw_id);

/// A client that waits for what comes of a job, and can be asked about it.
struct JobWaiter {
  ClientId client{};
  std::string_view request_id;  ///< of the request with which it waits, raw JSON
  bool answers = false;         ///< it has said so for this job
};

/// What comes of the requests of jobs, and what is asked about them. Told in the middle of the
/// router's work: it may only take note. Implemented by JobRunner.
class JobCalls {
 public:
  /// Its response, why there is none, or neither: it was cancelled.
  using End = std::variant<std::monostate, Frame, Failure>;

  /// The request goes to this side of the upstream under this id, and is not sent yet.
  virtual void job_starting(JobNumber number, UpstreamId id, Era side) = 0;
  /// It was answered with this `input_required` result, and is sent again with the answers.
  virtual void job_input_required(JobNumber number, std::string_view result) = 0;
  virtual void job_request_ended(const JobRequest& request, End end) = 0;
  /// Progress, or another notification about it.
  virtual void job_notified(JobNumber number, Frame notification) = 0;
  /// The job asks something else, or another user: Router::question_of_job().
  virtual void job_questions_changed(JobNumber number) = 0;
  /// One that stood in a result has this answer, as JSON; empty: an error.
  virtual void job_question_answered(JobNumber number, const Question& question,
                                     std::string_view result) = 0;
  virtual std::vector<JobWaiter> waiters_for(JobNumber number) const = 0;
  /// Of each user with jobs at the server the one that a question is about which names no request.
  virtual std::vector<JobNumber> jobs_to_ask(const Question& question) const = 0;
  /// Makes a job of the call of a client that has left (--orphans keep). Null: it cannot be one, or
  /// there is no room.
  virtual std::unique_ptr<JobRequest> adopt(const Client& former, UpstreamId id,
                                            const Call& call) = 0;

 protected:
  ~JobCalls() = default;
};

/// A client's request from its start to its end.
struct Call {
  enum class Kind : std::uint8_t {
    forwarded,
    opens_session,  ///< the first `initialize`
    own,            ///< the router's
  };
  friend constexpr Kind last_of(Kind) { return Kind::own; }
  enum class Stage : std::uint8_t {
    in_flight,       ///< at the upstream
    asked,           ///< at the upstream, which asks its job something
    input_required,  ///< answered with questions; sent again with the answers
    suspended,       ///< at the upstream; its modern client was answered with questions
    answered,        ///< the same, and its end has come
  };
  friend constexpr Stage last_of(Stage) { return Stage::answered; }

  Kind kind = Kind::forwarded;
  Stage stage = Stage::in_flight;
  std::optional<ClientId> client;   ///< the connection that waits for it, if there is one
  std::unique_ptr<JobRequest> job;  ///< of one that belongs to a job
  User user;                        ///< whose it is
  std::string client_request_id;    ///< raw JSON, as the client wrote it
  std::string progress_token;       ///< raw JSON; empty: none
  std::string method;
  std::string subject;                     ///< RestorableState::subject_of
  bool mirrored_again = false;             ///< sent a second time, for want of headers
  std::string_view malformed{};            ///< what is wrong with what came instead of its answer
  Era era = Era::legacy;                   ///< of its client, as this request says
  Era side = Era::legacy;                  ///< of the session in which it goes (Session)
  std::unique_ptr<ModernRequest> modern;   ///< of a modern one
  std::unique_ptr<InputRound> rounds;      ///< of one that may be sent again with answers
  std::unique_ptr<Suspension> suspension;  ///< of one whose modern client was asked
  std::unique_ptr<const std::string> traceparent;  ///< for the log, at debug level only
  SteadyTime received;
  SteadyTime sent;

  bool is_own() const { return kind == Kind::own; }
  bool is_suspended() const { return stage == Stage::suspended || stage == Stage::answered; }
  /// Whether the upstream has still to say something under its id.
  bool is_upstream() const { return stage != Stage::input_required && stage != Stage::answered; }
  /// Whether it takes a slot of --max-inflight: what waits for an answer about a job does not.
  bool takes_slot() const {
    return kind == Kind::forwarded &&
           (stage == Stage::in_flight || (stage == Stage::input_required && !job));
  }

  // The results are not saved.
  template <class A>
  void each_field(A& archive) {
    archive(kind, stage, client, job, user, client_request_id, progress_token, method, subject,
            mirrored_again, archive.not_saved(malformed), era, side, modern, rounds, suspension,
            traceparent, received, sent);
  }
};

/// Calls by upstream id, as they are saved: in the order in which they were sent.
using SavedCalls = std::vector<std::pair<UpstreamId, Call>>;

/// A request that is in flight no more, where it was in the table: it is not moved about. False:
/// there was none.
class TakenCall {
 public:
  using Node = std::unordered_map<UpstreamId, Call>::node_type;

  explicit TakenCall(Node node) : node_(std::move(node)) {}
  explicit operator bool() const { return !node_.empty(); }
  const Call& operator*() const { return node_.mapped(); }
  const Call* operator->() const { return &node_.mapped(); }

 private:
  Node node_;
};

/// The requests in flight by upstream id, and whose stream an answered one was: what comes late on
/// it still belongs to that client. Pure. Bounded by --max-inflight, and by 1024 answered ones.
class CallTable {
 public:
  Call& add(UpstreamId id, Call call) {
    if (call.takes_slot()) ++slots_used_;
    return calls_.emplace(id, std::move(call)).first->second;
  }
  /// One that is filled in where it stays, but for its kind. REQUIRES: there is none of this id.
  Call& add(UpstreamId id, Call::Kind kind) {
    Call& call = calls_[id];
    call.kind = kind;
    if (call.takes_slot()) ++slots_used_;
    return call;
  }
  /// Gives it another id. REQUIRES: there is one of the former id, and none of this one.
  Call& rename(UpstreamId former, UpstreamId id) {
    auto node = calls_.extract(former);
    note_answered(former, node.mapped());
    node.key() = id;
    return calls_.insert(std::move(node)).position->second;
  }

  void set_stage(Call& call, Call::Stage stage) {
    slots_used_ -= call.takes_slot() ? 1 : 0;
    call.stage = stage;
    slots_used_ += call.takes_slot() ? 1 : 0;
  }

  Call* find(UpstreamId id) {
    const auto found = calls_.find(id);
    return found == calls_.end() ? nullptr : &found->second;
  }
  const Call* find(UpstreamId id) const {
    const auto found = calls_.find(id);
    return found == calls_.end() ? nullptr : &found->second;
  }

  TakenCall take(UpstreamId id) {
    TakenCall taken(calls_.extract(id));
    if (!taken) return taken;
    if (taken->takes_slot()) --slots_used_;
    note_answered(id, *taken);
    return taken;
  }

  /// Whose request's stream this is or was.
  std::optional<ClientId> owner(UpstreamId id) const {
    if (const auto found = calls_.find(id); found != calls_.end()) return owner_of(found->second);
    const auto& [answered, client] = answered_[value_of(id) % answered_.size()];
    if (answered == id && id != UpstreamId{}) return client;
    return std::nullopt;
  }

  std::size_t size() const { return calls_.size(); }
  /// Slots of --max-inflight that are taken.
  std::size_t slots_used() const { return slots_used_; }
  auto begin() { return calls_.begin(); }
  auto end() { return calls_.end(); }
  auto begin() const { return calls_.begin(); }
  auto end() const { return calls_.end(); }

 private:
  static std::optional<ClientId> owner_of(const Call& call) {
    return call.job != nullptr ? std::optional(client_of_jobs) : call.client;
  }
  void note_answered(UpstreamId id, const Call& call) {
    if (const auto owner = owner_of(call))
      answered_[value_of(id) % answered_.size()] = {id, *owner};
  }

  std::unordered_map<UpstreamId, Call> calls_;
  std::size_t slots_used_ = 0;
  std::array<std::pair<UpstreamId, ClientId>, 1024> answered_{};
};

}  // namespace bridge
