#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"
#include "event/event_loop.hpp"
#include "json/frame.hpp"
#include "json/reply.hpp"
#include "mcp/discovery.hpp"
#include "session/saved_session.hpp"
#include "session/session_sender.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

// What is told of an opening that comes to nothing. Pure.

/// Of an upstream that sends back what it is sent.
constexpr const char* echo_text =
    "the upstream sends back what it is sent, as an echo does: it is not an MCP server";

/// What those are told who wait for a session that could not be opened: that it was the opening
/// (`data.opening`), and where the upstream answered `initialize` with an error, that error as
/// `data.upstream` of one of the bridge's own, whose message repeats nothing of it: the status
/// shows that, and the error may hold what was sent to the upstream. It is not the answer to what
/// they asked; only who sent the `initialize` gets it as it came.
Failure failure_of_opening(Failure failure);

/// `initialize` was answered with this error object. That of a server which knows only revisions
/// without `initialize` is told in the bridge's own words, with the server's beside them.
Failure failure_of_initialize_error(std::string_view error_object);

/// `initialize` ended without an answer. `malformed`: what is wrong with what came for one; empty:
/// nothing.
Failure failure_of_initialize_ending(Ending ending, std::string_view malformed);

/// Its answer has a `protocolVersion` that fits no header.
Failure failure_of_version(std::string_view version);

/// The upstream's JSON-RPC error in a failure, as a message that can be judged; nothing if it has
/// none.
std::optional<Frame> error_of(const Failure& failure);

/// Whether another try would end the same way.
bool is_definitive(const Failure& failure);

/// Whether it is the answer to a client's `initialize`, as it came.
inline bool is_clients_answer(const Failure& failure) { return !failure.error_object.empty(); }

/// One try to open a session, step by step: `initialize`, the server stream, `initialized`, the log
/// level, all subscriptions at once (MCP 2025-11-25, "Lifecycle"; BEHAVIOUR, "Session: opening").
/// Each step waits for the one before, and none for ever. Memory: a request for each subscription.
///
/// A modern server has no such steps: what it says of itself is asked by EraProbe.
///
/// Owned by the session, which decides what an answer means and who is told; the loop's thread
/// only.
class Opening {
 public:
  struct Events {
    /// `initialize` was given up: nothing has come of it, not even an end.
    std::function<void()> initialize_unanswered;
    /// What has to be set again in the new session.
    std::function<SessionSettings()> settings_to_restore;
    /// The last step is done.
    std::function<void()> done;
  };

  Opening(EventLoop& loop, SessionSender& sender, Upstream& upstream, Log& log, Events events);

  /// Sends the `initialize`. It may take six times `connect_wait`, and twice as long at each
  /// further try that was not answered.
  void begin(Outgoing initialize, std::chrono::milliseconds connect_wait);
  /// `initialize` was answered with a handshake: the other steps follow.
  void handshake_done(const std::string& protocol_version);
  /// Ends it where it is. What it has sent is not waited for: the next try sends it anew.
  void stop();
  /// The upstream itself is being ended: nothing is awaited any more.
  void forget();

  bool is_under_way() const { return step_ != Step::none; }
  bool is_initializing() const { return step_ == Step::initialize; }
  /// Whether this is the `initialize` whose answer is awaited.
  bool is_initialize(UpstreamId id) const { return is_initializing() && awaits(id); }
  /// Whether this message is the awaited `initialize` itself: only a client sends one, so who sends
  /// it back says nothing of its own.
  bool is_echo(const Frame& frame) const;
  /// Whether the step under way waits for the end of this message.
  bool awaits(UpstreamId id) const;

  /// A message on the stream of `initialize` could not be read.
  void note_malformed(std::string_view reason) { malformed_ = reason; }
  std::string_view malformed() const { return malformed_; }
  /// Nothing more comes for this message. REQUIRES: awaits(). After that of `initialize` it waits
  /// for handshake_done() or stop().
  void ended(UpstreamId id);
  /// Whether what the old session had is being set again in the new one.
  bool is_restoring() const { return step_ == Step::log_level || step_ == Step::subscriptions; }
  /// The server wants this later (429, 503): it is sent again after `delay` if that is within the
  /// step's time, else the session is opened without it. REQUIRES: awaits() and is_restoring().
  void put_off(Outgoing message, std::chrono::milliseconds delay);
  /// The server stream was answered, whatever the answer.
  void server_stream_answered();

 private:
  enum class Step : std::uint8_t {
    none,
    initialize,
    server_stream,
    initialized,
    log_level,
    subscriptions
  };

  struct PutOff {
    SteadyTime until;
    Outgoing message;
  };

  void enter(Step step, std::optional<std::chrono::milliseconds> timeout);
  void next();
  void unanswered();
  void give_up_awaited();
  void send_again();
  void warn_of_loss(std::string_view why);

  EventLoop& loop_;
  SessionSender& sender_;
  Upstream& upstream_;
  Log& log_;
  const Events events_;
  Step step_ = Step::none;
  std::vector<UpstreamId> awaited_;  ///< own messages whose end the step waits for
  std::string_view malformed_;       ///< what is wrong with what came for `initialize`; a literal
  int unanswered_tries_ = 0;         ///< in a row
  DeadlineTimer timer_;              ///< the step's timeout
  SteadyTime timeout_{};             ///< when that is
  std::vector<PutOff> put_off_;      ///< of the awaited ones
  DeadlineTimer again_;              ///< for the first of these
};

/// Does the upstream speak 2026-07-28? One `server/discover`, before the first modern request,
/// tells (MCP 2026-07-28, "Versioning and Compatibility"; BEHAVIOUR, "Eras: What a server speaks").
///
/// Owned by the modern EraSession, which is told what was found; the loop's thread only.
class EraProbe {
 public:
  struct Events {
    /// It is modern, and this is its DiscoverResult.
    std::function<void(std::string discover_result)> found_modern;
    /// It is legacy; `for_good`: and is known to be from now on. `refusal`: what it answered.
    std::function<void(bool for_good, Failure refusal)> found_legacy;
    /// It does not tell: nobody could be reached, or the server turns everybody away, or speaks no
    /// version that the bridge speaks.
    std::function<void(Failure failure)> failed;
  };

  EraProbe(EventLoop& loop, SessionSender& sender, Upstream& upstream, Events events);

  /// Asks. It takes as long as an `initialize` may: `wait`.
  void begin(std::chrono::milliseconds wait);
  /// Gives the question up, if it is under way.
  void stop();
  /// The upstream itself is being ended: nothing is awaited any more.
  void forget();

  bool is_under_way() const { return is_under_way_; }
  bool awaits(UpstreamId id) const { return is_under_way() && id == asked_; }
  /// Whether this is the question itself, sent back: an echo, no server.
  bool is_echo(const Frame& frame) const;

  // REQUIRES: awaits() the request that was answered or has ended.
  void answered(const Frame& response);
  void ended(const Ending& ending);

 private:
  void ask();
  ProbeFailure failure_of_probe(const Failure& failure) const;
  void judge(const ProbeAnswer& answer, Failure failure, std::string result);
  void timed_out();

  SessionSender& sender_;
  Upstream& upstream_;
  const Events events_;
  bool is_under_way_ = false;
  UpstreamId asked_{};               ///< the question that is under way
  unsigned closed_connections_ = 0;  ///< of this opening's probes
  DeadlineTimer timer_;
};

}  // namespace bridge
