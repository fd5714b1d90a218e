#include "system/signals.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>

namespace client {

SignalDescriptor::SignalDescriptor(std::initializer_list<int> signals) {
  sigset_t ours;
  sigemptyset(&ours);
  for (const int number : signals) {
    struct sigaction action {};
    ::sigaction(number, nullptr, &action);
    if (action.sa_handler != SIG_IGN) sigaddset(&ours, number);
  }
  ::sigprocmask(SIG_BLOCK, &ours, &before_);
  descriptor_ = FileDescriptor(::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK));
}

SignalDescriptor::~SignalDescriptor() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

int SignalDescriptor::next() {
  signalfd_siginfo information{};
  if (::read(descriptor_.get(), &information, sizeof information) != sizeof information) return 0;
  return static_cast<int>(information.ssi_signo);
}

int Interrupt::take() {
  while (const int number = next()) seen_ = number;
  return seen_;
}

bool Interrupt::await(int other) const {
  pollfd events[] = {{other, POLLIN, 0}, {descriptor(), POLLIN, 0}};
  while (::poll(events, 2, -1) < 0 && errno == EINTR) {
  }
  return events[1].revents == 0;
}

AnyReadable::AnyReadable(std::initializer_list<int> descriptors)
    : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  for (const int descriptor : descriptors) {
    epoll_event readable{};
    readable.events = EPOLLIN;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &readable);
  }
}

void TerminalSignals::follow(int number) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  ::raise(number);
  ::sigprocmask(SIG_UNBLOCK, &one, nullptr);  // delivers it here
  ::sigprocmask(SIG_BLOCK, &one, nullptr);
}

}  // namespace client
