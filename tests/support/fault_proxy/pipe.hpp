#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "rules.hpp"
#include "socket.hpp"

namespace proxy {

/// One direction of one connection: bytes that were read and wait to be passed on. Holds at most 1
/// MiB; then it stops reading.
class Pipe {
 public:
  enum class Result { kGoesOn, kEnded, kBroken, kLimit };

  /// Sets the limit for bytes from now on; nullopt removes it and releases held bytes.
  void arm(const std::optional<Limit>& limit);
  const std::optional<Limit>& limit() const { return limit_; }
  void hold() { held_ = true; }

  bool wants_to_read() const;
  /// Has bytes (or the end) that may be passed on now.
  bool wants_to_write(Clock::time_point now) const;
  /// When that will be so, if only time is missing.
  std::optional<Clock::time_point> due() const;

  /// Reads what `from` has; kBroken if that connection broke.
  Result read(const Socket& from, const Rules& rules, Clock::time_point now);
  /// Passes on what may go. kEnded: the end was passed on. kLimit: the limit was reached.
  Result write(Socket& to, const Rules& rules, Clock::time_point now);

  bool ended() const { return end_passed_; }
  std::uint64_t passed() const { return passed_; }

 private:
  struct Chunk {
    Clock::time_point due;
    std::string bytes;
  };

  std::size_t allowed(std::size_t wanted, const Rules& rules) const;

  std::deque<Chunk> chunks_;
  std::size_t queued_ = 0;
  bool at_end_ = false;  ///< of the input
  Clock::time_point end_due_{};
  bool end_passed_ = false;
  bool held_ = false;
  std::uint64_t passed_ = 0;
  std::optional<Limit> limit_;
  std::uint64_t left_ = 0;         ///< until the limit
  Clock::time_point throttled_{};  ///< until then
};

}  // namespace proxy
