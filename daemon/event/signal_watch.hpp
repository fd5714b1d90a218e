#pragma once

#include <signal.h>

#include <functional>
#include <memory>
#include <vector>

#include "event/descriptor_watch.hpp"

namespace bridge {

/// Signals as events of the loop. They are caught from its making on, and told once begin() was
/// called; none is lost in between, and each is told as often as the kernel has delivered it.
///
/// One in a process at a time, since a handler knows nothing but the process. Destruction brings
/// back what was done about the signals before.
class SignalWatch {
 public:
  /// Throws std::system_error.
  SignalWatch(EventLoop& loop, const std::vector<int>& signals, std::function<void(int)> came);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  void begin();

 private:
  struct Earlier {
    int signal;
    struct sigaction action;
  };

  void readable();

  std::function<void(int)> came_;
  std::unique_ptr<DescriptorWatch> pipe_;
  std::vector<Earlier> earlier_;
};

}  // namespace bridge
