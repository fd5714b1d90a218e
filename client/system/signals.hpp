#pragma once

#include <signal.h>

#include <initializer_list>

#include "system/files.hpp"

namespace client {

/// While it lives, some signals make a descriptor readable instead of ending or stopping the
/// process. One that the caller had ignored (nohup, a shell's background job) stays ignored.
class SignalDescriptor {
 public:
  explicit SignalDescriptor(std::initializer_list<int> signals);
  ~SignalDescriptor();
  SignalDescriptor(const SignalDescriptor&) = delete;
  SignalDescriptor& operator=(const SignalDescriptor&) = delete;

  /// To poll for POLLIN; -1 if there is none.
  int descriptor() const { return descriptor_.get(); }
  /// The next signal that came, 0 if none did.
  int next();

 private:
  FileDescriptor descriptor_;
  sigset_t before_{};
};

/// Of SIGINT and SIGTERM.
class Interrupt : public SignalDescriptor {
 public:
  Interrupt() : SignalDescriptor({SIGINT, SIGTERM}) {}
  ~Interrupt() { take(); }  // what came last must not kill us now that the end is near
  /// The number of the last signal that came, 0 if none did.
  int take();
  /// Waits until that can be read. False: a signal has come first.
  bool await(int descriptor) const;

 private:
  int seen_ = 0;
};

/// Of the signals of a terminal's life: who has taken the whole screen must give it back first.
class TerminalSignals : public SignalDescriptor {
 public:
  TerminalSignals() : SignalDescriptor({SIGWINCH, SIGTSTP, SIGHUP, SIGQUIT}) {}
  /// Lets the signal do what it does without us: stops until SIGCONT, or ends the process.
  static void follow(int number);
};

}  // namespace client
