#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/clock.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// Where the session stands when a message comes back.
struct RetrySituation {
  bool is_open = true;
  std::uint32_t session = 1;  ///< the number of the current one
  SteadyTime now{};
  std::chrono::milliseconds connect_wait{10000};
  std::chrono::milliseconds login_wait{0};
};

/// What becomes of a message that failed before its answer began (BEHAVIOUR, "Session: sent again
/// or not").
struct RetryDecision {
  enum class Action : std::uint8_t {
    send_now,
    hold,     ///< sent again after `delay`, once there is a session and the upstream is reached
    ask,      ///< a ping is to tell whether the session is there
    give_up,  ///< it ends with `failure`
  };
  /// What the failure says of more than this message.
  enum class News : std::uint8_t { none, session_lost, unreachable };

  Action action = Action::give_up;
  News news = News::none;
  Failure failure{};  ///< when held: what it ends with if its time runs out
  std::chrono::milliseconds delay{0};
  /// It is held for a login: until then at most.
  std::optional<SteadyTime> login_until{};
  // The message's notes from now on.
  std::uint8_t rejections = 0;
  std::uint8_t repeats = 0;
};

/// Pure. REQUIRES: the ending has a failure, and the message is given back with it.
RetryDecision decide_retry(const Ending& ending, const RetrySituation& situation);

/// Whether a message whose connection broke is sent again: it only reads, and has not been sent too
/// often.
bool may_repeat_after(const Failure& failure, const Outgoing& message);

/// Whether it failed only because a person has to log in. A scope that is wanted beside those that
/// were granted (403) is another thing: the login is as good as it was.
bool wants_login(const Failure& failure);

/// Whether no connection came about, so that nobody can have got anything.
bool is_unreachable(const Failure& failure);

}  // namespace bridge
