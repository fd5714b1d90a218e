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
struct Caller;
struct Client;

/// Where to resume the answer to a request that an earlier daemon sent.
struct ResumePoint {
  UpstreamId id{};            ///< the request's id at the upstream
  std::uint32_t session = 0;  ///< the number of the session in which it was sent
  std::string event_id;       ///< the last processed event of the answer's stream
};

/// What a modern client's request contains besides its method (MCP 2026-07-28, basic, "`_meta`").
struct ModernRequest {
  DeclaredAnswers declared;  ///< the questions that the client answers
  std::string log_level;     ///< empty: no log messages
  std::uint64_t digest = 0;  ///< request_digest(), if the client can be asked something
  /// Capabilities, as JSON, that the client had not declared, so that a request of the upstream
  /// about this call was refused; empty: none was.
  std::string undeclared;
  /// The refused request did not say which call it was about.
  bool undeclared_by_one_of_several = false;

  template <class A>
  void each_field(A& archive) {
    archive(declared, log_level, digest, undeclared, undeclared_by_one_of_several);
  }
};

/// State for repeating a request that a modern upstream may answer with questions (MCP 2026-07-28,
/// "Multi Round-Trip Requests"), and in stage input_required the answers collected so far. Changed
/// by InputRounds, and by EraTranslator when a request is made.
struct InputRound {
  enum class Waits : std::uint8_t { for_answers, for_pause, for_session };
  friend constexpr Waits last_of(Waits) { return Waits::for_session; }

  std::string original;  ///< the request as its client wrote it
  unsigned rounds = 0;   ///< number of `input_required` results
  unsigned pauses = 0;   ///< of those, the last ones without a question
  Waits waits = Waits::for_answers;
  std::vector<InputResponse> answers{};  ///< of this round; an empty result: not answered yet
  std::string request_state{};           ///< as JSON; empty: none
  SteadyTime due{};
  std::optional<Failure> failure{};  ///< why the call ends
  std::unique_ptr<ByteBudget::Share> held{};

  template <class A>
  void each_field(A& archive) {
    archive(original, rounds, pauses, waits, answers, request_state, due,
            archive.not_saved(failure), archive.not_saved(held));
  }
};

/// State of a modern client's call about which a legacy upstream asks something. Changed by
/// SuspendedCalls only.
struct Suspension {
  using End = std::variant<Frame, Ending>;

  std::string state{};  ///< its requestState; empty: a client waits for the call
  unsigned rounds = 0;
  SteadyTime due{};                     ///< when its questions are sent, or their answers expire
  std::vector<std::string> messages{};  ///< log messages that arrived while no client waited
  std::size_t message_bytes = 0;
  std::optional<End> end{};  ///< the call's end, not delivered to a client yet
  std::string saved_end{};   ///< the same as a response, for an upgrade
  std::unique_ptr<ByteBudget::Share> held{};

  template <class A>
  void each_field(A& archive) {
    archive(state, rounds, due, messages, message_bytes, archive.not_saved(end), saved_end,
            archive.not_saved(held));
  }
};

/// What the router knows of a job's request (BEHAVIOUR, "Jobs").
struct JobRequest {
  JobNumber number{};
  bool about_task = false;  ///< a request about the server's task that the job has become
  /// A client waits for the result, with the usual timeouts, and gets the other messages about it.
  bool for_client = false;
  // The submitter.
  Peer peer{};
  pid_t pid = 0;  ///< 0: unknown
  std::string command{};
  std::string remote{};  ///< the address of a caller of the HTTP frontend
  std::string job{};     ///< the job's id
  /// Where to resume the answer if an earlier daemon sent the request; none: the request is still
  /// to be sent.
  std::optional<ResumePoint> resume_point{};

  /// The request's id in the router, as JSON.
  std::string id() const;

  template <class A>
  void each_field(A& archive) {
    archive(number, about_task, for_client, peer, pid, command, remote, job,
            archive.not_saved(resume_point));
  }
};

/// The inverse of JobRequest::id().
JobRequest job_request_of(std::string_view raw_id);

/// A client's request from its start to its end.
struct Call {
  enum class Kind : std::uint8_t {
    forwarded,
    opens_session,  ///< the first `initialize`
  };
  friend constexpr Kind last_of(Kind) { return Kind::opens_session; }
  enum class Stage : std::uint8_t {
    in_flight,       ///< at the upstream
    job_asked,       ///< at the upstream, which asks its job something: takes no slot
    input_required,  ///< answered with questions; to be sent again with the answers
    suspended,       ///< at the upstream; its modern client was answered with questions
    unclaimed,       ///< suspended, and its end has arrived
  };
  friend constexpr Stage last_of(Stage) { return Stage::unclaimed; }

  Kind kind = Kind::forwarded;
  Stage stage = Stage::in_flight;
  Caller* caller = nullptr;         ///< who waits for the answer; null: it has left, or will return
  std::unique_ptr<JobRequest> job;  ///< if the call belongs to a job
  User user;                        ///< whose call it is, also if the caller has left
  std::string client_request_id;    ///< raw JSON, as the client wrote it
  std::string progress_token;       ///< raw JSON; empty: none
  std::string method;
  std::string subject;                     ///< see RestorableState::subject_of
  bool mirrored_again = false;             ///< sent a second time because headers were missing
  std::string_view malformed{};            ///< why the answer was malformed
  Era era = Era::legacy;                   ///< of the client, as this request declares
  Era side = Era::legacy;                  ///< of the session that it is sent in (Session)
  std::unique_ptr<ModernRequest> modern;   ///< if the client is modern
  std::unique_ptr<InputRound> rounds;      ///< if the call may be sent again with answers
  std::unique_ptr<Suspension> suspension;  ///< if its modern client was asked
  std::unique_ptr<const std::string> traceparent;  ///< for the log, at debug level only
  SteadyTime received;
  SteadyTime sent;

  /// The connected client that waits; null: none, or another kind of caller.
  Client* client() const;
  /// See Caller::acts_for_user().
  bool acts_for_user() const;
  bool is_suspended() const { return stage == Stage::suspended || stage == Stage::unclaimed; }
  /// Whether the upstream still has to answer under this id.
  bool awaits_upstream() const {
    return stage != Stage::input_required && stage != Stage::unclaimed;
  }
  /// Whether the call takes a slot of --max-inflight; one that waits for an answer about a job does
  /// not.
  bool takes_slot() const {
    return kind != Kind::opens_session &&
           (stage == Stage::in_flight || (stage == Stage::input_required && !job));
  }

  // Partial results are not saved.
  template <class A>
  void each_field(A& archive) {
    archive(kind, stage, archive.not_saved(caller), job, user, client_request_id, progress_token, method, subject,
            mirrored_again, archive.not_saved(malformed), era, side, modern, rounds, suspension,
            traceparent, received, sent);
  }
};

/// A call in an upgrade.
struct SavedCall : Call {
  std::optional<ClientId> client{};  ///< the waiting client, if any

  template <class A>
  void each_field(A& archive) {
    archive(static_cast<Call&>(*this), client);
  }
};

/// Calls by upstream id in the order of sending.
using SavedCalls = std::vector<std::pair<UpstreamId, SavedCall>>;

/// Whose request a stream is or was about.
struct StreamOwner {
  std::optional<ClientId> client;
  bool is_job = false;

  bool is_known() const { return client || is_job; }
  friend bool operator==(const StreamOwner&, const StreamOwner&) = default;
};

/// A call removed from the table without being moved in memory. False: there was none.
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

/// The requests in flight by upstream id, and the owners of answered ones, for late messages on
/// their streams. Pure. Bounds: --max-inflight requests, 1024 answered ones.
class CallTable {
 public:
  Call& add(UpstreamId id, Call call) {
    if (call.takes_slot()) ++slots_used_;
    return calls_.emplace(id, std::move(call)).first->second;
  }
  /// Adds a call to be filled in place. REQUIRES: the id is unused.
  Call& add(UpstreamId id, Call::Kind kind) {
    Call& call = calls_[id];
    call.kind = kind;
    if (call.takes_slot()) ++slots_used_;
    return call;
  }
  /// Changes the id of a call. REQUIRES: `former` is in use, `id` is unused.
  Call& rename(UpstreamId former, UpstreamId id) {
    auto node = calls_.extract(former);
    note_former_owner(former, node.mapped());
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
    note_former_owner(id, *taken);
    return taken;
  }

  /// Of the request in flight, or answered not long ago.
  StreamOwner owner(UpstreamId id) const {
    if (const auto found = calls_.find(id); found != calls_.end()) return owner_of(found->second);
    const auto& [answered, owner] = answered_[value_of(id) % answered_.size()];
    return answered == id && id != UpstreamId{} ? owner : StreamOwner{};
  }

  std::size_t size() const { return calls_.size(); }
  /// Slots of --max-inflight that are taken.
  std::size_t slots_used() const { return slots_used_; }
  auto begin() { return calls_.begin(); }
  auto end() { return calls_.end(); }
  auto begin() const { return calls_.begin(); }
  auto end() const { return calls_.end(); }

 private:
  static StreamOwner owner_of(const Call& call);
  void note_former_owner(UpstreamId id, const Call& call) {
    if (const StreamOwner owner = owner_of(call); owner.is_known())
      answered_[value_of(id) % answered_.size()] = {id, owner};
  }

  std::unordered_map<UpstreamId, Call> calls_;
  std::size_t slots_used_ = 0;
  std::array<std::pair<UpstreamId, StreamOwner>, 1024> answered_{};
};

}  // namespace bridge
