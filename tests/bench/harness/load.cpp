#include "harness/load.hpp"

#include <sys/epoll.h>

#include <array>

namespace bench {
namespace {

/// Reads available bytes; true if they completed a response.
bool progressed(Caller& caller) {
  if (!caller.read_some()) return false;
  check_result(caller.reader().body());
  return true;
}

}  // namespace

double calls_per_second(std::vector<Caller>& callers, const std::string& request,
                        std::chrono::milliseconds duration) {
  return calls_per_second(callers, std::vector<std::string>(callers.size(), request), duration);
}

double calls_per_second(std::vector<Caller>& callers, const std::vector<std::string>& requests,
                        std::chrono::milliseconds duration) {
  const auto request_of = [&](const Caller& caller) -> const std::string& {
    return requests[static_cast<std::size_t>(&caller - callers.data())];
  };
  const Descriptor poller(epoll_create1(EPOLL_CLOEXEC));
  for (Caller& caller : callers) {
    epoll_event event{EPOLLIN, {.ptr = &caller}};
    if (epoll_ctl(poller.get(), EPOLL_CTL_ADD, caller.descriptor(), &event) != 0) fail("epoll_ctl");
    caller.send(request_of(caller));
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto end = begin + duration;
  std::size_t answered = 0;
  std::size_t in_flight = callers.size();
  auto now = begin;
  while (in_flight > 0) {
    std::array<epoll_event, 64> events;
    const int ready = epoll_wait(poller.get(), events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < ready; ++i) {
      Caller& caller = *static_cast<Caller*>(events[static_cast<std::size_t>(i)].data.ptr);
      if (!progressed(caller)) continue;
      ++answered;
      if (now < end) {
        caller.send(request_of(caller));
      } else {
        --in_flight;
      }
    }
    now = std::chrono::steady_clock::now();
  }
  return static_cast<double>(answered) / std::chrono::duration<double>(now - begin).count();
}

}  // namespace bench
