#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "auth/access_token.hpp"
#include "base/clock.hpp"
#include "base/ids.hpp"
#include "json/received_text.hpp"
#include "json/reply.hpp"

namespace bridge {

class LoginDesk;
struct UpstreamOptions;

/// The requests answered by one line from the upstream: several if it is a batch. Pure.
class AnsweredRequests {
 public:
  AnsweredRequests() = default;
  explicit AnsweredRequests(UpstreamId id) : first_(id) {}

  void add(UpstreamId id) {
    if (first_ == UpstreamId{}) {
      first_ = id;
    } else if (id != UpstreamId{}) {
      others_.push_back(id);
    }
  }

  /// In order of the answers.
  template <class Visit>
  void each(Visit&& visit) const {
    if (first_ == UpstreamId{}) return;
    visit(first_);
    for (const UpstreamId id : others_) visit(id);
  }

 private:
  UpstreamId first_{};
  std::vector<UpstreamId> others_;
};

/// The retry history of a message: written by the part that sends it again, and given back with it.
/// A value.
struct RetryNotes {
  // By the transport.
  std::uint8_t authorizations = 0;  ///< how often it was sent again with another token

  // By the session (BEHAVIOUR, "Session").
  bool stateful = true;         ///< made for a session; otherwise it stands alone (2026-07-28)
  std::uint32_t session = 0;    ///< the number of the session it was sent in
  std::uint8_t rejections = 0;  ///< how often it was refused for a missing session
  std::uint8_t repeats = 0;     ///< how often it was sent again after its connection broke
  std::optional<SteadyTime> hold_until{};   ///< if held: the latest time
  std::optional<SteadyTime> login_until{};  ///< the same for a login

  template <class A>
  void each_field(A& archive) {
    archive(authorizations, stateful, session, rejections, repeats, archive.not_saved(hold_until),
            archive.not_saved(login_until));
  }
};

enum class OutgoingKind : std::uint8_t { request, notification, response };
constexpr OutgoingKind last_of(OutgoingKind) { return OutgoingKind::response; }

/// The sender of a message, which receives its result.
enum class MessageOwner : std::uint8_t {
  router,
  opening,  ///< of the session, like all that follow
  health,
  listen,
  event_stream,
  event_poll,
};

/// A message for the upstream: its bytes, and what the transport must know without parsing them.
struct Outgoing {
  UpstreamId id{};
  OutgoingKind kind = OutgoingKind::request;
  MessageOwner owner = MessageOwner::router;
  bool may_repeat = false;     ///< sending it twice is harmless: it only reads
  bool opens_session = false;  ///< `initialize`
  bool probes = false;         ///< `server/discover`, while the server's era is unknown
  bool endless = false;        ///< without a deadline
  /// Its answer is a stream that stays open: the sender lifts the deadline once something arrives
  /// on it.
  bool stays_open = false;
  bool cancels = false;  ///< `notifications/cancelled`: other notifications go first
  std::string body;      ///< one line, without `\n`
  /// Header lines for HTTP (MCP 2026-07-28, "Request Metadata"), checked to be valid.
  std::vector<std::string> headers{};
  /// An earlier daemon sent it: the stream of its answer is resumed after this event, without a
  /// body. Empty: it is sent.
  std::string resumes_after{};
  RetryNotes notes{};  ///< maintained by transport and session, and given back with it

  /// Whether a local server is started for it.
  bool begins_run() const { return opens_session || probes; }

  // A message that opens a session or a stream is not saved.
  template <class A>
  void each_field(A& archive) {
    archive(id, kind, archive.not_saved(owner), may_repeat, archive.not_saved(opens_session),
            archive.not_saved(probes), endless, archive.not_saved(stays_open),
            archive.not_saved(cancels), body, headers, archive.not_saved(resumes_after), notes);
  }
};

/// A message under way whose end can still arrive, as saved in an upgrade.
struct SavedMessage {
  Outgoing message;
  SteadyTime started{};
  SteadyTime last_activity{};  ///< the last received byte

  // For a local server.
  std::uint32_t run = 0;
  bool written = false;     ///< partly or completely; otherwise in SavedRun::frames
  std::uint64_t begin = 0;  ///< if written: its position in the child's input

  // Over HTTP: the event to resume its answer's stream after.
  bool elsewhere = false;  ///< its answer comes on the server stream
  std::string event_id;
  std::vector<std::string> seen;  ///< ids of received events, oldest first
  std::chrono::milliseconds retry{};
  SteadyTime::duration excused{};  ///< by pauses

  template <class A>
  void each_field(A& archive) {
    archive(message, started, last_activity, run, written, begin, elsewhere, event_id, seen, retry,
            excused);
  }
};

/// The meaning of an end for the session.
enum class SessionVerdict : std::uint8_t {
  kept,
  unclear,   ///< it names no cause: doubtful if it is not the only message that is refused so
  doubtful,  ///< it may be unknown to the server; a check decides
  lost,      ///< the session is unknown
};

/// How an outgoing message ended.
struct Ending {
  std::optional<Failure> failure;  ///< none: delivered, or its stream ended in order
  SessionVerdict session = SessionVerdict::kept;
  bool may_have_acted = false;           ///< refused, but perhaps not before the server acted
  bool something_came = false;           ///< at least one message arrived on its stream
  std::optional<Outgoing> unanswered{};  ///< given back if it may be sent again
  /// The response that is its end, if only a check of the session decides whether it is sent again.
  std::string response{};
};

/// Counters of a transport for the metrics, since the daemon's start. Those that do not apply stay
/// 0.
struct UpstreamCounts {
  std::uint64_t sent_bytes = 0;  ///< of messages, without framing
  std::uint64_t received_bytes = 0;
  std::uint64_t connections = 0;  ///< opened
  std::uint64_t server_stream_openings = 0;
  std::uint64_t token_refreshes = 0;  ///< another bearer token came into use
  std::uint64_t token_failures = 0;   ///< no token was accepted by the upstream
  std::uint64_t child_restarts = 0;
};

/// Identifies a session at the server, for another daemon to continue it.
struct SessionReference {
  std::string_view id;             ///< from the server; empty: none
  std::string_view last_event_id;  ///< of the server stream's last delivered message; or empty
};

/// The state of the server's own stream.
enum class ServerStream : std::uint8_t {
  off,      ///< not wanted
  waiting,  ///< being opened, or between two attempts
  open,
  none,  ///< this upstream has none
};

/// Events of a transport, implemented by the session. Called on the loop's thread, inside a Turn,
/// never from within a function of Upstream.
class UpstreamEvents {
 public:
  /// One message (or a batch) as a single line. `origin`: the request whose answer stream it came
  /// on; none: the server's own stream.
  ///
  /// Returns the requests that it answered, on any stream. Nothing more is awaited for them: they
  /// may end later, which is not reported.
  virtual AnsweredRequests upstream_message(std::optional<UpstreamId> origin,
                                            ReceivedText message) = 0;
  /// The message is complete. Called exactly once, except after abandon() and for answered
  /// requests.
  virtual void message_ended(UpstreamId id, Ending ending) = 0;
  virtual void server_stream_changed(ServerStream state) = 0;
  /// An attempt to open that stream was refused, permanently or for now. `verdict`: not `lost`.
  virtual void server_stream_refused(SessionVerdict verdict) = 0;
  /// The upstream is reachable again.
  virtual void upstream_reachable() = 0;
  /// The session is gone, noticed without a message (a restarted child, a 404 for the stream).
  virtual void upstream_lost_session() = 0;

 protected:
  ~UpstreamEvents() = default;
};

/// Properties of a kind of upstream; over HTTP they may depend on what its server speaks.
struct UpstreamTraits {
  std::string_view kind;  ///< for the status: "http", "sse", "stdio"
  std::string target;     ///< its address, without anything secret
  /// Whether its server may be of a revision without `initialize`.
  bool may_be_modern = true;
  /// Whether each answer has its own stream: then abandon() cancels the request.
  bool has_answer_streams = true;
};

/// The session for messages from now on.
struct OpenedSession {
  std::string_view version;  ///< protocol version
  /// Otherwise messages are sent outside of a session (RetryNotes::stateful is false; MCP
  /// 2026-07-28).
  bool is_stateful = true;
  /// An earlier daemon's session to be resumed; null: a new one.
  const SessionReference* left = nullptr;
};

/// How far the stream of a request's answer was delivered, by event ids; empty without such. Valid
/// until the next non-const call.
struct ReportedEvents {
  std::string_view last;    ///< if all messages up to it were delivered
  std::string_view before;  ///< the event before that of the last delivered message
};

/// Changes the treatment of a message under way.
enum class Treatment : std::uint8_t {
  stop_reading,  ///< stop reading its answer stream
  read,
  /// Stops its deadline while a question about the request is open.
  hold_deadline,
  /// Restarts its deadline: the time on hold does not count, and silence starts afresh.
  run_deadline,
  lift_deadline,  ///< the message is now Outgoing::endless
};

/// A transport to one upstream server: messages out, messages in. It knows no clients and no
/// methods.
///
/// Owned by the daemon; the loop's thread only. Memory: the body of each outgoing message until it
/// is answered, and at most --max-frame per accumulating answer.
class Upstream {
 public:
  virtual ~Upstream() = default;

  /// REQUIRED before the first send(); `events` outlives this.
  void set_events(UpstreamEvents& events) { events_ = &events; }
  /// SIGHUP: applies changed options, and gets the token again.
  virtual void reconfigure(const UpstreamOptions& options) = 0;

  /// Where messages are sent: this, or the transport that this one has found to be the server's.
  Upstream& transport() { return *transport_; }
  /// Starts at once; ends with message_ended.
  virtual void send(Outgoing&& message) = 0;
  /// Closes the answer stream at once; nothing more is reported about it.
  virtual void abandon(UpstreamId id) = 0;
  /// The same for a request whose response was the first message on its stream, to send it again;
  /// nullopt, and nothing changes, if its bytes are gone.
  virtual std::optional<Outgoing> take_back(UpstreamId /*id*/) { return std::nullopt; }
  virtual void treat(UpstreamId id, Treatment how) = 0;
  void pause(UpstreamId id, bool paused) {
    treat(id, paused ? Treatment::stop_reading : Treatment::read);
  }
  void lift_deadline(UpstreamId id) { treat(id, Treatment::lift_deadline); }
  void hold_deadline(UpstreamId id, bool held) {
    treat(id, held ? Treatment::hold_deadline : Treatment::run_deadline);
  }
  virtual ReportedEvents reported_events(UpstreamId /*id*/) const { return {}; }
  std::string_view last_event_of(UpstreamId id) const { return reported_events(id).last; }
  std::string_view event_before(UpstreamId id) const { return reported_events(id).before; }

  /// The handshake is complete; an earlier session is over. The state of the server's stream is
  /// reported by server_stream_changed. False: it cannot be resumed, because sessions of this
  /// transport do not outlive it. REQUIRED before the first message of the session, or outside of
  /// one.
  virtual bool session_opened(const OpenedSession& session) = 0;
  /// The session's reference; nullopt: no session, or it ends with this transport. The texts are
  /// valid until the next non-const call.
  virtual std::optional<SessionReference> session_reference() const { return std::nullopt; }
  /// Whether messages name the session, so that the server may answer that it does not know it.
  virtual bool names_session() const { return false; }
  /// end() leaves the session open at the server.
  void keep_session() { keeps_session_ = true; }
  /// The session is over or will be replaced: drops everything that could be sent or resumed in it.
  virtual void session_over() = 0;
  /// Replaces idle connections and the server stream, which may be dead.
  virtual void refresh_connections() = 0;

  // For an upgrade.
  /// Whether the next process can receive the end of this message if the session continues. Without
  /// an id: whether an upgrade now would interrupt nothing; streams that are resumed or reopened do
  /// not count.
  virtual bool survives_upgrade(std::optional<UpstreamId> id) const = 0;
  /// All messages that survive.
  virtual std::vector<SavedMessage> save_messages() const = 0;
  /// Awaits the end of this message; false if it cannot arrive. REQUIRES: the session was resumed.
  virtual bool restore(SavedMessage&& message) = 0;

  /// The daemon is ending: requests that are not sent yet end with `failure`, soon.
  virtual void give_up_unsent(const Failure& failure) = 0;
  /// Ends the session in an orderly way, and everything under way; `done` is called at most once,
  /// within about 2 s.
  virtual void end(std::function<void()> done) = 0;

  bool may_be_modern() const { return traits_.may_be_modern; }
  bool has_answer_streams() const { return traits_.has_answer_streams; }
  std::string_view kind() const { return traits_.kind; }
  std::string_view target() const { return traits_.target; }
  UpstreamCounts counts() const;
  /// The bearer token; null: none needed.
  virtual AccessToken* token() { return nullptr; }
  const AccessToken* token() const { return const_cast<Upstream*>(this)->token(); }
  /// Null if its server has no login.
  LoginDesk* login() const { return token() != nullptr ? token()->login() : nullptr; }
  /// All secrets that it knows now, for redacting.
  virtual std::vector<std::string> secrets() const { return {}; }

 protected:
  UpstreamEvents* events_ = nullptr;
  Upstream* transport_ = this;
  UpstreamTraits traits_;
  const UpstreamCounts* counts_ = nullptr;  ///< set by the constructor of each kind
  bool keeps_session_ = false;
};

inline UpstreamCounts Upstream::counts() const {
  UpstreamCounts counts = *counts_;
  if (const AccessToken* const its = token()) {
    counts.token_refreshes = its->refreshes();
    counts.token_failures = its->failures();
  }
  return counts;
}

/// Ends of messages that must not be reported from within a call of Upstream: reported later in the
/// turn. Pure; a part of a transport. Memory: what one turn refuses.
class UndeliveredEndings {
 public:
  void add(UpstreamId id, Ending ending) { endings_.emplace_back(id, std::move(ending)); }
  void forget(UpstreamId id) {
    std::erase_if(endings_, [id](const auto& one) { return one.first == id; });
  }
  void clear() { endings_.clear(); }

  void tell(UpstreamEvents& events) {
    for (auto& [id, ending] : std::exchange(endings_, {}))
      events.message_ended(id, std::move(ending));
  }

 private:
  std::vector<std::pair<UpstreamId, Ending>> endings_;
};

}  // namespace bridge
