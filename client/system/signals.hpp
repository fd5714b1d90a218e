#pragma once

#include <signal.h>

#include <initializer_list>

#include "system/files.hpp"

namespace client {

/// While it lives, some signals make a descriptor readable instead of ending or stopping the
/// process. A signal that was already ignored (nohup, a shell's background job) stays ignored.
class SignalDescriptor {
 public:
  explicit SignalDescriptor(std::initializer_list<int> signals);
  ~SignalDescriptor();
  SignalDescriptor(const SignalDescriptor&) = delete;
  SignalDescriptor& operator=(const SignalDescriptor&) = delete;

  /// To poll for POLLIN; -1 if there is none.
  int descriptor() const { return descriptor_.get(); }
  /// The next pending signal, 0 if none.
  int next();

 private:
  FileDescriptor descriptor_;
  sigset_t before_{};
};

/// For SIGINT and SIGTERM.
class Interrupt : public SignalDescriptor {
 public:
  Interrupt() : SignalDescriptor({SIGINT, SIGTERM}) {}
  ~Interrupt() { take(); }  // a late signal must not kill the process as it ends
  /// The number of the last signal received, 0 if none.
  int take();
  /// Waits until the descriptor is readable. False: interrupted by a signal.
  bool await(int descriptor) const;

 private:
  int seen_ = 0;
};

/// One descriptor that is readable when one of several is. They are not owned.
class AnyReadable {
 public:
  explicit AnyReadable(std::initializer_list<int> descriptors);
  int descriptor() const { return epoll_.get(); }

 private:
  FileDescriptor epoll_;
};

/// The signals of a terminal's life: a full-screen program must restore the screen before each.
class TerminalSignals : public SignalDescriptor {
 public:
  TerminalSignals() : SignalDescriptor({SIGWINCH, SIGTSTP, SIGHUP, SIGQUIT}) {}
  /// Lets the signal have its default effect: stops until SIGCONT, or ends the process.
  static void follow(int number);
};

}  // namespace client
