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

/// The requests that one line from the upstream has answered: none, one, or several if the line is
/// a batch. Pure.
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

  /// In the order in which they were answered.
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

/// What became of a message so far: written by the part that sends it again, and given
/// back with it. A value.
struct RetryNotes {
  // The transport's.
  std::uint8_t authorizations = 0;  ///< how often it was sent again with another token

  // The session's (BEHAVIOUR, "Session").
  bool stateful = true;         ///< it was made for a session; else it stands alone (2026-07-28)
  std::uint32_t session = 0;    ///< the number of the session it was sent in
  std::uint8_t rejections = 0;  ///< how often the upstream has refused it for want of a session
  std::uint8_t repeats = 0;     ///< how often it was sent again after its connection broke
  std::optional<SteadyTime> hold_until{};   ///< since it was held first: no longer than until then
  std::optional<SteadyTime> login_until{};  ///< the same for a person's login

  template <class A>
  void each_field(A& archive) {
    archive(authorizations, stateful, session, rejections, repeats, archive.not_saved(hold_until),
            archive.not_saved(login_until));
  }
};

enum class OutgoingKind : std::uint8_t { request, notification, response };
constexpr OutgoingKind last_of(OutgoingKind) { return OutgoingKind::response; }

/// The part that sent a message, and gets its result.
enum class MessageOwner : std::uint8_t {
  router,
  opening,  ///< of the session, like all that follow
  health,
  listen,
  event_stream,
};

/// One message for the upstream: its bytes, and what the transport must know without reading them.
struct Outgoing {
  UpstreamId id{};
  OutgoingKind kind = OutgoingKind::request;
  MessageOwner owner = MessageOwner::router;
  bool may_repeat = false;     ///< sending it twice does no harm: it only reads
  bool opens_session = false;  ///< `initialize`
  bool probes = false;   ///< `server/discover`, sent before it is known of which era the server is
  bool endless = false;  ///< it has no deadline
  /// Its answer is a stream that stays open: its sender lifts its deadline as soon as
  /// something has come on it.
  bool stays_open = false;
  std::string body;  ///< one line, without `\n`
  /// Header lines for a transport that has headers (MCP 2026-07-28, "Request Metadata"), checked by
  /// their maker to be valid in a head.
  std::vector<std::string> headers{};
  /// It was sent by another daemon: its answer's stream goes on behind this event, without a body.
  /// Empty: it is sent.
  std::string resumes_after{};
  RetryNotes notes{};  ///< kept by transport and session, and given back with it

  /// A local server is started for it.
  bool begins_run() const { return opens_session || probes; }

  // What opens a session, or a stream, ends with the process.
  template <class A>
  void each_field(A& archive) {
    archive(id, kind, archive.not_saved(owner), may_repeat, archive.not_saved(opens_session),
            archive.not_saved(probes), endless, archive.not_saved(stays_open), body, headers,
            archive.not_saved(resumes_after), notes);
  }
};

/// A message under way at the upstream whose end can still come, as it is saved in an upgrade.
struct SavedMessage {
  Outgoing message;
  SteadyTime started{};
  SteadyTime last_activity{};  ///< when a byte came last

  // At a local server.
  std::uint32_t run = 0;
  bool written = false;     ///< some of it; else it is among SavedRun::frames
  std::uint64_t begin = 0;  ///< then: where in the stream to the child

  // Over HTTP: behind which event its answer's stream is continued.
  bool elsewhere = false;  ///< its answer comes on the server stream
  std::string event_id;
  std::vector<std::string> seen;  ///< ids of events that came, oldest first
  std::chrono::milliseconds retry{};
  SteadyTime::duration excused{};  ///< by pauses

  template <class A>
  void each_field(A& archive) {
    archive(message, started, last_activity, run, written, begin, elsewhere, event_id, seen, retry,
            excused);
  }
};

/// What an end says about the session.
enum class SessionVerdict : std::uint8_t {
  kept,
  doubtful,  ///< the upstream speaks of the session; a ping will tell
  lost,      ///< it no longer knows the session
};

/// How one outgoing message ended.
struct Ending {
  std::optional<Failure> failure;  ///< none: it was handed over, or its stream ended in order
  SessionVerdict session = SessionVerdict::kept;
  bool something_came = false;           ///< at least one message came on its stream
  std::optional<Outgoing> unanswered{};  ///< given back if it may be worth sending again
};

/// What a transport counts, for the metrics; all since the daemon's start. What a kind of upstream
/// does not have stays 0.
struct UpstreamCounts {
  std::uint64_t sent_bytes = 0;  ///< of messages, without what wraps them
  std::uint64_t received_bytes = 0;
  std::uint64_t connections = 0;  ///< opened
  std::uint64_t server_stream_openings = 0;
  std::uint64_t token_refreshes = 0;  ///< another bearer token came into use
  std::uint64_t token_failures = 0;   ///< there was none that the upstream accepts
  std::uint64_t child_restarts = 0;
};

/// Where a session stands at the server: what another daemon needs to go on in it.
struct SessionReference {
  std::string_view id;             ///< as the server named it; empty: it did not
  std::string_view last_event_id;  ///< of the server stream, with the last message told; or empty
};

/// The stream on which the upstream speaks by itself.
enum class ServerStream : std::uint8_t {
  off,      ///< not wanted
  waiting,  ///< being opened, or between two tries
  open,
  none,  ///< this upstream has none
};

/// What happens at the upstream's side: implemented by the session, called by the transports, on
/// the loop's thread and inside a Turn. Never called from within a function of Upstream.
class UpstreamEvents {
 public:
  /// One message (or a batch), as a single line. `origin` is the request whose answer stream it
  /// came on; none: the server's own stream.
  ///
  /// Returns the requests that were answered by it, be it on their own streams or not. Nothing more
  /// is awaited for them: they may end in their own time, of which nothing is told.
  virtual AnsweredRequests upstream_message(std::optional<UpstreamId> origin,
                                            ReceivedText message) = 0;
  /// Nothing more comes for this message. Always called once, but not after abandon(), nor for a
  /// request that was answered.
  virtual void upstream_ended(UpstreamId id, Ending ending) = 0;
  virtual void server_stream_changed(ServerStream state) = 0;
  /// A try to open that stream was answered, but with a refusal, be it for good or for now.
  virtual void server_stream_refused() = 0;
  /// The upstream, which could not be reached before, accepts connections again.
  virtual void upstream_reachable() = 0;
  /// The session is gone without a message having said so (a restarted child, a 404 to the stream).
  virtual void upstream_lost_session() = 0;

 protected:
  ~UpstreamEvents() = default;
};

/// What a kind of upstream is like; of one over HTTP that may change with what its server speaks.
struct UpstreamTraits {
  std::string_view kind;  ///< for the status: "http", "sse", "stdio"
  std::string target;     ///< where, without anything secret
  /// Whether its server may be of a revision without `initialize`.
  bool may_be_modern = true;
  /// Whether each answer has a stream of its own: then abandon() tells the server that the answer
  /// is no longer awaited.
  bool has_answer_streams = true;
};

/// The session that messages are sent in from now on.
struct OpenedSession {
  std::string_view version;  ///< of the protocol
  /// Else messages are sent outside of any session (RetryNotes::stateful is false; MCP 2026-07-28).
  bool is_stateful = true;
  /// It is one that another daemon has left, and is resumed; else it is new.
  const SessionReference* left = nullptr;
};

/// How far the stream of a request's answer was told, by the ids of its events; empty without such.
/// Good until the next call of a function that is not const.
struct ReportedEvents {
  std::string_view last;  ///< if all that came with it was told
  std::string_view
      before;  ///< the event before the one that the message came in that was told last
};

/// How a message under way is treated from now on.
enum class Treatment : std::uint8_t {
  stop_reading,  ///< of its answer stream
  read,
  /// For as long as a question about the request is open its deadline does not run.
  hold_deadline,
  /// It runs again: the time held does not count, and the silence starts over.
  run_deadline,
  lift_deadline,  ///< as if it had been sent as Outgoing::endless
};

/// A transport to one upstream server: messages out, messages in. It knows no client and no method.
///
/// Owned by the daemon; the loop's thread only. Memory: one body for each outgoing message until
/// its answer is here, and at most --max-frame for each answer that is accumulating.
class Upstream {
 public:
  virtual ~Upstream() = default;

  /// REQUIRED before the first send(); `events` outlives the last use.
  void set_events(UpstreamEvents& events) { events_ = &events; }
  /// SIGHUP: takes the options that can change, and asks for the token again.
  virtual void reconfigure(const UpstreamOptions& options) = 0;

  /// Starts at once; ends with upstream_ended.
  virtual void send(Outgoing&& message) = 0;
  /// Gives the answer stream up, at once; nothing more is reported of it.
  virtual void abandon(UpstreamId id) = 0;
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

  /// The handshake is done. What comes of the server's stream is told by server_stream_changed.
  /// False if it cannot be resumed: this transport has no sessions that outlive it. REQUIRED before
  /// the first message of the session, or outside of one.
  virtual bool session_opened(const OpenedSession& session) = 0;
  /// Where the session stands; none: there is none, or it ends with this transport. The texts are
  /// good until the next call of a function that is not const.
  virtual std::optional<SessionReference> session_reference() const { return std::nullopt; }
  /// end() is to leave the session open at the server.
  void keep_session() { keeps_session_ = true; }
  /// That session is over, or another one is going to be opened in its place: nothing of it is
  /// kept that could be sent or resumed.
  virtual void session_over() = 0;
  /// Replaces the connections that are idle and the server stream: they may be dead.
  virtual void refresh_connections() = 0;

  // In an upgrade.
  /// Whether what comes of this message can come to the next process as well, if the session goes
  /// on. Without an id: whether an upgrade now would cut nothing off; streams that are resumed or
  /// opened again do not count.
  virtual bool survives_upgrade(std::optional<UpstreamId> id) const = 0;
  /// All messages of which that is so.
  virtual std::vector<SavedMessage> save_messages() const = 0;
  /// Awaits its result; false if none can come. REQUIRES: the session was resumed.
  virtual bool restore(SavedMessage&& message) = 0;

  /// The daemon is ending: requests that wait here for something before they can be sent end with
  /// `failure`, soon.
  virtual void give_up_unsent(const Failure& failure) = 0;
  /// Ends the session in an orderly way and everything under way; `done` is called at most once, as
  /// soon as that is over, within about 2 s.
  virtual void end(std::function<void()> done) = 0;

  bool may_be_modern() const { return traits_.may_be_modern; }
  bool has_answer_streams() const { return traits_.has_answer_streams; }
  std::string_view kind() const { return traits_.kind; }
  std::string_view target() const { return traits_.target; }
  UpstreamCounts counts() const;
  /// The bearer token; null: it needs none.
  virtual AccessToken* token() { return nullptr; }
  const AccessToken* token() const { return const_cast<Upstream*>(this)->token(); }
  /// Null if no person can log in there.
  LoginDesk* login() const { return token() != nullptr ? token()->login() : nullptr; }
  /// Every secret that it knows now, which are not to be shown.
  virtual std::vector<std::string> secrets() const { return {}; }

 protected:
  UpstreamEvents* events_ = nullptr;
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

/// Ends of messages that must not be told from within a call of Upstream: told later in the turn.
/// Pure; a part of a transport. Memory: what one turn refuses.
class UndeliveredEndings {
 public:
  void add(UpstreamId id, Ending ending) { endings_.emplace_back(id, std::move(ending)); }
  void forget(UpstreamId id) {
    std::erase_if(endings_, [id](const auto& one) { return one.first == id; });
  }
  void clear() { endings_.clear(); }

  void tell(UpstreamEvents& events) {
    for (auto& [id, ending] : std::exchange(endings_, {}))
      events.upstream_ended(id, std::move(ending));
  }

 private:
  std::vector<std::pair<UpstreamId, Ending>> endings_;
};

}  // namespace bridge
