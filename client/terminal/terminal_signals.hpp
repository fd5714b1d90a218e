#pragma once

#include <signal.h>

#include "system/file_descriptor.hpp"

namespace client {

/// While it lives, the signals of a terminal's life make a descriptor readable instead of ending or
/// stopping the process: who has taken the whole screen must give it back first. One that the
/// caller had ignored stays ignored. SIGINT and SIGTERM are Interrupt's.
class TerminalSignals {
 public:
  TerminalSignals();
  ~TerminalSignals();
  TerminalSignals(const TerminalSignals&) = delete;
  TerminalSignals& operator=(const TerminalSignals&) = delete;

  /// To poll for POLLIN; -1 if there is none.
  int descriptor() const { return descriptor_.get(); }

  /// The next signal that came: SIGWINCH, SIGTSTP, SIGHUP or SIGQUIT; 0 if none did.
  int take();

  /// Lets the signal do what it does without us: stops until SIGCONT, or ends the process.
  void follow(int number);

 private:
  FileDescriptor descriptor_;
  sigset_t before_{};
};

}  // namespace client
