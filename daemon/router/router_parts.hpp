#pragma once

#include <functional>
#include <utility>

#include "base/byte_budget.hpp"
#include "base/log.hpp"
#include "notifications/notification_feed.hpp"
#include "router/audit_trail.hpp"
#include "router/client.hpp"
#include "router/client_frames.hpp"
#include "router/control_requests.hpp"
#include "router/crossing/crossings.hpp"
#include "router/known_tools.hpp"
#include "router/listens.hpp"
#include "router/own_subscriptions.hpp"
#include "router/permissions.hpp"
#include "router/questions.hpp"
#include "router/request_checks.hpp"
#include "router/request_log.hpp"
#include "router/requests_in_flight.hpp"
#include "router/restorable_state.hpp"
#include "router/router_context.hpp"
#include "router/upstream_messages.hpp"
#include "session/session.hpp"

namespace bridge {

/// The tables and parts of the router, between what clients send (ClientReceiver), what the server
/// sends (UpstreamReceiver) and what the bridge itself requests (OtherCallers). Each part knows
/// those above it, except where its constructor names one below.
///
/// Owned by the router; the loop's thread only.
struct RouterParts {
  /// `done`: a client that sends nothing more has had its last answer. `grants_ended`: of
  /// Permissions.
  RouterParts(EventLoop& loop, UpstreamIdSource& ids, Session& session,
              NotificationFeed& notifications, ByteBudget& byte_budget, Log& log,
              RouterOptions router_options, std::function<void(Client&)> done,
              std::function<void()> grants_ended)
      : options(std::move(router_options)),
        feed(notifications),
        budget(byte_budget),
        request_log(loop, log, statistics),
        permissions(loop, std::move(grants_ended)),
        clients(loop, std::move(done)),
        upstream(ids, session),
        context{loop,    ids,        session,     upstream,    log,   options,
                clients, statistics, request_log, permissions, audit, jobs},
        tools(context),
        in_flight(context, restorable, tools, questions, crossings, *this, budget),
        own_subscriptions(context, budget, in_flight),
        listens(context, feed, restorable, in_flight, own_subscriptions),
        questions(context, in_flight, crossings),
        crossings(context, budget, in_flight, questions),
        control(context),
        checks(context, tools),
        frames(context, budget, restorable, tools, checks, in_flight, listens, crossings, control) {
  }

  /// The request has ended and its caller, if any, was answered; may start others.
  void request_ended(const Call& call) {
    frames.request_ended(call);
    if (in_flight.calls().size() == 0 && on_idle) on_idle();
  }

  RouterOptions options;
  std::function<void()> on_idle;  ///< while shutting down: the last request in flight has ended
  NotificationFeed& feed;
  ByteBudget& budget;
  Statistics statistics;
  RequestLog request_log;
  Permissions permissions;
  AuditTrail* audit = nullptr;  ///< null without --audit
  JobOwner* jobs = nullptr;
  Clients clients;
  UpstreamMessages upstream;
  const RouterContext context;

  RestorableState restorable;
  KnownTools tools;
  RequestsInFlight in_flight;
  OwnSubscriptions own_subscriptions;
  Listens listens;
  Questions questions;
  Crossings crossings;
  ControlRequests control;
  RequestChecks checks;
  ClientFrames frames;
};

}  // namespace bridge
