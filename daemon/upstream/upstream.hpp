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

class Login;
struct UpstreamOptions;

/// A local server's process, its pipes and its watcher, for another image of the program to go on
/// with. A value; the descriptors stay whose they are.
struct KeptRun {
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  struct Frame {
    std::uint64_t id = 0;
    std::string body;

    template <class Fields>
    void each_field(Fields&& fields) {
      fields(id, body);
    }
  };

  std::uint64_t watcher_version = 0;  ///< of the messages that the watcher knows
  std::uint64_t watcher = none;       ///< the socket to it
  std::uint64_t watcher_pid = 0;
  std::uint64_t number = 0;  ///< of the last run
  std::uint64_t restarts = 0;
  bool is_on = false;  ///< it runs; else nothing below is set
  std::uint64_t pid = none;
  std::uint64_t input = none;  ///< its stdin
  std::uint64_t output = none;
  std::uint64_t error = none;
  std::vector<Frame> frames;   ///< not written whole
  std::uint64_t progress = 0;  ///< bytes of the first that are written
  std::uint64_t position = 0;  ///< bytes written in all
  std::uint64_t unread_at_close = 0;
  std::string output_pending;
  bool output_discarding = false;
  std::string error_pending;
  bool error_discarding = false;

  template <class Fields>
  void each_field(Fields&& fields) {
    fields(watcher_version, watcher, watcher_pid, number, restarts, is_on, pid, input, output,
           error, frames, progress, position, unread_at_close, output_pending, output_discarding,
           error_pending, error_discarding);
  }
  /// All its descriptors.
  std::vector<std::uint64_t> descriptors() const {
    std::vector<std::uint64_t> all;
    for (const std::uint64_t one : {watcher, input, output, error}) {
      if (one != none) all.push_back(one);
    }
    return all;
  }
};

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

/// What became of a message so far: written by whoever decides that it is sent again, and given
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

/// Which part sent a message, and awaits what comes of it.
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
  /// Its answer is a stream that stays open: whoever sends it lifts its deadline as soon as
  /// something has come on it.
  bool stays_open = false;
  std::string body;  ///< one line, without `\n`
  /// Header lines for a transport that has headers (MCP 2026-07-28, "Request Metadata"). Whoever
  /// makes them has checked that they can stand in a head.
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
  SteadyTime heard{};  ///< when a byte came last

  // At a local server.
  std::uint32_t run = 0;
  bool written = false;     ///< some of it; else it is among KeptRun::frames
  std::uint64_t begin = 0;  ///< then: where in the stream to the child

  // Over HTTP: behind which event its answer's stream is continued.
  bool elsewhere = false;  ///< its answer comes on the server stream
  std::string event_id;
  std::vector<std::string> seen;  ///< ids of events that came, oldest first
  std::chrono::milliseconds retry{};
  SteadyTime::duration excused{};  ///< by pauses

  template <class A>
  void each_field(A& archive) {
    archive(message, started, heard, run, written, begin, elsewhere, event_id, seen, retry,
            excused);
  }
};

/// What an end says about the session.
enum class SessionVerdict : std::uint8_t {
  kept,
  doubtful,  ///< the upstream speaks of the session; a ping will tell
  lost,      ///< it does not know the session any more
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

/// A transport to one upstream server: messages out, messages in. It knows no client and no method.
///
/// Owned by the daemon; the loop's thread only. Memory: one body for each outgoing message until
/// its answer is here, and at most --max-frame for each answer that is accumulating.
class Upstream {
 public:
  virtual ~Upstream() = default;

  /// REQUIRED before the first send(); `events` outlives the last use.
  virtual void set_events(UpstreamEvents& events) = 0;
  /// Once, before the first send(): begins what is to be there from the start. Throws StartError if
  /// it cannot be had.
  virtual void start() {}
  /// SIGHUP: takes the options that can change, and asks for the token anew.
  virtual void reconfigure(const UpstreamOptions& options) = 0;

  /// Starts at once; ends with upstream_ended.
  virtual void send(Outgoing&& message) = 0;
  /// Gives the answer stream up, at once; nothing more is reported of it.
  virtual void abandon(UpstreamId id) = 0;
  /// Stops or continues reading that answer stream.
  virtual void pause(UpstreamId id, bool paused) = 0;
  /// From now on that request is as if it had been sent as Outgoing::endless.
  virtual void lift_deadline(UpstreamId id) { static_cast<void>(id); }
  /// While `held`, for as long as a question about the request is open, its deadline does not run.
  /// Afterwards it does again: the time held does not count, and the silence starts over.
  virtual void hold_deadline(UpstreamId id, bool held) {
    static_cast<void>(id);
    static_cast<void>(held);
  }
  /// The last event of that request's answer stream, if it has such and all that came with it was
  /// told; else empty. Good until the next call of a function that is not const.
  virtual std::string_view last_event_of(UpstreamId id) const {
    static_cast<void>(id);
    return {};
  }
  /// Of the message that was told last of that request: the event before the one it came in.
  /// Likewise.
  virtual std::string_view event_before(UpstreamId id) const {
    static_cast<void>(id);
    return {};
  }

  /// The handshake is done. What comes of the server's stream is told by server_stream_changed.
  virtual void session_opened(const std::string& protocol_version) = 0;
  /// Where the session stands; none: there is none, or it ends with this transport. The texts are
  /// good until the next call of a function that is not const.
  virtual std::optional<SessionReference> session_reference() const { return std::nullopt; }
  /// Goes on in a session that another daemon has left, as if session_opened() had been called; the
  /// server stream is resumed. False if this transport has no sessions that outlive it.
  virtual bool session_continued(const std::string& protocol_version,
                                 const SessionReference& reference) {
    static_cast<void>(protocol_version);
    static_cast<void>(reference);
    return false;
  }
  /// The revision of messages that are sent outside of any session (RetryNotes::stateful is false;
  /// MCP 2026-07-28). REQUIRED before the first of them.
  virtual void set_stateless_version(std::string_view version) { static_cast<void>(version); }
  /// end() is to leave the session open at the server.
  virtual void keep_session() {}
  /// That session is over, or another one is going to be opened in its place: nothing of it is
  /// kept that could be sent or resumed.
  virtual void session_over() = 0;
  /// Replaces the connections that are idle and the server stream: they may be dead.
  virtual void refresh_connections() = 0;

  // Another image of the program is to go on.
  /// Whether an upgrade now would cut nothing off. Streams that are resumed or opened anew do not
  /// count, and messages that survive it (survives_upgrade) neither.
  virtual bool is_quiet() const { return true; }
  /// The bearer token in hand, if it would have to be fetched anew; and to go on with it, before
  /// the session goes on.
  virtual std::optional<SavedToken> save_token() const { return std::nullopt; }
  virtual void restore_token(const SavedToken& token) { static_cast<void>(token); }
  /// Whether what comes of this message can come to another image as well: if the session goes on.
  virtual bool survives_upgrade(UpstreamId id) const {
    static_cast<void>(id);
    return false;
  }
  /// All messages of which that is so.
  virtual std::vector<SavedMessage> save_messages() const { return {}; }
  /// Awaits what comes of it; false if nothing can come. REQUIRES: the session has been continued.
  virtual bool restore(SavedMessage&& /*message*/) { return false; }
  /// The local server's process; none: there is none.
  virtual std::optional<KeptRun> run_to_keep() const { return std::nullopt; }
  /// Goes on with it instead of start(). REQUIRES: nothing was sent yet.
  virtual void go_on_with(const KeptRun& run) { static_cast<void>(run); }

  /// The daemon is ending: requests that wait here for something before they can be sent end with
  /// `failure`, soon.
  virtual void give_up_unsent(const Failure& failure) { static_cast<void>(failure); }
  /// Ends the session in an orderly way and everything under way; `done` is called at most once, as
  /// soon as that is over, within about 2 s.
  virtual void end(std::function<void()> done) = 0;

  /// Whether its server may be of a revision without `initialize`.
  virtual bool may_be_modern() const { return true; }
  /// Whether each answer has a stream of its own: then abandon() tells the server that nobody waits
  /// for it any more.
  virtual bool has_answer_streams() const = 0;

  virtual std::string_view kind() const = 0;    ///< for the status: "http", "stdio"
  virtual std::string_view target() const = 0;  ///< where, without anything secret
  virtual UpstreamCounts counts() const { return {}; }
  /// Null if no person can log in there.
  virtual Login* login() const { return nullptr; }
  /// Every secret that it knows now, which are not to be shown.
  virtual std::vector<std::string> secrets() const { return {}; }
};

/// Ends of messages that must not be told from within a call of Upstream: told later in the turn.
/// Pure; a part of a transport. Memory: what one turn refuses.
class UntoldEndings {
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
