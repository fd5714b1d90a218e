#pragma once

#include <chrono>
#include <optional>

#include "base/clock.hpp"

namespace bridge {

/// What the end of a downstream session depends on.
struct SessionUse {
  bool has_stream = false;  ///< a connection carries its stream
  bool is_asked = false;    ///< requests of it are unanswered, whoever waits for them
  bool over_limit = false;  ///< answers over --client-buffer lie there: its requests are paused
  SteadyTime last_used{};   ///< its client was there, or something of it was answered
  /// When the client has last taken bytes of that, or had a connection open for it.
  SteadyTime last_taken{};
};

struct SessionTimeouts {
  std::chrono::milliseconds idle;   ///< --http-session-idle
  std::chrono::milliseconds stall;  ///< --client-stall
};

enum class SessionEnd {
  idle,     ///< nobody uses it
  stalled,  ///< over --client-buffer, and nothing is taken: as with any client
};

struct SessionDue {
  SteadyTime time;
  SessionEnd why;
};

/// When the session ends if nothing happens. Pure. Nothing: somebody else's time runs. An open
/// stream is its connection's, which takes what is unsent within --client-stall or ends; an
/// unanswered request has its own deadline, which no pause suspends (ExchangeClock).
inline std::optional<SessionDue> end_of_session(const SessionUse& use,
                                                const SessionTimeouts& timeouts) {
  if (use.over_limit) return SessionDue{use.last_taken + timeouts.stall, SessionEnd::stalled};
  if (use.has_stream || use.is_asked) return std::nullopt;
  return SessionDue{use.last_used + timeouts.idle, SessionEnd::idle};
}

}  // namespace bridge
