#pragma once

#include <signal.h>

#include <functional>
#include <memory>
#include <vector>

#include "event/descriptor_watch.hpp"

namespace bridge {

/// Signals as events of the loop (signalfd). From its making on they wait, whatever was done about
/// them before, and they are told once begin() was called; none is lost in between, nor when
/// another image of the program takes the place of this one. Of one kind the kernel keeps one until
/// it is told.
///
/// They are blocked for the thread that makes it, and for all that it begins afterwards: what is
/// executed has to be given an empty mask. Destruction drops those that were not told, and unblocks
/// what was not blocked before.
class SignalWatch {
 public:
  /// Throws std::system_error. REQUIRES: no other thread runs that has not blocked them.
  SignalWatch(EventLoop& loop, const std::vector<int>& signals, std::function<void(int)> came);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  void begin();
  /// All other signals come as usual, also those that were blocked when this image of the program
  /// began.
  void let_others_come();

 private:
  int next();
  void readable();

  std::function<void(int)> came_;
  sigset_t watched_{};
  sigset_t before_{};  ///< what was blocked
  std::unique_ptr<DescriptorWatch> descriptor_;
};

}  // namespace bridge
