#pragma once

#include <cstdint>
#include <string_view>

#include "base/clock.hpp"

namespace bridge {

/// Why a session took the place of another.
enum class ReopeningReason : std::uint8_t {
  lost,         ///< the server knows it no more, or its stream broke
  restarted,    ///< the daemon began anew, and the session it had was not there any more
  child_ended,  ///< the process of the local server has ended
};

struct Reopening {
  ReopeningReason reason = ReopeningReason::lost;
  WallTime at{};
};

constexpr std::string_view name_of(ReopeningReason reason) {
  switch (reason) {
    case ReopeningReason::lost: return "lost";
    case ReopeningReason::restarted: return "restarted";
    case ReopeningReason::child_ended: return "child_ended";
  }
  return "lost";
}

}  // namespace bridge
