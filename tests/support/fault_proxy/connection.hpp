#pragma once

#include <poll.h>

#include <array>
#include <optional>

#include "pipe.hpp"
#include "rules.hpp"
#include "socket.hpp"

namespace proxy {

/// One client's connection, and the corresponding one to the server.
class Connection {
 public:
  struct Step {
    std::optional<Direction> fired;  ///< the direction whose limit was reached
    bool refused = false;            ///< by the server
  };

  Connection(Socket client, const Rules& rules);

  void begin(const sockaddr_in& server);
  bool begun() const { return state_ != State::kParked; }

  Pipe& pipe(Direction direction) { return direction == Direction::kUp ? up_ : down_; }

  std::uint64_t passed(Direction direction) const {
    return direction == Direction::kUp ? up_.passed() : down_.passed();
  }

  /// The events to poll for: the client, then the server.
  std::array<pollfd, 2> interest(Clock::time_point now) const;
  /// When an action becomes possible that only waits for its time.
  std::optional<Clock::time_point> next_due(Clock::time_point now) const;
  Step step(const std::array<pollfd, 2>& ready, const Rules& rules, Clock::time_point now);

  /// FIN to both; destroyed when both have closed, or after two seconds.
  void cut(Clock::time_point now);
  void reset();
  bool gone() const { return state_ == State::kGone; }

 private:
  enum class State { kParked, kConnecting, kOpen, kCut, kGone };

  Step connected();
  void drain(Clock::time_point now);
  void apply(const Limit& limit, Direction direction, Clock::time_point now);

  Socket client_;
  Socket server_;
  State state_ = State::kParked;
  Pipe up_;
  Pipe down_;
  Clock::time_point cut_until_{};
};

}  // namespace proxy
