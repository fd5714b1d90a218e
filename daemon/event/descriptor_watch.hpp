#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "event/event_loop.hpp"

namespace bridge {

/// Owns a file descriptor and says when it is ready. It never reads or writes: the owner does, with
/// the system calls that fit.
///
/// Level-triggered and one-shot: each want() leads to one call of the callback, as soon as the
/// descriptor is ready; asking again while one is under way changes nothing. Destruction closes the
/// descriptor (unless it was released) and no callback comes after it. A callback may destroy the
/// watch it came from.
///
/// Once wanted, an event stays registered with the kernel, so that wanting it again costs nothing;
/// what comes and is not wanted is taken out of the registration, and wakes the loop up once. The
/// loop's thread only.
class DescriptorWatch {
 public:
  enum class Event : std::uint8_t {
    readable,
    writable,
    hung_up,  ///< both directions are over (a full close of the peer), or an error is pending
  };

  DescriptorWatch(EventLoop& loop, int descriptor, std::function<void(Event)> ready);
  ~DescriptorWatch();
  DescriptorWatch(const DescriptorWatch&) = delete;
  DescriptorWatch& operator=(const DescriptorWatch&) = delete;

  void want(Event event);
  /// Ends all waits; their callbacks do not come.
  void cancel();

  int descriptor() const { return descriptor_; }

  /// Gives the descriptor back, open. The watch is of no further use.
  int release();

 private:
  struct State;
  int descriptor_;
  std::shared_ptr<State> state_;
};

}  // namespace bridge
