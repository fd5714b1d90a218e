#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace bridge {

/// From when on a token is to be replaced, and from when on it is of no use. Pure.
struct TokenLife {
  using Time = std::chrono::steady_clock::time_point;

  Time refresh = Time::max();
  Time expires = Time::max();

  /// Counted from when it was asked for, since the server counted from some time after that. It is
  /// replaced when 80 % of its life are over or 30 s remain, whichever comes later. One that seems
  /// to have expired on its way still counts for a second: long enough to be tried.
  static TokenLife of(Time asked, Time answered, std::optional<std::chrono::seconds> expires_in) {
    TokenLife life;
    if (!expires_in) return life;
    life.expires = std::max(asked + *expires_in, answered + std::chrono::seconds(1));
    const auto length = std::chrono::duration_cast<std::chrono::milliseconds>(life.expires - asked);
    life.refresh = asked + std::max(length * 4 / 5, length - std::chrono::seconds(30));
    return life;
  }

  bool is_over(Time now) const { return now >= expires; }
  bool is_refresh_due(Time now) const { return now >= refresh; }
};

}  // namespace bridge
