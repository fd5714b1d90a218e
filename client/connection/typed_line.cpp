#include "connection/typed_line.hpp"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "system/signals.hpp"

namespace client {
namespace {

constexpr std::size_t longest_line = 64 << 10;

class HiddenTyping {
 public:
  explicit HiddenTyping(bool hidden) : hidden_(hidden && ::tcgetattr(STDIN_FILENO, &before_) == 0) {
    if (!hidden_) return;
    termios silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
  }
  ~HiddenTyping() {
    if (hidden_) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
  }
  HiddenTyping(const HiddenTyping&) = delete;
  HiddenTyping& operator=(const HiddenTyping&) = delete;

 private:
  termios before_{};
  bool hidden_;
};

}  // namespace

std::optional<std::string> read_typed_line(bool hidden, const std::function<void()>& prompt) {
  Interrupt interrupt;  // it takes effect with the terminal as it was before
  const HiddenTyping typing(hidden);
  prompt();
  std::string line;
  while (line.size() < longest_line) {
    std::array<pollfd, 2> events = {
        {{STDIN_FILENO, POLLIN, 0}, {interrupt.descriptor(), POLLIN, 0}}};
    if (::poll(events.data(), events.size(), -1) < 0 && errno != EINTR) return std::nullopt;
    if (events[1].revents != 0) return std::nullopt;
    char c = '\0';
    const ssize_t count = ::read(STDIN_FILENO, &c, 1);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return std::nullopt;
    if (c == '\n') return line;
    line += c;
  }
  return line;
}

}  // namespace client
