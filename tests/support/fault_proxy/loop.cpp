#include "loop.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <list>
#include <vector>

namespace proxy {
namespace {

using Controls = std::list<ControlConnection>;

/// Rounded up, so that it does not wake too early; -1 without a time.
int milliseconds_until(std::optional<Clock::time_point> due, Clock::time_point now) {
  if (!due) return -1;
  if (*due <= now) return 0;
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(*due - now).count();
  return static_cast<int>(std::min<std::int64_t>(wait, 60'000));
}

std::optional<Clock::time_point> next_due(Proxy& proxy, Clock::time_point now) {
  std::optional<Clock::time_point> earliest;
  for (auto& connection : proxy.connections()) {
    const auto due = connection.next_due(now);
    if (due && (!earliest || *due < *earliest)) earliest = due;
  }
  return earliest;
}

void serve_controls(Controls& controls, const std::vector<pollfd>& ready, std::size_t at,
                    Proxy& proxy, bool& quit) {
  for (auto control = controls.begin(); control != controls.end(); ++at) {
    const bool stays = ready[at].revents == 0 || control->read(proxy, quit);
    control = stays ? std::next(control) : controls.erase(control);
  }
}

}  // namespace

void run(Proxy& proxy, const Socket& control, const Socket& signals) {
  Controls controls;
  for (bool quit = false; !quit;) {
    auto now = Clock::now();
    std::vector<pollfd> entries{{signals.get(), POLLIN, 0},
                                {control.get(), POLLIN, 0},
                                {proxy.listener().get(), POLLIN, 0}};
    for (const auto& each : controls) entries.push_back({each.descriptor(), POLLIN, 0});
    const auto first = entries.size();
    for (const auto& connection : proxy.connections()) {
      for (const auto& entry : connection.interest(now)) entries.push_back(entry);
    }
    ::poll(entries.data(), entries.size(), milliseconds_until(next_due(proxy, now), now));
    if (entries[0].revents != 0) return;

    now = Clock::now();
    auto at = first;
    for (auto& connection : proxy.connections()) {
      proxy.step(connection, {entries[at], entries[at + 1]}, now);
      at += 2;
    }
    // Commands come after pending data, and before what arrives next.
    serve_controls(controls, entries, 3, proxy, quit);
    if (entries[2].revents != 0) proxy.accept_all();
    if (entries[1].revents != 0) {
      if (auto accepted = accept_from(control); accepted.is_open()) {
        controls.emplace_back(std::move(accepted));
      }
    }
    proxy.forget_gone();
  }
}

}  // namespace proxy
