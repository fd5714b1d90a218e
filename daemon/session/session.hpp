#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/log.hpp"
#include "jsonrpc/frame.hpp"
#include "session/doubts.hpp"
#include "session/era_probe.hpp"
#include "session/event_streams.hpp"
#include "session/keep_alive.hpp"
#include "session/kept_session.hpp"
#include "session/kept_streams.hpp"
#include "session/opening.hpp"
#include "session/retries.hpp"
#include "session/session_events.hpp"
#include "session/session_options.hpp"
#include "session/session_record.hpp"
#include "session/session_sender.hpp"
#include "session/upstream_listen.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// The one session with the upstream: opened, kept and opened again (MCP 2025-11-25, "Lifecycle";
/// BEHAVIOUR, "Session").
///
/// It decides whether there is a session; it knows no client and no HTTP. Owned by the daemon; the
/// loop's thread only. A message given to send() ends with session_ended, or with a message that
/// answers it; messages that may be sent again (decide_retry) are held here until then.
///
/// Its parts: EraProbe (of which era is the upstream), Opening (one try at a legacy one, step by
/// step), UpstreamListen (what a modern one says by itself), KeepAlive and Doubts (is it there),
/// decide_retry() (what becomes of a message that failed), Retries (what is held until when, and
/// when the next try comes), KeptSession (what goes on in the next session).
class Session final : public UpstreamEvents,
                      private EraProbe::Events,
                      private Opening::Events,
                      private Retries::Events,
                      private UpstreamListen::Events {
 public:
  /// For the status.
  enum class State {
    idle,       ///< none, and no try has failed
    opening,    ///< the first one is being opened
    open,       ///< and the upstream is reached, as far as is known
    reopening,  ///< a lost one is being opened again
    waiting,    ///< for the next try, to open one or to reach the upstream
    refused,    ///< the upstream has refused; the next who needs a session asks again
  };

  Session(EventLoop& loop, UpstreamIdSource& ids, Upstream& upstream, Log& log,
          SessionOptions options);
  void set_events(SessionEvents& events) { events_ = &events; }

  State state() const;
  bool is_open() const { return phase_ == Phase::open; }
  /// It is open, or nothing says that it could not be: no try was made yet, or the last one did not
  /// fail. Stays false through the tries that follow a failed one, until one succeeds.
  bool is_ready() const { return !record_.last_failure; }
  /// The first session is being opened, or will be by the initialize that waits for the next try.
  bool is_coming() const;
  /// Whether a client's `initialize` can be the one that opens it.
  bool wants_initialize() const;
  /// Somebody has logged in: nothing says any more that it could not be opened, and what waits for
  /// that goes on.
  void logged_in();
  /// While it waits for a person who logs in: for how long who needs it waits with it.
  std::optional<std::chrono::milliseconds> login_wait() const {
    if (!awaits_login()) return std::nullopt;
    return options_.login_wait;
  }
  /// A frame waits for the session: opens it, or brings the next try nearer.
  void require();
  /// Opens it with a client's request. REQUIRES: wants_initialize(). The answer comes as a message.
  void open_with(UpstreamId id, std::string body, std::string params);
  /// Nobody waits any more for the answer to that request.
  void withdraw_initialize(UpstreamId id);
  /// Whether a try is under way, as opposed to waiting for the next one.
  bool is_trying() const { return opening_.is_under_way() || probe_.is_under_way(); }
  /// Why the last try failed; for those that have waited for long enough.
  const std::optional<Failure>& last_failure() const { return record_.last_failure; }

  /// REQUIRES: is_open(), but for answers.
  void send(Outgoing&& message) { sender_.send(std::move(message)); }
  void abandon(UpstreamId id);
  void pause(UpstreamId id, bool paused) { upstream_.pause(id, paused); }
  /// Somebody else ends it in time.
  void lift_deadline(UpstreamId id) { upstream_.lift_deadline(id); }
  void hold_deadline(UpstreamId id, bool held) { upstream_.hold_deadline(id, held); }

  MessageTap& tap() { return sender_.tap(); }

  /// What the server has said of itself; null before the first handshake. Stays while the session
  /// is lost, until the next handshake.
  const ServerDescription* server() const { return kept_.server ? &*kept_.server : nullptr; }

  /// Whether the server that was described last is modern: each request says its revision and its
  /// client, and there is no session but the bridge's own.
  bool is_modern() const { return sender_.is_modern(); }
  /// Whether giving up an answer's stream tells the server so (a modern one over HTTP).
  bool cancels_by_closing() const { return is_modern() && upstream_.has_answer_streams(); }
  /// Whether messages need the headers that mirror them.
  bool mirrors_headers() const { return cancels_by_closing(); }
  std::string_view target() const { return upstream_.target(); }
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
  std::string_view opened_with() const { return kept_.initialize_params; }
  /// What a later session goes on with.
  KeptSession kept() const;
  /// Goes on where another daemon's session has ended: the first session is opened as one that was
  /// lost is. REQUIRES: nothing was sent yet.
  void continue_from(KeptSession kept);
  /// Goes on in that session itself, which may still be there: it is asked for, and taken up if the
  /// server knows it, with what was unanswered cancelled; else it is lost. REQUIRES: nothing was
  /// sent yet, and there was a session.
  void take_up(KeptSession kept, const SessionReference& reference);
  /// Goes on in it without asking: this daemon's earlier image was in it a moment ago. REQUIRES:
  /// the same.
  void go_on_in(KeptSession kept, const SessionReference& reference, const KeptStreams& streams);
  /// The streams of its own at a modern upstream.
  KeptStreams streams_to_keep() const;
  /// Whether what comes of this request can come to another image of the program, if that goes on
  /// in the session.
  bool survives_upgrade(UpstreamId id) const {
    return is_there() && upstream_.survives_upgrade(id);
  }
  /// There is one, as far as is known.
  bool has_session() const { return is_there(); }
  /// Of the last session, from 1; 0: there was none.
  std::uint32_t number() const { return kept_.number; }

  /// SIGHUP: takes the times; what the session was opened with stays.
  void reconfigure(const SessionOptions& options);

  /// The daemon is ending: ends every message that waits to be sent again, with this failure.
  void give_up_held(const Failure& failure);
  /// Ends the session in an orderly way. No event comes after this.
  void end(std::function<void()> done);

  const SessionRecord& record() const { return record_; }
  const SessionCounts& counts() const { return record_.counts; }

  AnsweredRequests upstream_message(std::optional<UpstreamId> origin,
                                    ReceivedText message) override;
  void upstream_ended(UpstreamId id, Ending ending) override;
  void server_stream_changed(ServerStream state) override;
  void server_stream_refused() override { opening_.server_stream_answered(); }
  void upstream_reachable() override;
  void upstream_lost_session() override;

 private:
  enum class Phase : std::uint8_t {
    idle,
    opening,
    open,
    away,       ///< there is a session, but its upstream cannot be reached
    taking_up,  ///< there was one of another daemon: whether it is there still is asked
    waiting,    ///< a try to open one has failed; the next one is due, or comes with who needs it
    refused,
  };
  /// With what the next session is opened.
  struct InitializeRequest {
    struct Clients {
      UpstreamId id;
      std::string body;
    };
    std::optional<Clients> clients;  ///< that of a client, who is answered; none: the bridge's own
    std::string params;
  };
  struct Running {};
  struct GivingUp {  ///< the daemon is ending: nothing is sent again
    Failure failure;
  };
  struct Ended {};
  /// Which request of the session's own an upstream id is.
  enum class OwnRequest : std::uint8_t {
    none,
    probe,
    initialize,
    opening_step,
    ping,
    doubts_ping,
    listen,
    event_stream
  };

  // What comes from the upstream: session.cpp; of the session's own requests:
  // session_own_requests.cpp.
  std::optional<UpstreamId> one_message(std::optional<UpstreamId> origin, ParsedFrame&& parsed);
  void note_malformed(std::optional<UpstreamId> origin, std::string_view reason);
  OwnRequest which_own(UpstreamId id) const;
  void own_answered(OwnRequest own, UpstreamId id, std::optional<UpstreamId> origin, Frame frame);
  bool own_ended(UpstreamId id, Ending& ending);
  void step_ended(UpstreamId id, Ending ending);
  bool forget_unsent(UpstreamId id);
  void note_answer();
  void note_ping_failure(const Ending& ending);
  bool has_ended() const { return std::holds_alternative<Ended>(life_); }
  const Failure* given_up() const;

  // Of which era the upstream is, and what a modern one says: session_era.cpp.
  bool has_to_probe() const;
  bool ask_for_era_again(const Failure& refusal);
  void note_other_era(Ending& ending);
  bool take_notification(std::optional<UpstreamId> origin, const Frame& notification);
  void open_streams();
  void close_streams();
  void answer_initialize();
  void probe_found_modern(std::string discover_result) override;
  void probe_found_legacy(bool for_good) override;
  void probe_is_slow() override;
  void probe_failed(Failure failure) override;
  void listen_changed(ServerStream state) override;
  void listen_acknowledged() override { events_->listen_acknowledged(); }
  void listen_resumed(const SubscriptionFilter& filter) override;

  // What comes of an opening: session_opening.cpp.
  void start_try();
  void send_initialize();
  void stop_try();
  std::string own_params() const;
  void initialize_answered(std::optional<UpstreamId> origin, Frame frame);
  void initialize_ended(Ending ending);
  void initialize_echoed();
  bool is_clients_alone(const Failure& failure) const;
  void refuse_client(const Failure& failure);
  void try_failed(Failure failure);
  void refuse(const Failure& failure);
  bool await_login(const Failure& failure);
  bool awaits_login() const;
  void initialize_unanswered() override;
  SessionSettings settings_to_restore() const override;
  void opening_done() override;

  // Losing it, being away, and what waits meanwhile: session_losing.cpp.
  /// There is a session, as far as is known.
  bool is_there() const {
    return phase_ == Phase::open || phase_ == Phase::away || phase_ == Phase::taking_up;
  }
  /// There was one, and it is to be restored.
  bool is_lost() const { return kept_.number > 0 && !is_there(); }
  bool is_wanted() const { return is_lost() || somebody_waits() || events_->wants_session(); }
  bool somebody_waits() const;
  void lose(std::string_view why);
  void message_failed(Ending ending);
  void doubt(Ending ending);
  void confirm();
  void resolve_doubts(bool lost);
  void go_away(const Failure& failure);
  void fail_held(const Failure& failure);
  void note_turned_away(const Failure& failure);
  void log_refusal(const Failure& failure);
  void came_back();
  void taken_up();
  void not_taken_up(const Failure& failure);
  void hold(Outgoing message, Failure failure, std::chrono::milliseconds delay);
  bool can_send_held() const override { return is_open(); }
  void send_held(Outgoing message) override;
  void end_message(UpstreamId id, Failure failure) override;
  void try_again() override;
  void give_up_initialize();

  EventLoop& loop_;
  Upstream& upstream_;
  Log& log_;
  SessionOptions options_;
  SessionEvents* events_ = nullptr;

  KeptSession kept_;
  SessionSender sender_;
  EraProbe probe_;
  Opening opening_;
  UpstreamListen listen_;
  EventStreams event_streams_;
  KeepAlive keep_alive_;
  Doubts doubts_;
  Retries retries_;

  Phase phase_ = Phase::idle;
  std::variant<Running, GivingUp, Ended> life_;
  InitializeRequest initialize_;
  ReopeningReason loss_ = ReopeningReason::lost;  ///< of the last session that was lost
  SessionRecord record_;
  bool refusal_is_logged_ = false;  ///< and nothing was accepted since
};

std::string_view name_of(Session::State state);

}  // namespace bridge
