#pragma once

#include <signal.h>

#include <vector>

#include "system/file_descriptor.hpp"
#include "terminal/console.hpp"
#include "terminal/styled.hpp"

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

/// Lines that are shown again and again. On a terminal they take the whole screen, each text drawn
/// over the last one in a single write, and what was there before comes back at the end; elsewhere
/// each text follows the last one after an empty line.
class FullScreen {
 public:
  explicit FullScreen(Console& console);
  ~FullScreen() { leave(); }
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;

  /// What does not fit into the look's height is left out.
  void show(const std::vector<StyledLine>& lines, const Look& look);

  /// Takes the screen; nothing if that was done, or if there is none.
  void enter();
  /// Gives the terminal back, for messages or a pause; nothing if that was done.
  void leave();

 private:
  Console& console_;
  bool entered_ = false;
  bool has_shown_ = false;
};

}  // namespace client
