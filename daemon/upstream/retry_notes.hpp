#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.hpp"

namespace bridge {

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
};

}  // namespace bridge
