// What this process leaves to the next in an upgrade, and how that one restores it.
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <utility>

#include "auth/login.hpp"
#include "daemon.hpp"
#include "process/process_start.hpp"

namespace bridge {
namespace {

std::string drawn_proof() {
  std::array<std::uint64_t, 2> drawn{};
  if (getrandom(drawn.data(), sizeof drawn, 0) != sizeof drawn) return {};
  return fmt::format("state {:016x}{:016x}", drawn[0], drawn[1]);
}

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
  save_session(all);
  save_clients(all);
  all.jobs = jobs_.save();
  all.deliveries = collectors_.save();
  if (all.process.in_session) save_requests(all);
  return all;
}

/// How this process was started, and what it counts.
ProcessSnapshot Daemon::process_snapshot() const {
  ProcessSnapshot start;
  start.proof = drawn_proof();
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
  if (const Login* const login = upstream_->login()) start.login = login->login_to_keep();
  start.last_client = value_of(client_ids_.last());
  start.last_question = router_upgrade_.last_question();
  if (face_) start.face_listener = static_cast<std::uint64_t>(face_->listener());
  return start;
}

/// The session with the upstream, and the notifications that came in it.
void Daemon::save_session(DaemonSnapshot& snapshot) {
  const Ring& ring = feed_.ring();
  snapshot.ring_counts = ring.counts();
  ring.each_after(Sequence{}, [&snapshot](const RingEntry& entry) {
    snapshot.ring.push_back(entry);
    return true;
  });
  snapshot.session = session_.kept();
  snapshot.session.settings = router_upgrade_.settings();
  snapshot.streams = session_.streams_to_keep();
  snapshot.listens = router_upgrade_.listens();
  snapshot.token = upstream_->token_to_keep();
  const auto reference = upstream_->session_reference();
  if (reference) {
    snapshot.session_id = reference->id;
    snapshot.last_event_id = reference->last_event_id;
  }
  snapshot.run = upstream_->run_to_keep();
  const bool runs = snapshot.run && snapshot.run->is_on;
  snapshot.streams.legacy_is_there = snapshot.streams.legacy_is_there && (reference || runs);
  snapshot.process.in_session =
      snapshot.streams.legacy_is_there || snapshot.streams.modern_is_there;
}

void Daemon::save_clients(DaemonSnapshot& snapshot) {
  snapshot.socket = clients_.socket_to_keep();
  snapshot.connections = clients_.connections_to_keep();
  snapshot.clients = router_upgrade_.clients();
  if (face_) {
    snapshot.face = face_->to_keep();
    snapshot.face_sessions = face_->sessions_to_keep();
  }
}

/// What is asked for, on both sides, and is not answered yet.
void Daemon::save_requests(DaemonSnapshot& snapshot) {
  snapshot.requests = router_upgrade_.requests();
  snapshot.questions = router_upgrade_.questions();
  snapshot.calls = router_upgrade_.calls();
  snapshot.rounds = router_upgrade_.rounds();
  std::set<std::uint64_t> asked;
  for (const auto& [id, request] : snapshot.requests) asked.insert(value_of(id));
  for (KeptMessage& message : upstream_->messages_to_keep()) {
    const bool is_request = message.kind == static_cast<std::uint64_t>(OutgoingKind::request);
    if (!is_request || asked.contains(message.id)) snapshot.messages.push_back(std::move(message));
  }
}

void Daemon::pause() {
  log_.event(LogLevel::info, "upgrade",
             "upgrading: {} requests in flight, {} of which do not go along and have {} ms; "
             "nothing else is begun",
             router_.in_flight(), router_upgrade_.left_behind(), options_.grace.count());
  clients_.pause();
  if (face_) face_->pause();
  router_upgrade_.pause();
  collectors_.tell_all();
  monitor_.end();
}

bool Daemon::is_quiet() const { return router_upgrade_.is_quiet() && upstream_->is_quiet(); }

void Daemon::end_unfinished() {
  if (Login* const login = upstream_->login()) login->give_up_pending_login();
  router_upgrade_.end_unfinished();
  jobs_.settle();
  jobs_.end_unfinished();
}

void Daemon::resume() {
  const EventLoop::Turn turn(loop_);
  if (!ending_) router_upgrade_.resume();
  clients_.resume();
}

/// The service manager shows it until there is something else to say.
void Daemon::upgrade_failed(const std::string& why) {
  supervisor_.status("Upgrade failed, continuing with the old version: " + why);
}

// Signals that have come already are acted upon first. All that come later are the next image's
// own: they wait for it.
void Daemon::replace() {
  const SignalsBlocked blocked;
  loop_.settle();
  if (!upgrade_.is_ready()) return;
  {
    // What has come to be so in the last moment; and of a job that waits for nothing but its own
    // time the router knows nothing.
    const EventLoop::Turn turn(loop_);
    end_unfinished();
    router_upgrade_.fail_unanswered_control();
  }
  clients_.acknowledge_read();
  flush();
  if (face_) face_->close_for_upgrade();
  upgrade_.replace();
}

void Daemon::restore() {
  const EventLoop::Turn turn(loop_);
  DaemonSnapshot snapshot = *std::exchange(beginning_.earlier, std::nullopt);
  feed_.ring().restore(std::move(snapshot.ring), snapshot.ring_counts, loop_.wall_time());
  control_.set_instance(snapshot.process.instance);
  jobs_.restore_ended(std::move(snapshot.jobs.ended), std::move(snapshot.jobs.keys));
  router_upgrade_.count_questions_from(snapshot.process.last_question);
  if (Login* const login = upstream_->login()) login->go_on_with_login(snapshot.process.login);
  if (snapshot.run) upstream_->go_on_with(*snapshot.run);
  if (snapshot.token) upstream_->go_on_with(*snapshot.token);
  if (state_) state_->session_goes_on(snapshot.process.instance);
  if (snapshot.process.in_session) {
    session_.go_on_in(std::move(snapshot.session), {snapshot.session_id, snapshot.last_event_id},
                      snapshot.streams);
  } else {
    session_.continue_from(std::move(snapshot.session));
    session_.reopen();
  }
  router_upgrade_.pause();
  jobs_.restore_running(std::move(snapshot.jobs.running));
  restore_clients(snapshot);
  router_upgrade_.restore(std::move(snapshot.questions));
  router_upgrade_.restore(std::move(snapshot.calls));
  router_upgrade_.restore(std::move(snapshot.rounds));
  jobs_.requests_restored();
  for (Collectors::Delivery& delivery : snapshot.deliveries) {
    if (router_.clients().find(delivery.client) == nullptr) continue;
    Control::Reply reply = router_upgrade_.continued_reply(delivery.client, delivery.request_id);
    collectors_.restore(std::move(delivery), std::move(reply));
  }
  router_upgrade_.resume();
}

void Daemon::restore_clients(DaemonSnapshot& snapshot) {
  std::map<std::uint64_t, ClientChannel*> channels;
  for (const KeptConnection& kept : snapshot.connections) {
    ClientChannel& channel = clients_.add(kept);
    if (Connection::router_knows(kept)) channels[kept.id] = &channel;
  }
  if (face_) face_->go_on_with(std::move(snapshot.face));
  for (KeptDownstreamSession& kept : snapshot.face_sessions) {
    const std::uint64_t id = kept.client;
    if (face_) channels[id] = &face_->go_on_with(std::move(kept));
  }
  for (SavedClient& saved : snapshot.clients) {
    const auto found = channels.find(value_of(saved.id));
    if (found != channels.end()) router_upgrade_.restore(*found->second, std::move(saved));
  }
  std::set<std::uint64_t> awaited;
  for (KeptMessage& message : snapshot.messages) {
    const std::uint64_t id = message.id;
    if (upstream_->go_on_with(std::move(message))) awaited.insert(id);
  }
  for (auto& [id, request] : snapshot.requests)
    router_upgrade_.restore(id, std::move(request), awaited.contains(value_of(id)));
  router_upgrade_.restore(std::move(snapshot.listens));
  for (KeptConnection& kept : snapshot.connections) clients_.go_on(std::move(kept));
}

}  // namespace bridge
