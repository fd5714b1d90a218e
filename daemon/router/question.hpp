#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "router/asked_for.hpp"
#include "router/call.hpp"
#include "router/client_channel.hpp"

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
  std::uint32_t session = 0;        ///< of the upstream, that the request came from
  std::size_t index = 0;            ///< position in its result
  std::string method;
  AskedFor asked_for = AskedFor::anything;
  std::string line;                  ///< the frame, with the client's id
  std::optional<UpstreamId> origin;  ///< its call; none: the session's, or a task's
  std::optional<ClientId> owner;     ///< the call's client, also if it has left
  LikelyCaller likely_caller;        ///< if it names no call
  std::optional<User> user;          ///< for a question about a call: only this user is asked
  std::string grant;                 ///< likewise: with this grant; empty: without one
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

  /// Whether it is about a call of this client's user, with the same grant.
  bool is_of_user(const Client& client) const;
  bool is_request() const { return !upstream_request_id.empty(); }
  bool is_parked() const { return answerer == Answerer::client && !asked; }
  /// As JSON; empty: none.
  std::string_view params() const;

  template <class A>
  void each_field(A& archive) {
    archive(id, upstream_request_id, session, index, method, asked_for, line, origin, owner,
            likely_caller, user, named, asked, asked_since, parked_until, declined, shown,
            is_of_session, answerer, job, key, shown_id, shown_about, grant);
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

  Question& add_question(Question question);
  void remove(const Question& question);
  /// Moves the question behind all others of its job.
  void move_to_end(const Question& question);

  Question* find_question(std::uint64_t id);
  /// By the id that the client was given, raw JSON.
  Question* find_shown(std::string_view raw_id);
  /// By its id in this session of the upstream, raw JSON.
  Question* find_by_upstream_id(std::string_view raw_id, std::uint32_t session);
  /// The question that the job is asked now; null: none.
  Question* first_of(JobNumber job);

  /// Whether this client has left a question unanswered since `then` or longer.
  bool has_left_open(ClientId client, SteadyTime then) const;

  template <class Visit>
  void each_question(Visit&& visit) {
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

}  // namespace bridge
