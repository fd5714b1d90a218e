#pragma once

#include <string_view>

#include "terminal/console.hpp"

namespace client {

/// Text that is shown again and again. On a terminal it takes the whole screen and gives back what
/// was there before when it ends; elsewhere each text follows the last one after an empty line.
class FullScreen {
 public:
  explicit FullScreen(Console& console);
  ~FullScreen() { leave(); }
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;

  void show(std::string_view text, bool is_repeat);

  /// Gives the terminal back, for messages; nothing if that was done.
  void leave();

 private:
  Console& console_;
  bool entered_ = false;
};

}  // namespace client
