#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "base/log.hpp"
#include "event/event_loop.hpp"
#include "router/audit_trail.hpp"
#include "router/client.hpp"
#include "router/job_owner.hpp"
#include "router/permissions.hpp"
#include "router/request_log.hpp"
#include "router/upstream_messages.hpp"
#include "session/session.hpp"

namespace bridge {

enum class Handshake { lazy, client, eager };
enum class Orphans { cancel, finish, keep };

struct RouterOptions {
  Handshake handshake = Handshake::lazy;
  Orphans orphans = Orphans::finish;
  std::size_t client_inflight = 64;  ///< requests per client at a time
  std::size_t max_inflight = 256;    ///< requests of all clients at a time
  std::size_t client_buffer = 16u << 20;
  std::size_t max_frame = 8u << 20;
  std::size_t grants = 10'000;  ///< alive at a time
  std::chrono::milliseconds connect_wait{10000};
  std::chrono::milliseconds park_requests{30000};
  std::chrono::milliseconds input_wait{300000};  ///< time for answers to questions in a result
  bool sequential = false;                       ///< --max-clients 1: clients take turns
  bool control = true;                           ///< answer `bridge/*`
  bool own_initialize = false;  ///< --client-capabilities: the bridge opens the session itself
  /// The capabilities that a request to a modern upstream declares if its client has declared none.
  std::string client_capabilities;
};

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
  Permissions& permissions;
  AuditTrail* const& audit;  ///< null without --audit
  JobOwner* const& jobs;

  /// How long a frame waits for a session in its present state.
  std::chrono::milliseconds session_timeout() const {
    return session.login_wait().value_or(options.connect_wait);
  }
};

}  // namespace bridge
