// Asks on the terminal for an input of a config file.
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

#include "base/hidden_typing.hpp"
#include "base/log.hpp"
#include "servers/variables.hpp"

namespace bridge {
namespace {

constexpr std::size_t longest_answer = 64u << 10;
constexpr std::array<int, 4> ending_signals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

volatile sig_atomic_t caught = 0;

/// While it lives a signal only interrupts waiting; it takes effect once the terminal is restored.
class CaughtSignals {
 public:
  CaughtSignals() {
    struct sigaction catching {};
    catching.sa_handler = [](int signal) { caught = signal; };
    sigset_t ending;
    sigemptyset(&ending);
    for (std::size_t i = 0; i < ending_signals.size(); ++i) {
      sigaction(ending_signals[i], &catching, &before_[i]);
      sigaddset(&ending, ending_signals[i]);
    }
    sigprocmask(SIG_BLOCK, &ending, &mask_before_);
  }
  ~CaughtSignals() {
    sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
    for (std::size_t i = 0; i < ending_signals.size(); ++i)
      sigaction(ending_signals[i], &before_[i], nullptr);
    if (caught != 0) raise(caught);
  }
  /// False if a signal has arrived at any time.
  bool wait_for_input() const {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    while (caught == 0) {
      if (ppoll(&input, 1, nullptr, &mask_before_) > 0) return true;
      if (errno != EINTR) return false;
    }
    return false;
  }
  CaughtSignals(const CaughtSignals&) = delete;
  CaughtSignals& operator=(const CaughtSignals&) = delete;

 private:
  std::array<struct sigaction, ending_signals.size()> before_{};
  sigset_t mask_before_{};
};

std::optional<std::string> read_line(const CaughtSignals& signals) {
  std::string line;
  for (char c = '\0'; line.size() < longest_answer;) {
    if (!signals.wait_for_input() || ::read(STDIN_FILENO, &c, 1) <= 0) return std::nullopt;
    if (c == '\n') return line;
    line += c;
  }
  return line;
}

std::string question_of(const InputDefinition& input) {
  std::string question = printable(input.description.empty() ? input.id : input.description, 500);
  if (!input.choices.empty()) {
    question += " (one of:";
    for (const std::string& choice : input.choices) question += " " + printable(choice, 80);
    question += ")";
  }
  if (input.otherwise && !input.password) question += " [" + printable(*input.otherwise, 80) + "]";
  return question + ": ";
}

}  // namespace

bool has_terminal() { return isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1; }

std::optional<std::string> ask_for_input(const InputDefinition& input) {
  for (;;) {
    std::optional<std::string> answer;
    {
      const CaughtSignals signals;
      const HiddenTyping hidden(input.password);  // before the question appears
      std::fputs(question_of(input).c_str(), stderr);
      answer = read_line(signals);
    }
    if (input.password) std::fputc('\n', stderr);
    if (!answer) return std::nullopt;
    if (answer->empty() && input.otherwise) return input.otherwise;
    const bool fits = input.choices.empty() ? !answer->empty()
                                            : std::find(input.choices.begin(), input.choices.end(),
                                                        *answer) != input.choices.end();
    if (fits) return answer;
  }
}

}  // namespace bridge
