#include "event/descriptor_watch.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <utility>

#include "event/poller.hpp"

namespace bridge {
namespace {

using Events = std::uint32_t;

constexpr Events bit(DescriptorWatch::Event event) { return 1u << static_cast<Events>(event); }
constexpr Events all_events = bit(DescriptorWatch::Event::readable) |
                              bit(DescriptorWatch::Event::writable) |
                              bit(DescriptorWatch::Event::hung_up);

/// epoll tells of EPOLLHUP and EPOLLERR whether it is asked or not.
Events of_epoll(Events wanted) {
  return ((wanted & bit(DescriptorWatch::Event::readable)) != 0 ? Events{EPOLLIN} : 0) |
         ((wanted & bit(DescriptorWatch::Event::writable)) != 0 ? Events{EPOLLOUT} : 0);
}

Events from_epoll(Events events) {
  if ((events & (EPOLLHUP | EPOLLERR)) != 0) return all_events;
  return ((events & EPOLLIN) != 0 ? bit(DescriptorWatch::Event::readable) : 0) |
         ((events & EPOLLOUT) != 0 ? bit(DescriptorWatch::Event::writable) : 0);
}

}  // namespace

// Shared with what tells it, which outlives the watch if the watch is destroyed by what is told.
struct DescriptorWatch::State final : Polled, std::enable_shared_from_this<State> {
  State(EventLoop& given, int watched, std::function<void(Event)> action)
      : loop(given), descriptor(watched), ready(std::move(action)) {}

  void polled(Events events) override;
  void want(Events added);
  void want_nothing();
  void end();

  EventLoop& loop;
  const int descriptor;
  std::function<void(Event)> ready;
  std::optional<Poller::Number> number;  ///< while it is registered
  Events registered = 0;                 ///< of epoll
  Events wanted = 0;
  Events due = 0;  ///< of what the kernel has said: is being told
};

void DescriptorWatch::State::want(Events added) {
  const Events needed = (number ? registered : 0) | of_epoll(wanted | added);
  if (!number) {
    number = loop.poller().add(descriptor, needed, *this);
  } else if (needed != registered) {
    loop.poller().change(descriptor, *number, needed);
  }
  registered = needed;
  if (wanted == 0) loop.poller().begin_waiting();
  wanted |= added;
}

void DescriptorWatch::State::want_nothing() {
  if (std::exchange(wanted, 0) != 0) loop.poller().end_waiting();
  due = 0;
}

void DescriptorWatch::State::end() {
  want_nothing();
  if (number) loop.poller().remove(descriptor, *std::exchange(number, std::nullopt));
}

void DescriptorWatch::State::polled(Events events) {
  const Events said = from_epoll(events);
  due = said & wanted;
  if (due == 0 && (events & (EPOLLHUP | EPOLLERR)) != 0) {
    // The kernel would say so again and again.
    loop.poller().remove(descriptor, *std::exchange(number, std::nullopt));
    return;
  }
  if (const Events unasked = registered & of_epoll(said & ~due); unasked != 0) {
    registered &= ~unasked;
    loop.poller().change(descriptor, *number, registered);
  }
  if (due == 0) return;
  wanted &= ~due;
  if (wanted == 0) loop.poller().end_waiting();
  const auto kept = shared_from_this();
  for (const Event event : {Event::hung_up, Event::writable, Event::readable}) {
    if ((due & bit(event)) == 0) continue;
    due &= ~bit(event);
    const EventLoop::Turn turn(loop);
    ready(event);
  }
}

DescriptorWatch::DescriptorWatch(EventLoop& loop, int descriptor, std::function<void(Event)> ready)
    : descriptor_(descriptor),
      state_(std::make_shared<State>(loop, descriptor, std::move(ready))) {}

DescriptorWatch::~DescriptorWatch() {
  if (descriptor_ < 0) return;
  state_->end();
  close(descriptor_);
}

void DescriptorWatch::want(Event event) {
  if (descriptor_ >= 0 && (state_->wanted & bit(event)) == 0) state_->want(bit(event));
}

void DescriptorWatch::cancel() { state_->want_nothing(); }

int DescriptorWatch::release() {
  if (descriptor_ >= 0) state_->end();
  return std::exchange(descriptor_, -1);
}

}  // namespace bridge
