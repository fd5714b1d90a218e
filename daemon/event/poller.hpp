#pragma once

#include <sys/epoll.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/descriptor.hpp"

namespace bridge {

/// Who is told what the kernel says of a descriptor.
class Polled {
 public:
  /// `events` of epoll. May take itself or anybody else out of the Poller.
  virtual void polled(std::uint32_t events) = 0;

 protected:
  ~Polled() = default;
};

/// epoll: which descriptors are looked at, what for, and who is told. Level-triggered, so a
/// registration that stays costs no system call for each event.
///
/// Owned by the EventLoop, its thread only. Knows a registration by a number of its own: what the
/// kernel has said of a descriptor that was closed and opened anew since is nobody's.
class Poller {
 public:
  using Number = std::uint32_t;

  /// Throws std::system_error.
  Poller();

  /// Says by which number it is registered; none if the kernel does not look at such (a regular
  /// file). Throws std::system_error. REQUIRES: `who` lives until remove().
  std::optional<Number> add(int descriptor, std::uint32_t events, Polled& who);
  void change(int descriptor, Number number, std::uint32_t events);
  /// Nothing if somebody else has registered the descriptor since.
  void remove(int descriptor, Number number);

  /// Waits for something to tell. Nothing given: for ever. Returns whether there is something.
  bool wait(std::optional<std::chrono::nanoseconds> time);
  /// Tells the next that is to be told; false if there is none.
  bool tell_next();

  /// Whoever waits for an event of a descriptor says so, and says when it does no more.
  void begin_waiting() { ++waiting_; }
  void end_waiting() { --waiting_; }
  /// Whether anybody waits for one.
  bool is_awaited() const { return waiting_ > 0; }

 private:
  struct Registration {
    Polled* who = nullptr;
    Number number = 0;
  };

  Descriptor epoll_;
  std::vector<Registration> registrations_;  ///< by descriptor
  Number last_number_ = 0;
  std::size_t waiting_ = 0;
  std::array<epoll_event, 64> events_{};
  std::size_t next_ = 0;
  std::size_t end_ = 0;
};

}  // namespace bridge
