#pragma once

#include <cstdint>
#include <functional>
#include <set>

#include "base/byte_budget.hpp"
#include "base/ids.hpp"
#include "base/log.hpp"
#include "downstream/http/face_options.hpp"
#include "event/deadline_timer.hpp"
#include "event/event_loop.hpp"
#include "notifications/notification_feed.hpp"
#include "router/client_channel.hpp"

namespace bridge {

class DownstreamSession;
class EventStream;
class FanOut;
class ModernPost;
class SessionlessClient;

/// What the parts of the face share. Outlives them.
struct FaceContext {
  EventLoop& loop;
  ClientIdSource& ids;
  NotificationFeed& feed;
  ByteBudget& budget;
  ClientEvents& events;
  Log& log;
  FaceOptions options;
  ClientCounts counts{};  ///< each session and each POST without one is a client
  FanOut* fan_out = nullptr;
  std::set<EventStream*> streams{};  ///< the open ones, for the keep-alive comments
  std::uint64_t last_post = 0;       ///< the number of the last one
  /// A sweep is due by then at the latest.
  std::function<void(SteadyTime)> sweep_by{};
  // They are over: to be reaped.
  std::function<void(DownstreamSession&)> session_over{};
  std::function<void(SessionlessClient&)> client_over{};
  std::function<void(ModernPost&)> modern_post_over{};
};

}  // namespace bridge
