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
#include "router/audit_trail.hpp"
#include "router/client.hpp"
#include "router/client_channel.hpp"
#include "router/client_frames.hpp"
#include "router/control_requests.hpp"
#include "router/crossing/crossings.hpp"
#include "router/known_tools.hpp"
#include "router/listens.hpp"
#include "router/own_subscriptions.hpp"
#include "router/permissions.hpp"
#include "router/questions.hpp"
#include "router/request_log.hpp"
#include "router/requests_in_flight.hpp"
#include "router/restorable_state.hpp"
#include "router/router_context.hpp"
#include "router/upstream_messages.hpp"
#include "session/session.hpp"
#include "session/stream_overlap.hpp"

namespace bridge {

/// Takes frames from clients and from the session, and hands each to the part that handles its kind
/// (BEHAVIOUR, "Routing"). It knows no sockets and no HTTP.
///
/// Owned by the daemon; the loop's thread only. Memory: each client's waiting frames
/// (--client-buffer), the table of requests in flight (--max-inflight), and the upstream's
/// questions (QuestionTable).
class Router final : public ClientEvents, public SessionEvents {
 public:
  Router(EventLoop& loop, UpstreamIdSource& ids, Session& session, NotificationFeed& feed,
         ByteBudget& budget, Log& log, RouterOptions options);

  /// --handshake eager.
  void start();
  /// SIGHUP: applies new timeouts and --orphans.
  void reconfigure(const RouterOptions& options);
  /// Replaces the policy; null: everything is allowed. `tells`: clients are notified that the lists
  /// have changed.
  void take_policy(std::shared_ptr<const PolicyFile> policy, bool tells);
  Permissions& permissions() { return permissions_; }
  const Permissions& permissions() const { return permissions_; }
  /// Why this control request may not ask the server, by audit and rate; nullopt: it may. Takes a
  /// token.
  std::optional<Failure> refusal_to_ask(const Client& client, std::string_view raw_id);
  /// The daemon is ending: answers waiting frames; requests in flight continue.
  void begin_shutdown();
  /// The grace period is over: answers requests in flight too. `keeps_jobs`: those of jobs are not
  /// cancelled at the upstream, because the next daemon resumes them.
  void end_shutdown(bool keeps_jobs = false);
  bool has_requests_in_flight() const { return in_flight_.calls().size() > 0; }
  /// Whether all clients so far were modern: none could have taken a notification.
  bool served_only_modern() const { return served_modern_ && !served_legacy_; }

  /// `idle` is called when the last request in flight has ended; used while shutting down.
  void on_idle(std::function<void()> idle) { on_idle_ = std::move(idle); }
  /// Sets the handler of the control methods; once.
  void set_control(Control& control) { control_.set_control(control); }
  /// Sets the owner of jobs; once, optional.
  void set_jobs(JobOwner& jobs) { jobs_ = &jobs; }
  /// Sets the audit; once, before the first request; optional.
  void set_audit(AuditTrail& audit) {
    audit_ = &audit;
    clients_.set_audit(audit);
  }
  /// Null without --audit.
  AuditTrail* audit() const { return audit_; }
  /// Sets the observer of the upstream's requests; once, optional.
  void set_onlookers(RequestOnlookers& onlookers) { questions_.set_onlookers(onlookers); }

  // Clients' side.
  void client_connected(ClientChannel& channel) override;
  void client_line(ClientId client, ReceivedText line) override;
  std::string client_request_for_later(ClientId client, Frame request) override;
  void client_message(ClientId client, Frame message) override;
  void client_oversized_line(ClientId client) override;
  void client_half_closed(ClientId client) override;
  void client_left(ClientId client) override;
  void client_congestion(ClientId client, bool congested) override;
  void client_can_be_asked(ClientId client) override;
  std::size_t waiting_bytes(ClientId client) const override;
  const HeadersOfTools& headers_of_tools() const override;
  bool http_callers_may_look() const override;
  bool may_look(const Peer& peer) const override { return permissions_.may_take_part(peer); }
  bool has_policy() const override { return permissions_.is_on(); }

  // Callers other than clients: jobs, and the bridge itself.
  /// `caller` may request(), until it leaves; what is in flight then has no caller.
  void join(Caller& caller) { clients_.join(caller); }
  void leave(Caller& caller);
  /// Queues a request; `job`: of a job.
  void request(Caller& caller, Frame request, std::unique_ptr<JobRequest> job = nullptr);
  /// A job's request that an earlier process sent and that was answered with this `input_required`
  /// result; `answers`: to the first of its questions.
  void resume_asked(Caller& caller, JobRequest job, Frame request, std::string_view result,
                    const std::vector<std::string>& answers);
  /// Sets whether a question about the job's request is open: then the request takes no slot.
  void set_asked(Caller& caller, std::string_view raw_id, bool is_asked);
  /// Cancels a request, waiting or in flight.
  void cancel(Caller& caller, std::string_view raw_id, std::string_view reason);
  /// Cancels all requests of the caller.
  void cancel_all(Caller& caller);
  /// A job's request in the form for the present server, decided now because the tool list may be
  /// gone later.
  Frame with_task(Frame request) const { return tools_.as_task(std::move(request)); }
  ByteBudget& budget() { return budget_; }
  Questions& questions() { return questions_; }

  // Upstream's side.
  void session_open() override;
  void session_closed(Era side) override;
  void session_away(Era side) override;
  void session_failed(const Failure& failure) override;
  void session_refused(Era side, const Failure& failure) override;
  void session_awaits_login() override { frames_.session_awaits_login(); }
  std::optional<UpstreamId> message_received(Era side, std::optional<UpstreamId> origin,
                                             Frame&& frame) override;
  void listen_notified(Frame&& notification) override;
  void malformed_received(std::optional<UpstreamId> origin, std::string_view reason) override;
  void message_ended(UpstreamId id, Ending ending) override;
  bool frames_wait(Era side) const override;
  std::optional<Era> side_of(UpstreamId id) const override {
    return in_flight_.calls().side_of(id);
  }
  std::string capabilities_of_opener() const override { return frames_.declared_capabilities(); }
  SessionSettings settings() const override;
  void subscription_unrestored(const std::string& uri) override;
  void take_settings(const SessionSettings& settings) override;
  void listen_acknowledged() override { listens_.upstream_tells(); }
  void listen_resumed(const SubscriptionFilter& filter) override;
  void remake(Outgoing& message, Era side, bool under_new_id) override {
    in_flight_.remake(message, side, under_new_id);
  }
  void session_replaced(Era side, const Reopening& reopening,
                        const std::vector<std::string>& list_changes) override;

  // For the control methods.
  const Statistics& statistics() const { return statistics_; }
  const Clients& clients() const { return clients_; }
  std::size_t in_flight() const { return in_flight_.calls().size(); }
  std::size_t parked() const { return questions_.parked(); }
  std::size_t queued() const { return frames_.waiting(); }
  std::size_t listens() const { return listens_.size(); }
  /// The server's tools, from the last complete list since they changed.
  const ToolList& tools() const { return tools_.list(); }

  // For the state.
  /// Changes whenever clients may have changed settings().
  std::uint64_t settings_revision() const { return restorable_.revision(); }
  /// The requests at the upstream, in order of ids, without an `initialize`, which is never
  /// cancelled.
  std::vector<UpstreamId> unanswered() const;
  bool keeps_orphans() const { return options_.orphans == Orphans::keep; }
  /// Visits the requests that would become jobs, if they can, when their clients leave: id, client,
  /// call.
  template <class Visit>
  void each_orphan_to_be(Visit&& visit) const {
    in_flight_.calls().each([&](UpstreamId id, const Call& call) {
      const Client* const client = call.client();
      if (client != nullptr && in_flight_.outlives_client_as_job(call)) visit(id, *client, call);
    });
  }

 private:
  friend class RequestsInFlight;
  friend class RouterUpgrade;

  /// The parameters of resume_asked().
  struct ResumedJob {
    Caller* caller;
    JobRequest job;
    Frame request;
    std::string result;
    std::vector<std::string> answers;
  };

  void resume_waiting_jobs(const std::string& listed);
  void resume_judged(ResumedJob&& resumed, const std::string& listed);
  void client_batch(Client& client, std::string_view line);
  void client_frame(Client& client, ParsedFrame&& parsed);
  bool is_control(const Frame& frame) const;
  bool asks_more_than_jobs(const Client& client) const;
  void note_kind(Client& client, const Frame& frame);
  void note_initialize(Client& client, const Frame& initialize);
  bool refuse_modern(Client& client, const Frame& request);
  bool refuse_by_policy(Client& client, const Frame& request);
  bool refuse_control(Client& client, const Frame& request);
  void take_rule(Client& client);
  void client_notification(Client& client, Frame frame);
  void control_notification(Client& client, const Frame& frame);
  void reply_invalid(Client& client, int code, std::string_view reason);
  void refuse_kind(Client& client, const Frame& frame, std::string_view reason);
  void drop(Client& client);

  void publish_changes(const std::vector<std::string>& lists, const std::vector<std::string>& uris);
  void upstream_notification(Era side, std::optional<UpstreamId> origin, Frame frame);
  std::vector<std::string> subscriptions() const;
  bool is_second_copy(Era side, const Frame& notification);
  void note_sides();

  /// The request has ended and its caller, if any, was answered; may start others.
  void request_ended(const Call& call);

  RouterOptions options_;
  NotificationFeed& feed_;
  ByteBudget& budget_;
  Statistics statistics_;
  RequestLog request_log_;
  Permissions permissions_;
  AuditTrail* audit_ = nullptr;
  JobOwner* jobs_ = nullptr;
  Clients clients_;
  UpstreamMessages upstream_;
  const RouterContext context_;

  RestorableState restorable_;
  KnownTools tools_;
  RequestsInFlight in_flight_;
  OwnSubscriptions own_subscriptions_;
  Listens listens_;
  Questions questions_;
  Crossings crossings_;
  ControlRequests control_;
  RequestChecks checks_;
  ClientFrames frames_;
  std::vector<ResumedJob> resumed_later_;  ///< they wait for the list of tools; bounded by --jobs
  std::function<void()> on_idle_;
  bool served_modern_ = false;
  bool served_legacy_ = false;
  Era ring_source_ = Era::legacy;            ///< the era of the session when last checked
  StreamOverlap<Era> overlap_;               ///< of both sessions' changes
  std::optional<std::uint64_t> overlap_in_;  ///< the attempt to open the legacy session
  bool shutting_down_ = false;
};

}  // namespace bridge
