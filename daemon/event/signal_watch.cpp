#include "event/signal_watch.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

namespace bridge {
namespace {

/// The pipe's other end: all that a handler can reach.
std::atomic<int> told_to = -1;
static_assert(std::atomic<int>::is_always_lock_free);

void handle(int signal) {
  const int error = errno;
  const auto byte = static_cast<unsigned char>(signal);
  // A full pipe holds thousands of signals that nobody has looked at.
  static_cast<void>(!write(told_to, &byte, 1));
  errno = error;
}

}  // namespace

SignalWatch::SignalWatch(EventLoop& loop, const std::vector<int>& signals,
                         std::function<void(int)> came)
    : came_(std::move(came)) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0)
    throw std::system_error(errno, std::system_category(), "the pipe of the signals");
  pipe_ = std::make_unique<DescriptorWatch>(loop, ends[0],
                                            [this](DescriptorWatch::Event) { readable(); });
  told_to = ends[1];
  for (const int signal : signals) {
    struct sigaction action {};
    action.sa_handler = handle;
    sigfillset(&action.sa_mask);
    Earlier earlier{signal, {}};
    sigaction(signal, &action, &earlier.action);
    earlier_.push_back(earlier);
  }
}

SignalWatch::~SignalWatch() {
  for (const Earlier& earlier : earlier_) sigaction(earlier.signal, &earlier.action, nullptr);
  close(told_to.exchange(-1));
}

void SignalWatch::begin() { pipe_->want(DescriptorWatch::Event::readable); }

// One at a time: the loop may have been stopped by it.
void SignalWatch::readable() {
  begin();
  unsigned char signal = 0;
  if (read(pipe_->descriptor(), &signal, 1) == 1) came_(signal);
}

}  // namespace bridge
