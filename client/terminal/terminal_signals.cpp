#include "terminal/terminal_signals.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

namespace client {

TerminalSignals::TerminalSignals() {
  sigset_t ours;
  sigemptyset(&ours);
  for (const int number : {SIGWINCH, SIGTSTP, SIGHUP, SIGQUIT}) {
    struct sigaction action {};
    ::sigaction(number, nullptr, &action);
    if (action.sa_handler != SIG_IGN) sigaddset(&ours, number);
  }
  ::sigprocmask(SIG_BLOCK, &ours, &before_);
  descriptor_ = FileDescriptor(::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK));
}

TerminalSignals::~TerminalSignals() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

int TerminalSignals::take() {
  signalfd_siginfo information{};
  if (::read(descriptor_.get(), &information, sizeof information) != sizeof information) return 0;
  return static_cast<int>(information.ssi_signo);
}

void TerminalSignals::follow(int number) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  ::raise(number);
  ::sigprocmask(SIG_UNBLOCK, &one, nullptr);  // it is delivered here
  ::sigprocmask(SIG_BLOCK, &one, nullptr);
}

}  // namespace client
