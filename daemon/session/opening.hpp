#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
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

class SessionOpener;

// Errors of a failed opening. Pure.

/// For an upstream that echoes requests.
constexpr const char* echo_text =
    "the upstream sends back what it is sent, as an echo does: it is not an MCP server";

/// The error for requests that waited for a session which could not be opened. It says so
/// (`data.opening`); an error response to `initialize` is its `data.upstream`, not repeated in the
/// message, because the status shows the message and the error may contain what was sent. Only the
/// sender of the `initialize` gets the original response.
Failure failure_of_opening(Failure failure);

/// The upstream's JSON-RPC error in a failure, as a frame; nullopt if it has none.
std::optional<Frame> error_of(const Failure& failure);

/// Whether another attempt would fail in the same way.
bool is_definitive(const Failure& failure);

/// Whether it is the unchanged answer to a client's `initialize`.
inline bool is_clients_answer(const Failure& failure) { return !failure.error_object.empty(); }

/// One attempt to open a session. Legacy: `initialize`, the server stream, `initialized`, the log
/// level, all subscriptions at once (MCP 2025-11-25, "Lifecycle"; BEHAVIOUR, "Session: opening").
/// Modern: one `server/discover` before the first request (MCP 2026-07-28, "Versioning and
/// Compatibility"; BEHAVIOUR, "Eras: What a server speaks"). Each step waits for the previous one
/// and has a timeout. Memory: a request per subscription.
///
/// Owned by the session, which interprets and reports answers; the loop's thread only.
class Opening {
 public:
  enum class Step : std::uint8_t {
    none,
    probe,
    initialize,
    server_stream,
    initialized,
    log_level,
    subscriptions
  };

  Opening(EventLoop& loop, SessionSender& sender, Upstream& upstream, Log& log,
          SessionOpener& opener);

  /// Asks whether a server is modern, for at most `wait`.
  void probe(std::chrono::milliseconds wait);
  /// Sends the `initialize`. Its timeout is six times `connect_wait`, doubled after each unanswered
  /// attempt.
  void begin_initialize(Outgoing initialize, std::chrono::milliseconds connect_wait);
  /// `initialize` was answered: the other steps follow.
  void handshake_done(const std::string& protocol_version);
  /// Stops at the current step. Sent messages are no longer awaited: the next attempt repeats them.
  void stop();
  /// The upstream is ending: nothing is awaited.
  void forget();
  /// The upstream has answered the current step.
  void note_answer() { ended_runs_ = 0; }
  /// The attempt has failed like this. Returns whether a local server's run has ended and another
  /// one before it, both without an answer.
  bool note_ended_run(const Failure& failure);

  Step step() const { return step_; }
  bool is_under_way() const { return step_ != Step::none; }
  bool is_initializing() const { return step_ == Step::initialize; }
  /// Whether `initialize` was answered, so that messages are sent in the new session.
  bool has_handshake() const { return step_ > Step::initialize; }
  /// Whether the current step waits for the end of this message.
  bool awaits(UpstreamId id) const;

  /// A message on the stream of `initialize` was malformed.
  void note_malformed(std::string_view reason) { malformed_ = reason; }
  std::string_view malformed() const { return malformed_; }
  // REQUIRES: awaits() the request, and step() is probe.
  void probe_answered(const Frame& response);
  void probe_ended(const Ending& ending);
  /// The message is complete. REQUIRES: awaits(). After the end of `initialize` it waits for
  /// handshake_done() or stop().
  void ended(UpstreamId id);
  /// Whether settings of the old session are being restored.
  bool is_restoring() const { return step_ == Step::log_level || step_ == Step::subscriptions; }
  /// The server defers this message (429, 503): it is sent again after `delay` if that is within
  /// the step's timeout, otherwise left out. REQUIRES: awaits() and is_restoring().
  void put_off(Outgoing message, std::chrono::milliseconds delay);
  /// The server stream was answered, accepted or refused.
  void server_stream_answered();

 private:
  struct PutOff {
    SteadyTime until;
    Outgoing message;
  };

  void enter(Step step, std::optional<std::chrono::milliseconds> timeout);
  void next();
  void unanswered();
  void give_up_awaited();
  void restore_more();
  void send_again();
  void warn_of_loss(std::string_view why);
  ProbeFailure failure_of_probe(const Failure& failure) const;
  void judge(const ProbeAnswer& answer, Failure failure, std::string result);

  EventLoop& loop_;
  SessionSender& sender_;
  Upstream& upstream_;
  Log& log_;
  SessionOpener& opener_;
  Step step_ = Step::none;
  std::vector<UpstreamId> awaited_;  ///< own messages that the step waits for
  std::string_view malformed_;       ///< what was wrong with the answer to `initialize`; a literal
  int unanswered_tries_ = 0;         ///< consecutive
  int ended_runs_ = 0;               ///< of a local server, consecutive, without an answer
  unsigned closed_connections_ = 0;  ///< of this opening's probes
  std::deque<std::string> to_restore_;  ///< resources whose subscriptions are not sent yet
  bool has_restored_ = false;           ///< one of them was answered
  DeadlineTimer timer_;                 ///< the step's timeout
  SteadyTime timeout_{};                ///< when the step times out
  std::vector<PutOff> put_off_;         ///< deferred ones of the awaited messages
  DeadlineTimer again_;                 ///< for the first of these
};

}  // namespace bridge
