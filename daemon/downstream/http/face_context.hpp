#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/byte_budget.hpp"
#include "base/ids.hpp"
#include "base/log.hpp"
#include "downstream/http/face_options.hpp"
#include "event/deadline_timer.hpp"
#include "event/event_loop.hpp"
#include "notifications/notification_feed.hpp"
#include "router/client_channel.hpp"

namespace bridge {

class EventStream;
class FanOut;

/// What the parts of the face share. Outlives them.
struct FaceContext {
  EventLoop& loop;
  ClientIdSource& ids;
  NotificationFeed& feed;
  ByteBudget& budget;
  ClientEvents& events;
  Deferred& flush;  ///< what was written goes out then, and what is over goes
  Log& log;
  FaceOptions options;
  ClientCounts counts{};  ///< each downstream session and each lone POST is a client
  FanOut* fan_out = nullptr;
  std::set<EventStream*> streams{};  ///< the open ones, for the keep-alive comments
  // What is over and is dropped at the end of the turn.
  std::vector<std::uint64_t> over_exchanges{};
  std::vector<std::string> over_sessions{};
  std::vector<ClientId> over_clients{};
  /// Something has to be looked at by then at the latest.
  std::function<void(SteadyTime)> look_by{};
};

}  // namespace bridge
