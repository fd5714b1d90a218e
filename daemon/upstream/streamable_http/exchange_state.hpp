#pragma once

#include <cstdint>
#include <string_view>

#include "base/clock.hpp"
#include "upstream/message_clock.hpp"
#include "upstream/streamable_http/http_context.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// Where an exchange stands, and until when: its phase, and the clock of its message (BEHAVIOUR,
/// "Deadlines"). A part of its Exchange, which changes it; the loop's thread only.
class ExchangeState {
 public:
  enum class Phase : std::uint8_t {
    posting,              ///< the POST is being sent, the answer has not begun
    answering,            ///< the answer is being received
    waiting_to_continue,  ///< its stream broke; until the phase is due
    continuing,           ///< a GET resumes it
    awaiting_elsewhere,   ///< accepted: the answer comes on another stream, until due
    draining,             ///< answered; its stream may continue until due
    ended,                ///< to be reported
    over,                 ///< answered, and its stream has ended
  };

  /// Both outlive this.
  ExchangeState(const HttpContext& context, const Outgoing& message)
      : context_(context), message_(message) {}

  bool is(Phase phase) const { return phase_ == phase; }
  /// `due`: when it is over, where it says so.
  void begin_phase(Phase phase, SteadyTime due = {}) {
    phase_ = phase;
    due_ = due;
  }
  void await_elsewhere() {
    begin_phase(Phase::awaiting_elsewhere, SteadyTime::max());
    server_stream_changed();
  }
  void begin_draining();
  /// The last request has ended, and no other follows.
  void finish() { phase_ = is_settled() ? Phase::over : Phase::ended; }
  /// HttpContext::has_server_stream() has changed.
  void server_stream_changed();
  /// A stream to be resumed, or a response on another stream, will not come.
  void session_over() { session_is_over_ = true; }
  void begin_post() {
    phase_ = Phase::posting;
    session_is_over_ = false;
  }

  bool has_ended() const { return is(Phase::ended) || is(Phase::over); }
  /// It was answered: its end is not reported.
  bool is_settled() const { return is(Phase::draining) || is(Phase::over); }
  bool is_session_over() const { return session_is_over_; }
  /// Whether its session is over and no message under way could answer it.
  bool waits_in_vain() const {
    return session_is_over_ && (is(Phase::waiting_to_continue) || is(Phase::awaiting_elsewhere));
  }
  /// The answer is awaited on another stream, but there is no server stream.
  bool lacks_stream() const { return is(Phase::awaiting_elsewhere) && due_ != SteadyTime::max(); }
  /// A job's request, or one whose stream stays open (which has --request-timeout until its
  /// deadline is lifted).
  bool is_endless() const { return message_.endless || message_.stays_open || clock_.is_held(); }
  /// Whether its deadline is short: it is not a request that waits for an answer.
  bool ends_soon() const {
    return is(Phase::draining) || is(Phase::waiting_to_continue) || waits_in_vain() ||
           lacks_stream() || message_.kind != OutgoingKind::request;
  }

  /// Whether the stream is to be resumed now.
  bool is_time_to_continue(SteadyTime now) const { return may_continue() && due_ <= now; }
  /// Whether a server stream was awaited for long enough.
  bool gives_up_stream(SteadyTime now) const { return lacks_stream() && due_ <= now; }
  /// When it times out.
  SteadyTime deadline() const;
  /// Why it has timed out. `is_held`: its answer waits for room.
  std::string_view timeout_text(SteadyTime now, bool is_held) const;

  MessageClock& clock() { return clock_; }
  const MessageClock& clock() const { return clock_; }

 private:
  MessageTimeouts timeouts() const;
  /// A stream that is not read is not resumed either.
  bool may_continue() const { return is(Phase::waiting_to_continue) && !clock_.is_paused(); }

  const HttpContext& context_;
  const Outgoing& message_;
  Phase phase_ = Phase::posting;
  SteadyTime due_{};  ///< of the phase
  bool session_is_over_ = false;
  MessageClock clock_;
};

}  // namespace bridge
