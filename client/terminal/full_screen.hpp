#pragma once

#include <signal.h>

#include "system/signals.hpp"
#include "terminal/console.hpp"
#include "terminal/styled.hpp"

namespace client {

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
