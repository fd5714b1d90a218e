#pragma once

#include <termios.h>
#include <unistd.h>

namespace bridge {

/// Turns off the echo of the terminal on stdin while it lives, if `hidden`.
class HiddenTyping {
 public:
  explicit HiddenTyping(bool hidden) : hidden_(hidden && tcgetattr(STDIN_FILENO, &before_) == 0) {
    if (!hidden_) return;
    termios silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
  }
  ~HiddenTyping() {
    if (hidden_) tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
  }
  HiddenTyping(const HiddenTyping&) = delete;
  HiddenTyping& operator=(const HiddenTyping&) = delete;

 private:
  termios before_{};
  bool hidden_;
};

}  // namespace bridge
