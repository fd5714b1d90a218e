// What one image of the program leaves to the next, and how the next one goes on.
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

HandoverState Daemon::state_to_hand_over() {
  clients_.acknowledge_read();
  HandoverState state;
  state.start = start_to_hand_over();
  add_session(state);
  add_clients(state);
  add_jobs(state);
  if (state.start.in_session) add_requests(state);
  return state;
}

/// How this image was begun, and what it counts.
HandoverStart Daemon::start_to_hand_over() const {
  HandoverStart start;
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
  start.last_question = router_handover_.last_question();
  if (face_) start.face_listener = static_cast<std::uint64_t>(face_->listener());
  return start;
}

/// The session with the upstream, and the notifications that came in it.
void Daemon::add_session(HandoverState& state) {
  const Ring& ring = feed_.ring();
  state.ring_counts = ring.counts();
  ring.each_after(Sequence{}, [&state](const RingEntry& entry) {
    state.ring.push_back(entry);
    return true;
  });
  state.session = session_.kept();
  state.session.settings = router_handover_.settings();
  state.streams = session_.streams_to_keep();
  state.listens = router_handover_.listens();
  if (auto token = upstream_->token_to_keep()) state.tokens.push_back(std::move(*token));
  const auto reference = upstream_->session_reference();
  if (reference) {
    state.session_id = reference->id;
    state.last_event_id = reference->last_event_id;
  }
  if (auto run = upstream_->run_to_keep()) state.runs.push_back(std::move(*run));
  const bool runs = !state.runs.empty() && state.runs.front().is_on;
  state.streams.legacy_is_there = state.streams.legacy_is_there && (reference || runs);
  state.start.in_session = state.streams.legacy_is_there || state.streams.modern_is_there;
}

void Daemon::add_clients(HandoverState& state) {
  state.socket = clients_.socket_to_keep();
  state.connections = clients_.connections_to_keep();
  state.clients = router_handover_.clients();
  if (face_) {
    state.face = face_->to_keep();
    state.face_sessions = face_->sessions_to_keep();
  }
}

/// The jobs, those that ended first, and who waits for one.
void Daemon::add_jobs(HandoverState& state) {
  const auto add_job = [&state](const Job& job) {
    if (is_end(job.state)) state.jobs.push_back(kept_job(job));
    return true;
  };
  jobs_.store().each_newest_first(add_job);
  std::stable_sort(state.jobs.begin(), state.jobs.end(),
                   [](const KeptJob& a, const KeptJob& b) { return a.ended < b.ended; });
  jobs_.store().each_used_key([&state](const User& user, const UsedKey& key) {
    state.job_keys.push_back(kept_key(user, key));
  });
  state.running_jobs = jobs_.running_to_keep();
  state.deliveries = collectors_.to_keep();
}

/// What is asked for, on both sides, and is not answered yet.
void Daemon::add_requests(HandoverState& state) {
  state.requests = router_handover_.requests();
  state.questions = router_handover_.questions();
  state.calls = router_handover_.calls();
  state.rounds = router_handover_.rounds();
  std::set<std::uint64_t> asked;
  for (const KeptRequest& request : state.requests) asked.insert(request.id);
  for (KeptMessage& message : upstream_->messages_to_keep()) {
    const bool is_request = message.kind == static_cast<std::uint64_t>(OutgoingKind::request);
    if (!is_request || asked.contains(message.id)) state.messages.push_back(std::move(message));
  }
}

void Daemon::pause() {
  log_.event(LogLevel::info, "upgrade",
             "upgrading: {} requests in flight, {} of which do not go along and have {} ms; "
             "nothing else is begun",
             router_.in_flight(), router_handover_.left_behind(), options_.grace.count());
  clients_.pause();
  if (face_) face_->pause();
  router_handover_.pause();
  collectors_.tell_all();
  monitor_.end();
}

bool Daemon::is_quiet() const { return router_handover_.is_quiet() && upstream_->is_quiet(); }

void Daemon::end_unfinished() {
  if (Login* const login = upstream_->login()) login->give_up_pending_login();
  router_handover_.end_unfinished();
  jobs_.settle();
  jobs_.end_unfinished();
}

void Daemon::resume() {
  const EventLoop::Turn turn(loop_);
  if (!ending_) router_handover_.resume();
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
    router_handover_.fail_unanswered_control();
  }
  clients_.acknowledge_read();
  flush();
  if (face_) face_->close_for_upgrade();
  upgrade_.replace();
}

void Daemon::go_on() {
  const EventLoop::Turn turn(loop_);
  HandoverState state = *std::exchange(beginning_.earlier, std::nullopt);
  feed_.ring().restore(std::move(state.ring), state.ring_counts, loop_.wall_time());
  control_.set_instance(state.start.instance);
  jobs_.go_on_with(std::move(state.jobs), std::move(state.job_keys));
  router_handover_.count_questions_from(state.start.last_question);
  if (Login* const login = upstream_->login()) login->go_on_with_login(state.start.login);
  if (!state.runs.empty()) upstream_->go_on_with(state.runs.front());
  if (!state.tokens.empty()) upstream_->go_on_with(state.tokens.front());
  if (state_) state_->session_goes_on(state.start.instance);
  if (state.start.in_session) {
    session_.go_on_in(std::move(state.session), {state.session_id, state.last_event_id},
                      state.streams);
  } else {
    session_.continue_from(std::move(state.session));
    session_.reopen();
  }
  router_handover_.pause();
  for (KeptRunningJob& job : state.running_jobs) jobs_.go_on_with(std::move(job));
  go_on_with_clients(state);
  for (KeptQuestion& question : state.questions) router_handover_.go_on_with(std::move(question));
  for (KeptCall& call : state.calls) router_handover_.go_on_with(std::move(call));
  for (KeptRound& round : state.rounds) router_handover_.go_on_with(std::move(round));
  jobs_.requests_go_on();
  for (KeptDelivery& delivery : state.deliveries) {
    const auto client = static_cast<ClientId>(delivery.client);
    if (router_.clients().find(client) == nullptr) continue;
    Control::Reply reply = router_handover_.continued_reply(client, delivery.request_id);
    collectors_.go_on_with(std::move(delivery), std::move(reply));
  }
  router_handover_.resume();
}

void Daemon::go_on_with_clients(HandoverState& state) {
  std::map<std::uint64_t, ClientChannel*> channels;
  for (const KeptConnection& kept : state.connections) {
    ClientChannel& channel = clients_.add(kept);
    if (Connection::router_knows(kept)) channels[kept.id] = &channel;
  }
  if (face_) face_->go_on_with(std::move(state.face));
  for (KeptDownstreamSession& kept : state.face_sessions) {
    const std::uint64_t id = kept.client;
    if (face_) channels[id] = &face_->go_on_with(std::move(kept));
  }
  for (KeptClient& kept : state.clients) {
    const auto found = channels.find(kept.id);
    if (found != channels.end()) router_handover_.go_on_with(*found->second, std::move(kept));
  }
  std::set<std::uint64_t> awaited;
  for (KeptMessage& message : state.messages) {
    const std::uint64_t id = message.id;
    if (upstream_->go_on_with(std::move(message))) awaited.insert(id);
  }
  for (KeptRequest& request : state.requests) {
    const bool is_awaited = awaited.contains(request.id);
    router_handover_.go_on_with(std::move(request), is_awaited);
  }
  router_handover_.go_on_with(std::move(state.listens));
  for (KeptConnection& kept : state.connections) clients_.go_on(std::move(kept));
}

}  // namespace bridge
