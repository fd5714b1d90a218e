#pragma once

#include "base/log.hpp"
#include "event/event_loop.hpp"
#include "router/clients.hpp"
#include "router/request_log.hpp"
#include "router/router_options.hpp"
#include "router/statistics.hpp"
#include "router/upstream_messages.hpp"
#include "session/session.hpp"

namespace bridge {

/// What the parts of the router share. All of it outlives them.
struct RouterContext {
  EventLoop& loop;
  UpstreamIdSource& ids;
  Session& session;
  UpstreamMessages& upstream;
  Log& log;
  const RouterOptions& options;
  Clients& clients;
  Statistics& statistics;
  RequestLog& request_log;

  /// How long a frame waits for the session, as it stands.
  std::chrono::milliseconds session_timeout() const {
    return session.login_wait().value_or(options.connect_wait);
  }
};

}  // namespace bridge
