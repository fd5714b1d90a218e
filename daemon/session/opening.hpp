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

/// What is told to all that waited for a session that could not be opened: that it was the opening
/// (`data.opening`), and where the upstream answered `initialize` with an error, that error as
/// `data.upstream` of one of the bridge's own, whose message repeats nothing of it: the status
/// shows that, and the error may hold what was sent to the upstream. It is not the answer to what
/// they asked; only the sender of the `initialize` gets it as it came.
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

/// One try to open a session, step by step. A legacy one: `initialize`, the server stream,
/// `initialized`, the log level, all subscriptions at once (MCP 2025-11-25, "Lifecycle"; BEHAVIOUR,
/// "Session: opening"). A modern one is what one `server/discover` tells, before the first request
/// (MCP 2026-07-28, "Versioning and Compatibility"; BEHAVIOUR, "Eras: What a server speaks"). Each
/// step waits for the one before, and none for ever. Memory: a request for each subscription.
///
/// Owned by the session, which decides what an answer means and reports it; the loop's thread
/// only.
class Opening {
 public:
  /// Implemented by the session.
  class Events {
   public:
    /// `initialize` timed out: there was no response and no end.
    virtual void initialize_unanswered() = 0;
    /// What has to be set again in the new session.
    virtual SessionSettings settings_to_restore() const = 0;
    /// The last step is done.
    virtual void opening_done() = 0;
    /// The server is modern, and this is its DiscoverResult.
    virtual void probe_found_modern(std::string discover_result) = 0;
    /// It is legacy; `for_good`: and is known to be from now on. `refusal`: what it answered.
    virtual void probe_found_legacy(bool for_good, Failure refusal) = 0;
    /// The probe gave no result: the server could not be reached, refuses every request, or speaks
    /// no version that the bridge speaks.
    virtual void probe_failed(Failure failure) = 0;

   protected:
    ~Events() = default;
  };
  enum class Step : std::uint8_t {
    none,
    probe,
    initialize,
    server_stream,
    initialized,
    log_level,
    subscriptions
  };

  Opening(EventLoop& loop, SessionSender& sender, Upstream& upstream, Log& log, Events& events);

  /// Asks a server whether it is modern, for `wait` at most.
  void probe(std::chrono::milliseconds wait);
  /// Sends the `initialize`. It may take six times `connect_wait`, and twice as long at each
  /// further try that was not answered.
  void begin(Outgoing initialize, std::chrono::milliseconds connect_wait);
  /// `initialize` was answered with a handshake: the other steps follow.
  void handshake_done(const std::string& protocol_version);
  /// Ends it where it is. What it has sent is not waited for: the next try sends it again.
  void stop();
  /// The upstream itself is being ended: nothing is awaited from now on.
  void forget();

  Step step() const { return step_; }
  bool is_under_way() const { return step_ != Step::none; }
  bool is_initializing() const { return step_ == Step::initialize; }
  /// `initialize` was answered: what follows is sent in the new session.
  bool has_handshake() const { return step_ > Step::initialize; }
  /// Whether the step under way waits for the end of this message.
  bool awaits(UpstreamId id) const;

  /// A message on the stream of `initialize` could not be read.
  void note_malformed(std::string_view reason) { malformed_ = reason; }
  std::string_view malformed() const { return malformed_; }
  // REQUIRES: awaits() the request, and step() is probe.
  void probe_answered(const Frame& response);
  void probe_ended(const Ending& ending);
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
  ProbeFailure failure_of_probe(const Failure& failure) const;
  void judge(const ProbeAnswer& answer, Failure failure, std::string result);

  EventLoop& loop_;
  SessionSender& sender_;
  Upstream& upstream_;
  Log& log_;
  Events& events_;
  Step step_ = Step::none;
  std::vector<UpstreamId> awaited_;  ///< own messages whose end the step waits for
  std::string_view malformed_;       ///< what is wrong with what came for `initialize`; a literal
  int unanswered_tries_ = 0;         ///< in a row
  unsigned closed_connections_ = 0;  ///< of this opening's probes
  DeadlineTimer timer_;              ///< the step's timeout
  SteadyTime timeout_{};             ///< when that is
  std::vector<PutOff> put_off_;      ///< of the awaited ones
  DeadlineTimer again_;              ///< for the first of these
};

}  // namespace bridge
