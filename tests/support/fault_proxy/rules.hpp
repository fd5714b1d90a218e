#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace proxy {

using Clock = std::chrono::steady_clock;

enum class Direction { kUp, kDown };

/// What happens to the byte after the first `after` ones.
struct Limit {
  enum class Kind { kCut, kReset, kHang };

  Kind kind = Kind::kCut;
  std::uint64_t after = 0;
  bool once = false;
};

/// The rules set by commands, for open connections and for new ones.
struct Rules {
  std::chrono::milliseconds delay{0};
  std::uint64_t bytes_per_second = 0;  ///< 0: unlimited
  std::optional<Limit> up;
  std::optional<Limit> down;
  bool accept_hang = false;

  const std::optional<Limit>& limit(Direction direction) const {
    return direction == Direction::kUp ? up : down;
  }
};

}  // namespace proxy
