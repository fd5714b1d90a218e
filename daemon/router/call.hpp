#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "event/event_loop.hpp"
#include "json/frame.hpp"
#include "json/reply.hpp"
#include "mcp/handshake.hpp"
#include "policy/peer.hpp"
#include "router/client_channel.hpp"
#include "router/crossing/legacy_to_modern.hpp"
#include "router/crossing/modern_to_legacy.hpp"
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

  Kind kind = Kind::forwarded;
  bool job_asked = false;           ///< the upstream asks its job something: it takes no slot
  Caller* caller = nullptr;         ///< who waits for the answer; null: it has left, or will return
  std::unique_ptr<JobRequest> job;  ///< if the call belongs to a job
  User user;                        ///< whose call it is, also if the caller has left
  std::string client_request_id;    ///< raw JSON, as the client wrote it
  std::string progress_token;       ///< raw JSON; empty: none
  std::string method;
  std::string subject;                        ///< see RestorableState::subject_of
  bool mirrored_again = false;                ///< sent a second time because headers were missing
  std::string_view malformed{};               ///< why the answer was malformed
  Era era = Era::legacy;                      ///< of the client, as this request declares
  Era side = Era::legacy;                     ///< of the session that it is sent in (Session)
  std::string log_level;                      ///< of log messages for a modern client; empty: none
  std::unique_ptr<LegacyToModern> to_modern;  ///< if the client is legacy and the side modern
  std::unique_ptr<ModernToLegacy> to_legacy;  ///< if the client is modern and the side legacy
  std::unique_ptr<const std::string> traceparent;  ///< for the log, at debug level only
  SteadyTime received;
  SteadyTime sent;

  /// The connected client that waits; null: none, or another kind of caller.
  Client* client() const;
  /// See Caller::acts_for_user().
  bool acts_for_user() const;
  bool is_suspended() const { return to_legacy != nullptr && to_legacy->is_suspended(); }
  bool waits_at_bridge() const { return to_modern != nullptr && !to_modern->is_at_server(); }
  /// Whether the upstream still has to answer under this id.
  bool awaits_upstream() const {
    return !waits_at_bridge() &&
           (to_legacy == nullptr || to_legacy->stage() != ModernToLegacy::Stage::ended);
  }
  /// Whether the call takes a slot of --max-inflight; one that waits for an answer about a job does
  /// not.
  bool takes_slot() const {
    return kind != Kind::opens_session && !job_asked && !is_suspended() &&
           (job == nullptr || !waits_at_bridge());
  }

  // Partial results are not saved.
  template <class A>
  void each_field(A& archive) {
    archive(kind, job_asked, archive.not_saved(caller), job, user, client_request_id,
            progress_token, method, subject, mirrored_again, archive.not_saved(malformed), era,
            side, log_level, to_modern, to_legacy, traceparent, received, sent);
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

  /// Changes what a call waits for, and counts its slot again.
  template <class Change>
  void change(Call& call, Change&& change_it) {
    slots_used_ -= call.takes_slot() ? 1 : 0;
    change_it();
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
