#pragma once

#include <signal.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "event/event_loop.hpp"

namespace bridge {

/// Owns a file descriptor and reports when it is ready. It never reads or writes: the owner does,
/// with the appropriate system calls.
///
/// Level-triggered and one-shot: each want() leads to one call of the callback, as soon as the
/// descriptor is ready; another want() for a pending event changes nothing. Destruction closes the
/// descriptor (unless it was released); no callback comes after it. A callback may destroy the
/// watch that called it.
///
/// A descriptor with the number of one that was closed in the same round may be reported ready
/// although it is not: the owner tolerates EAGAIN. `hung_up` is never reported falsely. Data that
/// arrives unwanted wakes the loop once per arrival, until the peer's buffer is full. The
/// descriptor becomes non-blocking. The loop's thread only.
class DescriptorWatch {
 public:
  enum class Event : std::uint8_t {
    readable,
    writable,
    hung_up,  ///< both directions are closed (a full close of the peer), or an error is pending
  };

  DescriptorWatch(EventLoop& loop, int descriptor, std::function<void(Event)> ready);
  ~DescriptorWatch();
  DescriptorWatch(const DescriptorWatch&) = delete;
  DescriptorWatch& operator=(const DescriptorWatch&) = delete;

  void want(Event event);
  /// Cancels all waits, without calling the callback.
  void cancel();

  int descriptor() const { return descriptor_; }

  /// Returns the descriptor, still open. The watch is unusable afterwards.
  int release();

  struct State;  ///< private to event/

 private:
  int descriptor_;
  std::shared_ptr<State> state_;
};

/// Signals as events of the loop (signalfd). They are held back from construction on, whatever
/// their disposition was, and delivered once begin() was called; none is lost in between, nor when
/// the new process takes over. The kernel holds one pending signal of each kind.
///
/// They are blocked for the thread that constructs it, and for all that it starts later: a child
/// needs an empty mask before it executes. Destruction drops undelivered ones, and unblocks what
/// was not blocked before.
class SignalWatch {
 public:
  /// Throws std::system_error. REQUIRES: every other running thread has blocked them.
  SignalWatch(EventLoop& loop, const std::vector<int>& signals, std::function<void(int)> came);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  void begin();
  /// All other signals are delivered as usual, also those that were blocked when this process
  /// began.
  void let_others_come();

 private:
  int next();
  void readable();

  std::function<void(int)> came_;
  sigset_t watched_{};
  sigset_t before_{};  ///< the mask before construction
  std::unique_ptr<DescriptorWatch> descriptor_;
};

}  // namespace bridge
