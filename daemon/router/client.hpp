#pragma once

#include <optional>
#include <vector>

#include "base/byte_budget.hpp"
#include "router/client_channel.hpp"
#include "router/declared_answers.hpp"
#include "router/waiting_frames.hpp"

namespace bridge {

/// What the router knows of one connected client.
struct Client {
  Client(ClientChannel& channel_, ByteBudget& budget)
      : channel(channel_), waiting(budget), control_waiting(budget) {}

  ClientId id() const { return channel.identity().id; }
  bool is_observer() const { return seen_frame && !seen_ordinary_frame; }

  ClientChannel& channel;

  /// Frames in the order they came, at most --client-buffer bytes of them.
  WaitingFrames waiting;
  /// `bridge/*` requests that are answered once its queue has room: those that it had sent when
  /// reading from it stopped.
  WaitingFrames control_waiting;
  std::vector<UpstreamId> in_flight;                 ///< its requests, at most --client-inflight
  std::optional<UpstreamId> notification_under_way;  ///< the next frame waits for its end
  SteadyTime notification_since{};                   ///< when that was started
  bool waits_for_slot = false;                       ///< it is in the queue for --max-inflight

  DeclaredAnswers declared;  ///< which requests of the upstream it answers
  bool half_closed = false;
  bool peeks = false;  ///< it has sent `bridge/peek`
  bool seen_frame = false;
  bool seen_ordinary_frame = false;  ///< one that is not `bridge/*` or `server/discover`
};

}  // namespace bridge
