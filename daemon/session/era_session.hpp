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
#include "session/session_events.hpp"
#include "session/session_record.hpp"
#include "session/session_sender.hpp"
#include "session/upstream_listen.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

class Session;

/// How an opening was refused, as a server does that speaks the other era.
struct EraRefusal {
  bool for_good;    ///< else until that session is lost
  Failure failure;  ///< what is told if the server speaks neither
};

/// The session with the upstream in one era: opened, kept and reopened (MCP 2025-11-25,
/// "Lifecycle", and MCP 2026-07-28, "Discovery"; BEHAVIOUR, "Session"). A modern one is the result
/// of `server/discover`; the server itself has no session.
///
/// It decides whether there is a session, and knows no client and no HTTP. Owned by Session, which
/// has one for each era; the loop's thread only. A message given to send() ends with session_ended,
/// or with a message that answers it; messages that may be sent again (decide_retry) are held here
/// until then.
///
/// Its parts: Opening (the steps), UpstreamListen and EventStreams (the server's notifications in
/// the modern era), HealthCheck (whether the server still answers), decide_retry() (retry or
/// failure), Retries (held messages and the time of the next retry).
class EraSession final : private Opening::Events,
                         private UpstreamListen::Events,
                         private Retries::Events {
 public:
  /// For the status.
  enum class State {
    idle,       ///< none, and no try has failed
    opening,    ///< the first one is being opened
    open,       ///< and the upstream is reached, as far as is known
    reopening,  ///< a lost one is being opened again
    waiting,    ///< for the next try, to open one or to reach the upstream
    refused,    ///< the upstream has refused; the next request that needs a session asks again
  };

  /// What is carried into the next session of this era.
  struct Saved {
    std::uint32_t number = 0;                 ///< of the last session, from 1; 0: there was none
    std::string initialize_params;            ///< what a legacy one was opened with
    std::optional<ServerDescription> server;  ///< none before the first handshake
    std::vector<UpstreamId> unanswered;       ///< requests whose clients are gone
  };

  EraSession(Era era, EventLoop& loop, UpstreamIdSource& ids, Upstream& upstream, MessageTap& tap,
             OwnMessages& own, Log& log, const SessionOptions& options, Session& owner);
  void set_events(SessionEvents& events) { events_ = &events; }

  /// A local server that does not know a handshake may not answer it: after so long the owner is
  /// told (Session::era_is_slow).
  static constexpr std::chrono::seconds slow{2};

  State state() const;
  Era era() const { return sender_.era(); }
  bool is_modern() const { return sender_.is_modern(); }
  bool is_open() const override { return phase_ == Phase::open; }
  /// Neither there, nor on the way, nor refused.
  bool is_idle() const { return phase_ == Phase::idle; }
  /// It is open, or nothing says that it could not be: no try was made yet, or the last one did not
  /// fail. Stays false through the tries that follow a failed one, until one succeeds.
  bool is_ready() const { return !record_.last_failure; }
  /// The first session is being opened, or will be by the initialize that waits for the next try.
  bool is_coming() const;
  /// Whether a client's `initialize` can be the one that opens it.
  bool wants_initialize() const;
  /// A person has logged in: it may be opened, and what waits for that is sent.
  void logged_in();
  /// While it waits for a login: for how long the clients that need it wait.
  std::optional<std::chrono::milliseconds> login_wait() const {
    if (!awaits_login()) return std::nullopt;
    return options_.login_wait;
  }
  /// A frame waits for the session: opens it, or brings the next try nearer.
  void require();
  /// Opens it with a client's request. REQUIRES: wants_initialize(). The answer comes as a message.
  void open_with(UpstreamId id, std::string body, std::string params);
  /// The answer to that request is no longer awaited.
  void withdraw_initialize(UpstreamId id);
  /// Whether a try is under way, as opposed to waiting for the next one.
  bool is_trying() const { return opening_.is_under_way(); }
  /// Gives up opening it: the server speaks the other era, whose session takes over what waits.
  void hand_over_to(EraSession& other);
  /// REQUIRES: is_open().
  void serve_what_was_handed_over();
  /// The server speaks the other era: nothing of a session of this one goes on.
  void forget() { saved_ = {}; }
  /// Why the last try failed; for those that have waited for long enough.
  const std::optional<Failure>& last_failure() const { return record_.last_failure; }

  /// REQUIRES: is_open(), but for answers.
  void send(Outgoing&& message) { sender_.send(std::move(message)); }
  /// Forgets a message that came back and may be sent again; false if it is none.
  bool forget_unsent(UpstreamId id) { return retries_.remove(id) || health_.remove(id); }
  /// What the server has said of itself; null before the first handshake. Stays while the session
  /// is lost, until the next handshake.
  const ServerDescription* server() const { return saved_.server ? &*saved_.server : nullptr; }

  /// What a modern server tells of now; null: nothing.
  const SubscriptionFilter* listened_to() const { return listen_.listened_to(); }
  /// Whether it has acknowledged this member of that, which is of an extension.
  bool honours(std::string_view extension) const { return listen_.honours(extension); }
  /// What of that it has acknowledged; null: it has not said.
  const SubscriptionFilter* acknowledged() const { return listen_.acknowledged(); }
  /// What of a modern server is listened for from now on, with these capabilities (JSON).
  void listen_for(SubscriptionFilter filter, std::string capabilities) {
    listen_.want(std::move(filter), std::move(capabilities));
  }

  /// `params` of the `initialize` that it was opened with, JSON; empty before the first.
  std::string_view opened_with() const { return saved_.initialize_params; }
  const Saved& saved() const { return saved_; }
  /// Begins where another daemon's session has ended: the first session is opened as one that was
  /// lost is. REQUIRES: nothing was sent yet.
  void restore(Saved saved);
  /// Asks whether that legacy session itself is still there, and resumes it if the server knows it,
  /// with what was unanswered cancelled; else it is lost. REQUIRES: restore() was called just now,
  /// and there was a session.
  void resume(const SessionReference& reference);
  /// Resumes it without asking: this process was in it a moment ago. `streams`: of a modern one.
  /// REQUIRES: the same.
  void resume_at_once(const SessionReference& reference, const SavedStreams& streams);
  /// The streams of its own at a modern upstream.
  SavedStreams save_streams() const;
  /// There is one, as far as is known.
  bool has_session() const { return is_there(); }
  /// Of the last session, from 1; 0: there was none.
  std::uint32_t number() const { return saved_.number; }

  /// The options have changed: takes the times; what the session was opened with stays.
  void reconfigure();

  /// The daemon is ending: ends every message that waits to be sent again, with this failure.
  void give_up_held(const Failure& failure);
  /// No event comes after this.
  void end();

  const SessionRecord& record() const { return record_; }
  const SessionCounts& counts() const { return record_.counts; }

  // What UpstreamEvents tells of this side.
  /// Returns the request that it answers.
  std::optional<UpstreamId> one_message(std::optional<UpstreamId> origin, Frame&& frame);
  void note_malformed(std::optional<UpstreamId> origin, std::string_view reason);
  void upstream_ended(UpstreamId id, Ending ending);
  void server_stream_changed(ServerStream state);
  void server_stream_refused() { opening_.server_stream_answered(); }
  void upstream_reachable();
  void upstream_lost_session();
  bool has_ended() const { return std::holds_alternative<Ended>(life_); }

 private:
  enum class Phase : std::uint8_t {
    idle,
    opening,
    open,
    away,      ///< there is a session, but its upstream cannot be reached
    resuming,  ///< there was one of another daemon: whether it is there still is asked
    waiting,   ///< a try to open one has failed; the next one is due, or comes with a request
    refused,
  };
  /// With what the next session is opened.
  struct InitializeRequest {
    struct Clients {
      UpstreamId id;
      std::string body;
    };
    std::optional<Clients> clients;  ///< that of a client; none: the bridge's own
    std::string params;
  };
  struct Running {};
  struct GivingUp {  ///< the daemon is ending: nothing is sent again
    Failure failure;
  };
  struct Ended {};
  void own_answered(MessageOwner owner, UpstreamId id, std::optional<UpstreamId> origin,
                    Frame frame);
  void own_ended(MessageOwner owner, UpstreamId id, Ending ending);
  void step_answered(UpstreamId id, std::optional<UpstreamId> origin, Frame frame);
  void step_ended(UpstreamId id, Ending ending);
  void ping_answered(const Frame& frame);
  void ping_ended(Ending ending);
  void note_answer();
  const Failure* given_up() const;

  // What a modern upstream says by itself.
  bool take_notification(std::optional<UpstreamId> origin, const Frame& notification);
  void begin_watching();
  void close_streams();
  void answer_initialize();
  void listen_changed(ServerStream state) override;
  void listen_acknowledged() override { events_->listen_acknowledged(); }
  void listen_resumed(const SubscriptionFilter& filter) override {
    events_->listen_resumed(filter);
  }

  // What comes of an opening: era_session_opening.cpp.
  void probe_found_modern(std::string discover_result) override;
  void probe_found_legacy(bool for_good, Failure refusal) override;
  void probe_failed(Failure failure) override;
  void start_try();
  void send_initialize();
  void stop_try();
  std::string own_params() const;
  void initialize_answered(std::optional<UpstreamId> origin, Frame frame);
  void initialize_ended(Ending ending);
  bool hand_initialize_over(const Failure& refusal, SessionVerdict verdict);
  void note_other_era(Ending& ending);
  void reject(const Failure& failure);
  bool is_clients_alone(const Failure& failure) const;
  void refuse_client(const Failure& failure);
  void try_failed(Failure failure);
  void refuse(const Failure& failure);
  bool await_login(const Failure& failure);
  bool awaits_login() const;
  void initialize_unanswered() override;
  SessionSettings settings_to_restore() const override { return events_->settings(); }
  void opening_done() override;

  // Losing it, being away, and what waits meanwhile: era_session_losing.cpp.
  /// There is a session, as far as is known.
  bool is_there() const {
    return phase_ == Phase::open || phase_ == Phase::away || phase_ == Phase::resuming;
  }
  /// There was one, and it is to be restored.
  bool is_lost() const { return saved_.number > 0 && !is_there(); }
  bool is_wanted() const {
    return is_lost() || has_waiters() || events_->wants_session(era()) ||
           (is_modern() && !options_.events.empty());
  }
  bool has_waiters() const;
  void lose(std::string_view why);
  void message_failed(Ending ending);
  void doubt(Ending ending);
  void confirm();
  void resolve_suspicion(bool lost);
  void go_away(const Failure& failure);
  void fail_held(const Failure& failure);
  void note_rejected(const Failure& failure);
  void note_failure(const Failure& failure);
  void log_refusal(const Failure& failure);
  void came_back();
  void resumed();
  void not_resumed(const Failure& failure);
  void hold(Outgoing message, Failure failure, std::chrono::milliseconds delay);
  void send_held(Outgoing message) override;
  void end_message(UpstreamId id, Failure failure) override;
  void try_again() override;
  void give_up_initialize();

  EventLoop& loop_;
  Upstream& upstream_;
  Log& log_;
  const SessionOptions& options_;
  Session& owner_;
  SessionEvents* events_ = nullptr;

  Saved saved_;
  OwnMessages& own_;
  SessionSender sender_;
  Opening opening_;
  UpstreamListen listen_;
  EventStreams event_streams_;
  HealthCheck health_;
  Retries retries_;
  DeadlineTimer slow_;  ///< while a local server's handshake is awaited

  Phase phase_ = Phase::idle;
  std::variant<Running, GivingUp, Ended> life_;
  InitializeRequest initialize_;
  ReopeningReason loss_ = ReopeningReason::lost;  ///< of the last session that was lost
  bool replaces_other_era_ = false;  ///< the next one takes the place of a session that was lost
  SessionRecord record_;
  bool refusal_is_logged_ = false;  ///< and nothing was accepted since
};

std::string_view name_of(EraSession::State state);

}  // namespace bridge
