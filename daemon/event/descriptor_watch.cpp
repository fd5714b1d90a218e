#include "event/descriptor_watch.hpp"

#include "event/kernel.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <asio/posix/basic_stream_descriptor.hpp>

#include <cerrno>
#include <system_error>
#include <utility>

namespace bridge {

// After the settings for Asio.

namespace {

using Events = std::uint32_t;
using Event = DescriptorWatch::Event;

constexpr Events bit(Event event) { return 1u << static_cast<Events>(event); }

constexpr asio::posix::descriptor_base::wait_type wait_type_of(Event event) {
  switch (event) {
    case Event::readable: return asio::posix::descriptor_base::wait_read;
    case Event::writable: return asio::posix::descriptor_base::wait_write;
    case Event::hung_up: break;
  }
  return asio::posix::descriptor_base::wait_error;
}

bool has_hung_up(int descriptor) {
  pollfd polled{descriptor, 0, 0};
  return poll(&polled, 1, 0) == 1 && (polled.revents & (POLLHUP | POLLERR)) != 0;
}

/// Out-of-band data would be reported again at each wait for a hang-up.
void discard_out_of_band(int descriptor) {
  char byte = 0;
  recv(descriptor, &byte, 1, MSG_OOB | MSG_DONTWAIT);
}

}  // namespace

// Shared by the watch and each pending wait, which may outlive the watch.
struct DescriptorWatch::State : std::enable_shared_from_this<State> {
  State(EventLoop& given, int watched, std::function<void(Event)> action)
      : loop(given), stream(given.kernel()), descriptor(watched), ready(std::move(action)) {}

  void want(Event event);
  void want_nothing();
  void start_wait(Event event);
  void register_descriptor();
  void wait_completed(Event event, const std::error_code& error);
  void end();

  EventLoop& loop;
  asio::posix::basic_stream_descriptor<EventLoop::Kernel::Executor> stream;
  const int descriptor;
  std::function<void(Event)> ready;
  Events wanted = 0;
  Events pending = 0;  ///< pending waits of Asio
  bool reports_writable = false;
  bool ended = descriptor < 0;
};

void DescriptorWatch::State::want(Event event) {
  if (ended || (wanted & bit(event)) != 0) return;
  if ((pending & bit(event)) == 0) start_wait(event);
  if (wanted == 0) ++loop.kernel().waiting;
  wanted |= bit(event);
}

// Asio's waits stay pending, and are ignored when they complete.
void DescriptorWatch::State::want_nothing() {
  if (std::exchange(wanted, 0) != 0) --loop.kernel().waiting;
}

void DescriptorWatch::State::start_wait(Event event) {
  // Once Asio has waited for a descriptor to be writable, every wait reports that. Registering it
  // again ends this; the other waits are aborted by that and start again.
  if (reports_writable && event != Event::writable && (pending & bit(Event::writable)) == 0) {
    stream.release();
    reports_writable = false;
  }
  if (!stream.is_open()) register_descriptor();
  reports_writable = reports_writable || event == Event::writable;
  pending |= bit(event);
  stream.async_wait(wait_type_of(event),
                    [self = shared_from_this(), event](const std::error_code& error) {
                      self->wait_completed(event, error);
                    });
}

void DescriptorWatch::State::register_descriptor() {
  auto& watchers = loop.kernel().watchers;
  const auto at = static_cast<std::size_t>(descriptor);
  if (watchers.size() <= at) watchers.resize(at + 1);
  // Closed without its watch, whose release must not remove this registration.
  if (watchers[at] != nullptr && watchers[at] != this) watchers[at]->end();
  stream.assign(descriptor);
  watchers[at] = this;
}

void DescriptorWatch::State::wait_completed(Event event, const std::error_code& error) {
  pending &= ~bit(event);
  if ((wanted & bit(event)) == 0) return;
  if (error == asio::error::operation_aborted) {
    start_wait(event);
    return;
  }
  if (!error && event == Event::hung_up && !has_hung_up(descriptor)) {
    discard_out_of_band(descriptor);
    start_wait(event);
    return;
  }
  wanted &= ~bit(event);
  if (wanted == 0) --loop.kernel().waiting;
  if (error) return;  // the kernel does not watch such a descriptor (a regular file)
  const EventLoop::Turn turn(loop);
  ready(event);
}

void DescriptorWatch::State::end() {
  want_nothing();
  if (std::exchange(ended, true) || !stream.is_open()) return;
  stream.release();
  loop.kernel().watchers[static_cast<std::size_t>(descriptor)] = nullptr;
}

DescriptorWatch::DescriptorWatch(EventLoop& loop, int descriptor, std::function<void(Event)> ready)
    : descriptor_(descriptor),
      state_(std::make_shared<State>(loop, descriptor, std::move(ready))) {}

DescriptorWatch::~DescriptorWatch() {
  if (descriptor_ >= 0) close(release());
}

void DescriptorWatch::want(Event event) { state_->want(event); }

void DescriptorWatch::cancel() { state_->want_nothing(); }

int DescriptorWatch::release() {
  state_->end();
  return std::exchange(descriptor_, -1);
}

SignalWatch::SignalWatch(EventLoop& loop, const std::vector<int>& signals,
                         std::function<void(int)> came)
    : came_(std::move(came)) {
  sigemptyset(&watched_);
  for (const int signal : signals) sigaddset(&watched_, signal);
  const int descriptor = signalfd(-1, &watched_, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor < 0) throw std::system_error(errno, std::system_category(), "signalfd");
  descriptor_ = std::make_unique<DescriptorWatch>(loop, descriptor,
                                                  [this](DescriptorWatch::Event) { readable(); });
  // A blocked signal stays pending even if it was ignored.
  pthread_sigmask(SIG_BLOCK, &watched_, &before_);
}

SignalWatch::~SignalWatch() {
  // Else pending signals would have their former effect: a second SIGTERM would kill the shutdown.
  while (next() != 0) {
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void SignalWatch::begin() { descriptor_->want(DescriptorWatch::Event::readable); }

void SignalWatch::let_others_come() {
  sigemptyset(&before_);
  pthread_sigmask(SIG_SETMASK, &watched_, nullptr);
}

/// Returns the next pending signal; 0: none.
int SignalWatch::next() {
  signalfd_siginfo signal{};
  const bool came = read(descriptor_->descriptor(), &signal, sizeof signal) == sizeof signal;
  return came ? static_cast<int>(signal.ssi_signo) : 0;
}

// One at a time: the callback may have stopped the loop.
void SignalWatch::readable() {
  begin();
  if (const int signal = next(); signal != 0) came_(signal);
}

}  // namespace bridge
