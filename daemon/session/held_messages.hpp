#pragma once

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// A message that waits to be sent again: nobody has acted on it, or it only reads.
struct HeldMessage {
  Outgoing message;
  Failure failure;        ///< what to answer if its time runs out
  SteadyTime not_before;  ///< the upstream asked not to be called before
  SteadyTime deadline;
};

/// Messages waiting to be sent again, in the order they were given back. Pure. Bounded by the
/// requests in flight, which is where they come from.
class HeldMessages {
 public:
  void hold(HeldMessage held) { held_.push_back(std::move(held)); }

  /// Those that may be sent now.
  std::vector<HeldMessage> take_ready(SteadyTime now) {
    return take_if([now](const HeldMessage& held) { return held.not_before <= now; });
  }
  /// Those whose time is over.
  std::vector<HeldMessage> take_expired(SteadyTime now) {
    return take_if([now](const HeldMessage& held) { return held.deadline <= now; });
  }
  /// Those that wait for a login may be sent now, and have their whole time for what else comes.
  void end_waits_for_login(SteadyTime now) {
    for (HeldMessage& held : held_) {
      if (!held.message.notes.login_until) continue;
      held.message.notes.login_until.reset();
      held.message.notes.hold_until.reset();
      held.not_before = now;
    }
  }
  std::vector<HeldMessage> take_all() { return std::exchange(held_, {}); }

  bool remove(UpstreamId id) {
    return std::erase_if(held_, [id](const HeldMessage& held) { return held.message.id == id; }) >
           0;
  }

  /// When the next message expires, or may be sent if `sendable`.
  std::optional<SteadyTime> next_time(bool sendable) const {
    std::optional<SteadyTime> next;
    for (const HeldMessage& held : held_) {
      const SteadyTime time = sendable ? std::min(held.not_before, held.deadline) : held.deadline;
      if (!next || time < *next) next = time;
    }
    return next;
  }

  bool empty() const { return held_.empty(); }
  std::size_t size() const { return held_.size(); }

 private:
  template <class Predicate>
  std::vector<HeldMessage> take_if(Predicate&& predicate) {
    std::vector<HeldMessage> taken;
    std::erase_if(held_, [&](HeldMessage& held) {
      if (!predicate(std::as_const(held))) return false;
      taken.push_back(std::move(held));
      return true;
    });
    return taken;
  }

  std::vector<HeldMessage> held_;
};

}  // namespace bridge
