#include "event/poller.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>
#include <utility>

namespace bridge {
namespace {

epoll_event event_of(int descriptor, Poller::Number number, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = (std::uint64_t{number} << 32) | static_cast<std::uint32_t>(descriptor);
  return event;
}

/// In milliseconds, and never too early: a timer is not due before its time.
int timeout_of(std::optional<std::chrono::nanoseconds> time) {
  if (!time) return -1;
  const auto count = std::chrono::ceil<std::chrono::milliseconds>(*time).count();
  return static_cast<int>(
      std::clamp<decltype(count)>(count, 0, std::numeric_limits<int>::max() / 2));
}

}  // namespace

Poller::Poller() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  if (epoll_.get() < 0) throw std::system_error(errno, std::system_category(), "epoll_create1");
}

std::optional<Poller::Number> Poller::add(int descriptor, std::uint32_t events, Polled& who) {
  const Number number = ++last_number_;
  epoll_event event = event_of(descriptor, number, events);
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0) {
    if (errno == EPERM) return std::nullopt;
    throw std::system_error(errno, std::system_category(), "epoll_ctl");
  }
  const auto at = static_cast<std::size_t>(descriptor);
  if (registrations_.size() <= at) registrations_.resize(at + 1);
  registrations_[at] = {&who, number};
  return number;
}

void Poller::change(int descriptor, Number number, std::uint32_t events) {
  epoll_event event = event_of(descriptor, number, events);
  epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, descriptor, &event);
}

void Poller::remove(int descriptor, Number number) {
  Registration& registered = registrations_[static_cast<std::size_t>(descriptor)];
  if (registered.number != number) return;
  registered = {};
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, nullptr);
}

bool Poller::wait(std::optional<std::chrono::nanoseconds> time) {
  const int count =
      epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()), timeout_of(time));
  next_ = 0;
  end_ = count > 0 ? static_cast<std::size_t>(count) : 0;  // a signal may have interrupted it
  return end_ > 0;
}

bool Poller::tell_next() {
  if (next_ == end_) return false;
  const epoll_event event = events_[next_++];
  const auto at = static_cast<std::size_t>(event.data.u64 & 0xffffffffu);
  const Registration registered = registrations_[at];
  if (registered.who != nullptr && registered.number == event.data.u64 >> 32)
    registered.who->polled(event.events);
  return true;
}

}  // namespace bridge
