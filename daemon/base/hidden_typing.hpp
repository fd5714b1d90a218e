#pragma once

#include <termios.h>
#include <unistd.h>

namespace bridge {

/// The terminal on stdin does not show what is typed, if `hidden`.
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
