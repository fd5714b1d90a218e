#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "base/backoff.hpp"
#include "base/clock.hpp"

namespace bridge {

/// When the server stream is opened again (BEHAVIOUR, "Streamable HTTP: server stream"; the
/// server's `retry`: HTML, "Server-sent events"): at once, also after the first failure, then with
/// growing delays; never sooner than the server wants, and never more than two openings a second.
/// Pure but for its back-off.
class StreamPace {
 public:
  /// A new session: nothing of an older one counts.
  void reset() {
    was_good();
    retry_.reset();
    wait_once_.reset();
  }
  /// An opening begins.
  void begin(SteadyTime now) { begun_ = now; }
  bool has_lived_long(SteadyTime now) const { return now - begun_ >= std::chrono::seconds(30); }
  /// The stream was of use: failures before it do not count any more.
  void was_good() {
    backoff_.reset();
    failures_ = 0;
  }
  /// It was not. False: so often in a row that it is given up; a negative `bound` is none.
  bool failed(int bound) { return ++failures_ < bound || bound < 0; }

  /// From now on.
  void set_retry(std::chrono::milliseconds delay) {
    retry_ = std::min<std::chrono::milliseconds>(delay, std::chrono::hours(1));
  }
  /// Retry-After of a refusal: for the next opening only.
  void wait_once(std::chrono::milliseconds delay) {
    wait_once_ = std::min<std::chrono::milliseconds>(delay, std::chrono::minutes(5));
  }

  SteadyTime earliest(SteadyTime now) const { return std::max(now, begun_ + between_openings); }
  /// `failed`: the last opening did.
  SteadyTime next(SteadyTime now, bool failed) {
    std::chrono::milliseconds delay = retry_.value_or(std::chrono::milliseconds(0));
    if (const auto wait = std::exchange(wait_once_, std::nullopt)) delay = std::max(delay, *wait);
    if (failed && failures_ > 1) delay = std::max(delay, backoff_.next());
    return earliest(now + delay);
  }

 private:
  /// A little more than half a second: two a second also as the server sees them arrive.
  static constexpr std::chrono::milliseconds between_openings{525};

  SteadyTime begun_{};
  int failures_ = 0;  ///< in a row
  Backoff backoff_;
  std::optional<std::chrono::milliseconds> retry_;
  std::optional<std::chrono::milliseconds> wait_once_;
};

}  // namespace bridge
