#include "connection/interrupt.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

namespace client {

Interrupt::Interrupt() {
  sigset_t ours;
  sigemptyset(&ours);
  for (const int number : {SIGINT, SIGTERM}) {
    struct sigaction action {};
    ::sigaction(number, nullptr, &action);
    if (action.sa_handler != SIG_IGN) sigaddset(&ours, number);
  }
  ::sigprocmask(SIG_BLOCK, &ours, &before_);
  descriptor_ = FileDescriptor(::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK));
}

Interrupt::~Interrupt() {
  take();  // what came last must not kill us now that the end is near
  ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

int Interrupt::take() {
  signalfd_siginfo information{};
  while (::read(descriptor_.get(), &information, sizeof information) == sizeof information) {
    seen_ = static_cast<int>(information.ssi_signo);
  }
  return seen_;
}

}  // namespace client
