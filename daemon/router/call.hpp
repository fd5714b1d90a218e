#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "event/event_loop.hpp"
#include "grant/grant.hpp"
#include "json/frame.hpp"
#include "json/reply.hpp"
#include "mcp/handshake.hpp"
#include "mcp/methods.hpp"
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
  std::optional<GrantHold> grant{};
  /// Where to resume the answer if an earlier daemon sent the request; none: the request is still
  /// to be sent.
  std::optional<ResumePoint> resume_point{};

  /// The request's id in the router, as JSON.
  std::string id() const;

  template <class A>
  void each_field(A& archive) {
    archive(number, about_task, for_client, peer, pid, command, remote, job, grant,
            archive.not_saved(resume_point));
  }
};

/// The inverse of JobRequest::id().
JobRequest job_request_of(std::string_view raw_id);

/// A request of a caller (a client, a job, the bridge itself) from its start to its end.
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
  std::string grant;  ///< the id of its client's or job's; empty: none

  /// The connected client that waits; null: none, or another kind of caller.
  Client* client() const;
  /// See Caller::acts_for_user().
  bool acts_for_user() const;
  /// Whether its client's leaving ends it, as closing a stream cancels a request since 2026-07-28.
  bool ends_with_client() const { return era == Era::modern; }
  /// Whether the request itself declares what its client answers, mirrored headers, and a log
  /// level.
  bool describes_client() const { return era == Era::modern; }
  bool is_suspended() const { return to_legacy != nullptr && to_legacy->is_suspended(); }
  /// Whether it is a modern client's that can be asked something in its result.
  bool may_ask_client() const {
    return to_legacy != nullptr && awaits_upstream() && may_require_input(method);
  }
  bool waits_at_bridge() const { return to_modern != nullptr && !to_modern->is_at_server(); }
  /// Whether the upstream still has to answer under this id.
  bool awaits_upstream() const {
    return !waits_at_bridge() &&
           (to_legacy == nullptr || to_legacy->stage() != ModernToLegacy::Stage::ended);
  }
  /// Whether the upstream may send a request about it now.
  bool may_be_asked_about() const {
    return awaits_upstream() && side == Era::legacy && may_require_input(method);
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
            side, log_level, to_modern, to_legacy, traceparent, received, sent, grant);
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

}  // namespace bridge
