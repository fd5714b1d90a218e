#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_budget.hpp"
#include "base/log.hpp"
#include "notifications/notification_feed.hpp"
#include "router/client_receiver.hpp"
#include "router/other_callers.hpp"
#include "router/router_parts.hpp"
#include "router/upstream_receiver.hpp"
#include "session/session.hpp"

namespace bridge {

/// Between clients and the session: each frame goes to the part that handles its kind. Owns these
/// parts and those that know the two sides: ClientReceiver, UpstreamReceiver, OtherCallers.
///
/// Owned by the daemon; the loop's thread only. Memory: each client's waiting frames
/// (--client-buffer), the table of requests in flight (--max-inflight), and the upstream's
/// questions (QuestionTable).
class Router {
 public:
  Router(EventLoop& loop, UpstreamIdSource& ids, Session& session, NotificationFeed& feed,
         ByteBudget& budget, Log& log, RouterOptions options);

  /// What clients send.
  ClientReceiver& from_clients() { return from_clients_; }
  const ClientReceiver& from_clients() const { return from_clients_; }
  /// What the session reports.
  SessionEvents& from_upstream() { return from_upstream_; }
  /// Callers other than clients.
  OtherCallers& others() { return others_; }

  /// --handshake eager.
  void start();
  /// SIGHUP: applies new timeouts and --orphans.
  void reconfigure(const RouterOptions& options);
  /// Replaces the policy; null: everything is allowed. `tells`: clients are notified that the lists
  /// have changed.
  void take_policy(std::shared_ptr<const PolicyFile> policy, bool tells);
  Permissions& permissions() { return parts_.permissions; }
  const Permissions& permissions() const { return parts_.permissions; }
  /// The daemon is ending: answers waiting frames; requests in flight continue.
  void begin_shutdown();
  /// The grace period is over: answers requests in flight too. `keeps_jobs`: those of jobs are not
  /// cancelled at the upstream, because the next daemon resumes them.
  void end_shutdown(bool keeps_jobs = false);
  bool has_requests_in_flight() const { return parts_.in_flight.calls().size() > 0; }
  /// `idle` is called when the last request in flight has ended; used while shutting down.
  void on_idle(std::function<void()> idle) { parts_.on_idle = std::move(idle); }
  /// Sets the handler of the control methods; once.
  void set_control(Control& control) { parts_.control.set_control(control); }
  /// Sets the owner of jobs; once, optional.
  void set_jobs(JobOwner& jobs) { parts_.jobs = &jobs; }
  /// Sets the audit; once, before the first request; optional.
  void set_audit(AuditTrail& audit) {
    parts_.audit = &audit;
    parts_.clients.set_audit(audit);
  }
  /// Null without --audit.
  AuditTrail* audit() const { return parts_.audit; }
  /// Sets the observer of the upstream's requests; once, optional.
  void set_onlookers(RequestOnlookers& onlookers) { parts_.questions.set_onlookers(onlookers); }

  ByteBudget& budget() { return parts_.budget; }
  Questions& questions() { return parts_.questions; }

  // For the control methods.
  const Statistics& statistics() const { return parts_.statistics; }
  const Clients& clients() const { return parts_.clients; }
  std::size_t in_flight() const { return parts_.in_flight.calls().size(); }
  std::size_t parked() const { return parts_.questions.parked(); }
  std::size_t queued() const { return parts_.frames.waiting(); }
  std::size_t listens() const { return parts_.listens.size(); }
  /// The server's tools, from the last complete list since they changed.
  const ToolList& tools() const { return parts_.tools.list(); }

  // For the state.
  /// Changes whenever clients may have changed settings().
  std::uint64_t settings_revision() const { return parts_.restorable.revision(); }
  /// The requests at the upstream, in order of ids, without an `initialize`, which is never
  /// cancelled.
  std::vector<UpstreamId> unanswered() const;
  bool keeps_orphans() const { return parts_.options.orphans == Orphans::keep; }
  /// Visits the requests that would become jobs, if they can, when their clients leave: id, client,
  /// call.
  template <class Visit>
  void each_orphan_to_be(Visit&& visit) const {
    parts_.in_flight.calls().each([&](UpstreamId id, const Call& call) {
      const Client* const client = call.client();
      if (client != nullptr && parts_.in_flight.outlives_client_as_job(call))
        visit(id, *client, call);
    });
  }

 private:
  friend class RouterUpgrade;

  void grants_ended();
  void rules_changed();

  RouterParts parts_;
  ClientReceiver from_clients_;
  UpstreamReceiver from_upstream_;
  OtherCallers others_;
};

}  // namespace bridge
