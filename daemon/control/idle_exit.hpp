#pragma once

#include <functional>
#include <optional>

#include "event/event_loop.hpp"
#include "process/resources.hpp"

namespace bridge {

/// What there is to do, at this moment.
struct Activity {
  bool is_busy = false;      ///< a client is connected, or something is under way
  bool has_untaken = false;  ///< notifications and jobs that would be lost with the daemon
};

/// Ends the daemon once it has been idle for --idle-exit. Looks when something has happened; its
/// timer is set only while there is nothing to do.
///
/// Owned by the daemon; the loop's thread only.
class IdleExit {
 public:
  /// `end` is called once, from the loop.
  IdleExit(EventLoop& loop, IdleOptions options, std::function<Activity()> activity,
           std::function<void()> end)
      : loop_(loop),
        options_(options),
        activity_(std::move(activity)),
        end_(std::move(end)),
        timer_(loop, [this] { expired(); }) {}

  /// After each turn.
  void look();

 private:
  SteadyTime due(const Activity& now) const;
  void expired();

  EventLoop& loop_;
  const IdleOptions options_;
  std::function<Activity()> activity_;
  std::function<void()> end_;
  std::optional<SteadyTime> idle_since_;
  DeadlineTimer timer_;
};

}  // namespace bridge
