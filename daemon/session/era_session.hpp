#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/log.hpp"
#include "json/frame.hpp"
#include "session/health_check.hpp"
#include "session/opening.hpp"
#include "session/retries.hpp"
#include "session/saved_session.hpp"
#include "session/session_doubt.hpp"
#include "session/session_events.hpp"
#include "session/session_loss.hpp"
#include "session/session_opener.hpp"
#include "session/session_record.hpp"
#include "session/session_sender.hpp"
#include "session/upstream_listen.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

class EraChoice;

/// The session with the upstream in one era: opened, kept alive and reopened (MCP 2025-11-25,
/// "Lifecycle", and MCP 2026-07-28, "Discovery"; BEHAVIOUR, "Session"). A modern session is the
/// result of `server/discover`; the server itself has none.
///
/// Decides whether there is a session; knows no clients and no HTTP. Owned by Session, which has
/// one per era; the loop's thread only. A message given to send() ends with message_ended or with
/// its response; messages that may be retried (decide_retry) are held here meanwhile.
///
/// Parts: SessionOpener (when and how it is opened), Opening (the steps), SessionLoss (what
/// failures and losses lead to), UpstreamListen and EventStreams (the server's notifications in the
/// modern era), HealthCheck (whether the server still answers), SessionDoubt
/// (whether a doubtful session exists), decide_retry() (retry or failure),
/// Retries (held messages and the time of the next retry).
class EraSession {
 public:
  /// For the status.
  enum class State {
    idle,       ///< no session, and no attempt has failed
    opening,    ///< the first session is being opened
    open,       ///< open, and the upstream was reachable last
    reopening,  ///< a lost session is being reopened
    waiting,    ///< until the next attempt to open it or to reach the upstream
    refused,    ///< the upstream refuses to open a session, or the requests in it
  };

  /// What the next session of this era continues with.
  struct Saved {
    std::uint32_t number = 0;                 ///< of the last session, from 1; 0: none so far
    std::string initialize_params;            ///< of a legacy session's `initialize`
    std::optional<ServerDescription> server;  ///< none before the first handshake
    std::vector<UpstreamId> unanswered;       ///< requests whose clients are gone
  };

  EraSession(Era era, EventLoop& loop, UpstreamIdSource& ids, Upstream& upstream, MessageTap& tap,
             OwnMessages& own, Log& log, const SessionOptions& options, EraChoice& choice,
             SessionEvents* const& events);

  State state() const;
  Era era() const { return sender_.era(); }
  bool is_modern() const { return sender_.is_modern(); }
  bool is_open() const { return phase_ == Phase::open; }
  /// Not open, not being opened, not refused.
  bool is_idle() const { return phase_ == Phase::idle; }
  /// Whether the session is open, or could be: no attempt was made, or the last one succeeded.
  /// After a failed attempt, or SessionOpener::note_overdue(), false until one succeeds.
  bool is_ready() const { return !record_.last_failure && !is_overdue_; }
  /// How long clients wait while a login is needed; nullopt: none is.
  std::optional<std::chrono::milliseconds> login_wait() const {
    if (!opener_.awaits_login()) return std::nullopt;
    return options_.login_wait;
  }
  /// Opens it, and decides what the end of an attempt leads to.
  SessionOpener& opener() { return opener_; }
  const SessionOpener& opener() const { return opener_; }
  /// Whether an attempt is under way, not waiting for the next one.
  bool is_trying() const { return opening_.is_under_way(); }
  /// The server speaks the other era: nothing of this session continues.
  void forget() { saved_ = {}; }
  /// Why the last attempt failed, for requests that have waited long enough.
  const std::optional<Failure>& last_failure() const { return record_.last_failure; }

  /// REQUIRES: is_open(), except for responses.
  SessionSender& sender() { return sender_; }
  /// Forgets a held message; false if it is not held.
  bool forget_unsent(UpstreamId id) { return retries_.remove(id) || health_.remove(id); }
  /// The server's description from its handshake; null before the first. Stays until the next
  /// handshake.
  const ServerDescription* server() const { return saved_.server ? &*saved_.server : nullptr; }

  /// The stream on which a modern server notifies.
  const UpstreamListen& listen() const { return listen_; }
  /// Sets the filter for a modern server, with these capabilities (JSON).
  void listen_for(SubscriptionFilter filter, std::string capabilities) {
    listen_.want(std::move(filter), std::move(capabilities));
  }

  const Saved& saved() const { return saved_; }
  /// Continues an earlier daemon's session: the first opening counts as a reopening. REQUIRES:
  /// nothing was sent yet.
  void restore(Saved saved);
  /// Resumes an earlier session. `streams`: this process was in it a moment ago; otherwise asks the
  /// server whether that session still exists, and reopens it if not (a legacy one only).
  /// REQUIRES: called directly after restore(), and there was a session.
  void resume(const SessionReference& reference, const SavedStreams* streams);
  /// The bridge's own streams at a modern upstream.
  SavedStreams save_streams() const;
  /// Whether there is a session, as far as is known.
  bool has_session() const {
    return phase_ == Phase::open || phase_ == Phase::away || phase_ == Phase::resuming;
  }
  /// Of the last session, from 1; 0: none so far.
  std::uint32_t number() const { return saved_.number; }

  /// Applies changed options: timeouts; the session stays as it was opened.
  void reconfigure();
  /// What the upstream refused, it may accept now: asks it at once. Does nothing if the last
  /// attempt succeeded.
  void retry_refused();

  /// The daemon is ending: ends every held message with this failure.
  void give_up_held(const Failure& failure) { loss_.give_up_held(failure); }
  /// No event follows.
  void end();

  const SessionRecord& record() const { return record_; }

  // Events of the upstream for this side.
  /// Returns the answered request.
  std::optional<UpstreamId> one_message(std::optional<UpstreamId> origin, Frame&& frame);
  void note_malformed(std::optional<UpstreamId> origin, std::string_view reason);
  void message_ended(UpstreamId id, Ending ending);
  void server_stream_changed(ServerStream state);
  void server_stream_refused(SessionVerdict verdict);
  /// `knows_session`: it has accepted something in the session.
  void upstream_reachable(bool knows_session);
  void upstream_lost_session();
  bool has_ended() const { return std::holds_alternative<Ended>(life_); }

 private:
  friend class SessionOpener;
  friend class SessionLoss;
  friend class SessionDoubt;
  friend class UpstreamListen;

  enum class Phase : std::uint8_t {
    idle,
    opening,
    open,
    away,      ///< there is a session, but the upstream is unreachable
    resuming,  ///< an earlier daemon's session: the server was asked whether it still exists
    waiting,   ///< an attempt has failed; the next one is scheduled, or made by a request
    refused,
  };
  struct Running {};
  struct GivingUp {  ///< the daemon is ending: nothing is retried
    Failure failure;
  };
  struct Ended {};
  void own_answered(MessageOwner owner, UpstreamId id, std::optional<UpstreamId> origin,
                    Frame frame);
  void own_ended(MessageOwner owner, UpstreamId id, Ending ending);
  void note_answer();
  const Failure* given_up() const;

  // A modern upstream's notifications on the bridge's own streams.
  bool take_notification(std::optional<UpstreamId> origin, const Frame& notification);
  void begin_watching();
  void close_streams();
  // From UpstreamListen.
  void listen_changed(ServerStream state);
  /// Whether a session was lost and must be restored.
  bool is_lost() const { return saved_.number > 0 && !has_session(); }

  EventLoop& loop_;
  Upstream& upstream_;
  Log& log_;
  const SessionOptions& options_;
  EraChoice& choice_;
  SessionEvents* const& events_;

  Saved saved_;
  OwnMessages& own_;
  SessionSender sender_;
  SessionOpener opener_;
  Opening opening_;
  UpstreamListen listen_;
  EventStreams event_streams_;
  HealthCheck health_;
  SessionDoubt doubt_;
  SessionLoss loss_;
  Retries retries_;

  Phase phase_ = Phase::idle;
  std::variant<Running, GivingUp, Ended> life_;
  ReopeningReason loss_reason_ = ReopeningReason::lost;  ///< of the last loss
  SessionRecord record_;
  bool refusal_is_logged_ = false;  ///< no success since
  bool is_overdue_ = false;         ///< SessionOpener::note_overdue(), no session since
};

/// The sessions with the upstream, one per era.
struct EraSessions {
  EraSession legacy;
  EraSession modern;

  EraSession& of(Era era) { return era == Era::modern ? modern : legacy; }
  const EraSession& of(Era era) const { return era == Era::modern ? modern : legacy; }
};

std::string_view name_of(EraSession::State state);

}  // namespace bridge
