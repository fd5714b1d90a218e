// What this process hands over to the next in an upgrade, and how that one restores it.
#include <unistd.h>

#include <set>
#include <utility>

#include "auth/login_desk.hpp"
#include "base/random.hpp"
#include "daemon.hpp"
#include "jobs/job_upgrade.hpp"
#include "make_upstream.hpp"
#include "process/process_start.hpp"
#include "upstream/stdio/child_upstream.hpp"

namespace bridge {
namespace {

std::vector<std::string> environment_now() {
  std::vector<std::string> variables;
  for (char** one = environ; one != nullptr && *one != nullptr; ++one) variables.emplace_back(*one);
  return variables;
}

}  // namespace

UpgradeOrder Daemon::order_upgrade() {
  const DaemonSnapshot all = snapshot();
  UpgradeOrder order;
  order.program = all.process.program;
  order.arguments = all.process.arguments;
  order.environment = all.process.environment;
  order.snapshot = write_snapshot(all);
  order.descriptors = all.descriptors();
  order.proof = all.process.proof;
  const auto read = read_snapshot(order.snapshot);
  if (const auto* fault = std::get_if<std::string>(&read)) order.fault = *fault;
  return order;
}

DaemonSnapshot Daemon::snapshot() {
  clients_.acknowledge_read();
  DaemonSnapshot all;
  all.process = process_snapshot();
  all.ring = feed_.ring().save();
  all.socket = clients_.save_socket();
  all.pipes = clients_.save_pipes();
  all.connections = clients_.save();
  if (frontend_) {
    all.frontend = frontend_->save();
    all.http_socket = frontend_->save_socket();
  }
  all.jobs = JobUpgrade(jobs_).save();
  all.deliveries = job_waiters_.save_deliveries();
  if (audit_log_) {
    audit_log_->write_last();
    all.audit_log = audit_log_->save();
  }
  if (audit_) all.audit = audit_->save_open();
  save_session(all);
  all.router = router_upgrade_.save(all.process.in_session);
  if (all.process.in_session) save_messages(all);
  return all;
}

/// How this process was started, and its counts.
ProcessSnapshot Daemon::process_snapshot() const {
  ProcessSnapshot start;
  start.proof = "state " + random_hex(16);
  start.version = MCP_BRIDGE_VERSION;
  start.program = beginning_.program;
  start.arguments = beginning_.process.arguments();
  start.environment = environment_now();
  start.given = given_;
  start.answers = answers_;
  start.notify_socket = supervision_.notify_socket;
  if (supervision_.watchdog) {
    start.watchdog = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(*supervision_.watchdog).count());
  }
  if (const auto& limit = options_.upstream.child.descriptors) {
    start.soft_descriptors = limit->rlim_cur;
    start.hard_descriptors = limit->rlim_max;
  }
  start.instance = control_.instance();
  if (const LoginDesk* const login = upstream_->login()) start.login = login->save_login();
  start.last_client = client_ids_.last();
  if (frontend_) start.frontend_listener = frontend_->listener();
  if (metrics_listener_) start.metrics_listener = metrics_listener_->listener();
  return start;
}

void Daemon::save_session(DaemonSnapshot& snapshot) {
  snapshot.session = session_.save();
  snapshot.session.settings = router_upgrade_.settings();
  snapshot.streams = session_.save_streams();
  if (const AccessToken* const token = upstream_->token()) snapshot.token = token->save();
  const auto reference = upstream_->session_reference();
  if (reference) {
    snapshot.session_id = reference->id;
    snapshot.last_event_id = reference->last_event_id;
  }
  if (const ChildUpstream* const child = local_server_of(*upstream_))
    snapshot.run = child->save_run();
  const bool runs = snapshot.run && snapshot.run->is_on;
  snapshot.streams.legacy_is_there = snapshot.streams.legacy_is_there && (reference || runs);
  snapshot.process.in_session =
      snapshot.streams.legacy_is_there || snapshot.streams.modern_is_there;
}

/// Messages in flight at the upstream; requests only if their clients are handed over.
void Daemon::save_messages(DaemonSnapshot& snapshot) {
  std::set<UpstreamId> asked;
  for (const auto& [id, call] : snapshot.router.calls) asked.insert(id);
  for (SavedMessage& saved : upstream_->save_messages()) {
    if (saved.message.kind != OutgoingKind::request || asked.contains(saved.message.id))
      snapshot.messages.push_back(std::move(saved));
  }
}

void Daemon::pause() {
  log_.event(
      LogLevel::info, "upgrade",
      "upgrading: {} requests in flight; {} of them cannot be passed on and have {} ms to end; no others are started",
      router_.in_flight(), router_upgrade_.left_behind(), options_.grace.count());
  clients_.pause();
  if (frontend_) frontend_->pause();
  router_upgrade_.pause();
  control_.answer_waiting();
  monitor_.end();
}

bool Daemon::is_quiet() const {
  return router_upgrade_.is_quiet() && upstream_->survives_upgrade({});
}

void Daemon::end_unfinished() {
  if (LoginDesk* const login = upstream_->login()) login->give_up_pending_login();
  router_upgrade_.end_unfinished();
  jobs_.settle();
  JobUpgrade(jobs_).end_unfinished();
}

void Daemon::resume() {
  const EventLoop::Turn turn(loop_);
  if (!ending_) router_upgrade_.resume();
  clients_.resume();
}

/// The service manager shows this until the next status.
void Daemon::upgrade_failed(const std::string& why) {
  supervisor_.status("Upgrade failed, continuing with the old version: " + why);
}

// Pending signals are handled first. All later ones belong to the next process: they stay pending
// for it.
void Daemon::replace() {
  const SignalsBlocked blocked;
  loop_.settle();
  if (!upgrade_.is_ready()) return;
  {
    // Handles what became unfinished at the last moment; the router does not know of a job that
    // waits only for its own time.
    const EventLoop::Turn turn(loop_);
    end_unfinished();
    router_upgrade_.fail_unanswered_control();
  }
  clients_.acknowledge_read();
  flush();
  if (frontend_) frontend_->close_for_upgrade();
  if (metrics_listener_) metrics_listener_->close_all();
  upgrade_.replace();
}

void Daemon::restore() {
  const EventLoop::Turn turn(loop_);
  DaemonSnapshot snapshot = *std::exchange(beginning_.earlier, std::nullopt);
  feed_.ring().restore(std::move(snapshot.ring), loop_.wall_time());
  JobUpgrade(jobs_).restore_ended(std::move(snapshot.jobs.ended), std::move(snapshot.jobs.keys));
  if (LoginDesk* const login = upstream_->login()) login->restore_login(snapshot.process.login);
  if (ChildUpstream* const child = local_server_of(*upstream_); child != nullptr && snapshot.run)
    child->restore_run(*snapshot.run);
  if (AccessToken* const token = upstream_->token(); token != nullptr && snapshot.token)
    token->restore(*snapshot.token);
  if (state_) state_->session_continues(snapshot.process.instance);
  if (snapshot.process.in_session) {
    session_.resume(std::move(snapshot.session), {snapshot.session_id, snapshot.last_event_id},
                    &snapshot.streams);
  } else {
    session_.restore(std::move(snapshot.session));
    session_.reopen();
  }
  router_upgrade_.pause();
  router_upgrade_.restore_grants(snapshot.router);
  if (audit_log_) audit_log_->restore(snapshot.audit_log);
  if (audit_) audit_->restore(std::move(snapshot.audit));
  JobUpgrade(jobs_).restore_running(std::move(snapshot.jobs.running));
  restore_clients(snapshot);
  router_upgrade_.restore_questions(snapshot.router);
  for (JobWaiters::Delivery& delivery : snapshot.deliveries) {
    if (router_.clients().find_client(delivery.client) == nullptr) continue;
    Control::Reply reply = router_upgrade_.continued_reply(delivery.client, delivery.request_id);
    job_waiters_.restore(std::move(delivery), std::move(reply));
  }
  if (state_) state_->parts_restored();
  router_upgrade_.resume();
}

void Daemon::restore_clients(DaemonSnapshot& snapshot) {
  std::map<ClientId, ClientChannel*> channels;
  for (const Connection::Saved& saved : snapshot.connections) {
    ClientChannel& channel = clients_.add(saved);
    if (saved.is_known()) channels[saved.identity.id] = &channel;
  }
  if (frontend_) {
    for (ClientChannel* const client : frontend_->restore(std::move(snapshot.frontend)))
      channels[client->identity().id] = client;
  }
  router_upgrade_.restore_clients(snapshot.router, channels);
  std::set<UpstreamId> awaited;
  for (SavedMessage& saved : snapshot.messages) {
    const UpstreamId id = saved.message.id;
    if (upstream_->restore(std::move(saved))) awaited.insert(id);
  }
  router_upgrade_.restore_requests(snapshot.router, awaited);
  for (Connection::Saved& saved : snapshot.connections) clients_.restore(std::move(saved));
}

}  // namespace bridge
