#include "event/signal_watch.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace bridge {

SignalWatch::SignalWatch(EventLoop& loop, const std::vector<int>& signals,
                         std::function<void(int)> came)
    : came_(std::move(came)) {
  sigemptyset(&watched_);
  for (const int signal : signals) sigaddset(&watched_, signal);
  const int descriptor = signalfd(-1, &watched_, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor < 0) throw std::system_error(errno, std::system_category(), "signalfd");
  descriptor_ = std::make_unique<DescriptorWatch>(loop, descriptor,
                                                  [this](DescriptorWatch::Event) { readable(); });
  // What is blocked waits even if it was ignored.
  pthread_sigmask(SIG_BLOCK, &watched_, &before_);
}

SignalWatch::~SignalWatch() {
  // Else they would do now what they did before: a second SIGTERM would kill what is ending.
  while (next() != 0) {
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void SignalWatch::begin() { descriptor_->want(DescriptorWatch::Event::readable); }

void SignalWatch::let_others_come() {
  sigemptyset(&before_);
  pthread_sigmask(SIG_SETMASK, &watched_, nullptr);
}

/// 0: there is none.
int SignalWatch::next() {
  signalfd_siginfo signal{};
  const bool came = read(descriptor_->descriptor(), &signal, sizeof signal) == sizeof signal;
  return came ? static_cast<int>(signal.ssi_signo) : 0;
}

// One at a time: the loop may have been stopped by it.
void SignalWatch::readable() {
  begin();
  if (const int signal = next(); signal != 0) came_(signal);
}

}  // namespace bridge
