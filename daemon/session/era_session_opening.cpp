// Results of an opening.
#include <fmt/format.h>

#include <utility>

#include "mcp/discovery.hpp"
#include "mcp/handshake.hpp"
#include "mcp/request_meta.hpp"
#include "session/era_choice.hpp"
#include "session/era_session.hpp"
#include "session/opening.hpp"
#include "session/retries.hpp"
#include "text/visible_text.hpp"

namespace bridge {
namespace {

/// How often the upstream is asked whether it still wants a login.
constexpr std::chrono::seconds between_questions{5};

void tell_of_newer_revision(Failure& failure) {
  if (!speaks_only_newer(failure.error_object)) return;
  failure.kind = ErrorKind::session;
  failure.delivered = Delivered::no;
  failure.definitive = true;
  failure.message = fmt::format(
      "this server speaks only MCP {}, or an unknown protocol (see --era)", newest_version);
  failure.summary.clear();
  failure.upstream_error = std::exchange(failure.error_object, std::string());
}

/// For an `initialize` answered with this error object. If the server knows only revisions without
/// `initialize`, the message says so and the server's error is added.
Failure failure_of_initialize_error(std::string_view error_object) {
  Failure failure =
      failure_of(ErrorKind::session, Delivered::no, "the upstream refuses to initialize a session");
  failure.error_object = std::string(error_object);
  tell_of_newer_revision(failure);
  return failure;
}

/// For an `initialize` that ended without an answer. `malformed`: what was wrong with it; empty:
/// nothing arrived.
Failure failure_of_initialize_ending(Ending ending, std::string_view malformed) {
  if (ending.failure) {
    tell_of_newer_revision(*ending.failure);
    return std::move(*ending.failure);
  }
  Failure failure;
  failure.kind = ending.something_came ? ErrorKind::malformed : ErrorKind::closed;
  failure.message =
      malformed.empty()
          ? "the upstream's answer to initialize has no result in it"
          : fmt::format("the upstream's answer to initialize is malformed: {}", malformed);
  return failure;
}

/// For an answer whose `protocolVersion` does not fit a header.
Failure failure_of_version(std::string_view version) {
  Failure failure = definitive_failure_of(ErrorKind::malformed,
                                          "the upstream's protocolVersion is not a version");
  failure.summary = failure.message;
  failure.message += fmt::format(": '{}'", printable(version, 40));
  return failure;
}

}  // namespace

bool EraSession::is_coming() const {
  const bool is_asked_for = initialize_.clients || options_.client_capabilities;
  return phase_ == Phase::opening ||
         (phase_ == Phase::waiting && retries_.has_next_try() && is_asked_for);
}

bool EraSession::wants_initialize() const {
  if (is_modern() || options_.client_capabilities || saved_.number > 0 || has_ended()) return false;
  return phase_ == Phase::idle || phase_ == Phase::refused ||
         (phase_ == Phase::waiting && !initialize_.clients);
}

void EraSession::require() {
  // A client that is answered during the opening may require the session in the same turn.
  if (has_ended() || is_open() || is_trying() || phase_ == Phase::opening) return;
  if (has_session() || (phase_ == Phase::waiting && retries_.has_next_try())) {
    retries_.try_soon();
    return;
  }
  if (!initialize_.clients && !is_modern()) initialize_.params = own_params();
  start_try();
}

void EraSession::logged_in() {
  retries_.logged_in();
  const auto& failure = record_.last_failure;
  if (!failure || failure->kind != ErrorKind::auth) return;
  record_.last_failure.reset();
  if (is_open()) return;
  if (phase_ == Phase::refused) phase_ = Phase::idle;
  events_->session_away(era());  // frames wait for a session from now on
  retries_.try_now();
  if (phase_ == Phase::waiting && retries_.has_next_try()) start_try();
}

bool EraSession::awaits_login() const {
  const auto& failure = record_.last_failure;
  return options_.login_wait.count() > 0 && failure && wants_login(*failure);
}

void EraSession::open_with(UpstreamId id, std::string body, std::string params) {
  initialize_ = {InitializeRequest::Clients{id, std::move(body)}, std::move(params)};
  if (phase_ == Phase::waiting) {
    require();
  } else {
    start_try();
  }
}

void EraSession::withdraw_initialize(UpstreamId id) {
  if (initialize_.clients && initialize_.clients->id == id) initialize_.clients.reset();
}

/// The params of the last session; else the bridge's own, with what the request that needs the
/// session declares.
std::string EraSession::own_params() const {
  if (!saved_.initialize_params.empty()) return saved_.initialize_params;
  const auto& given = options_.client_capabilities;
  if (given) return own_initialize_params(*given);
  return own_initialize_params(
      merge_capabilities(events_->capabilities_of_opener(), own_capabilities));
}

void EraSession::start_try() {
  phase_ = Phase::opening;
  retries_.begin_try();
  if (!upstream_.has_answer_streams()) slow_.set_after(slow);
  if (is_modern()) {
    upstream_.session_opened({.version = newest_version, .is_stateful = false});
    opening_.probe(options_.connect_wait);
  } else {
    if (initialize_.params.empty()) initialize_.params = own_params();
    send_initialize();
  }
}

/// The attempt has failed: its messages are no longer awaited.
void EraSession::stop_try() {
  slow_.clear();
  opening_.stop();
}

void EraSession::send_initialize() {
  if (!doubt_.tries_another()) upstream_.session_over();
  Outgoing message;
  message.id = initialize_.clients ? initialize_.clients->id : sender_.ids().next();
  message.owner = MessageOwner::opening;
  message.may_repeat = true;
  message.opens_session = true;
  message.body = initialize_.clients ? initialize_.clients->body
                                     : own_request(message.id, "initialize", initialize_.params);
  opening_.begin_initialize(std::move(message), options_.connect_wait);
}

void EraSession::initialize_answered(std::optional<UpstreamId> origin, Frame frame) {
  if (!frame.result.present()) {
    const Failure failure = failure_of_initialize_error(frame.text(frame.error));
    if (hand_initialize_over(failure, SessionVerdict::kept)) return;
    if (is_clients_alone(failure)) {
      refuse_client(failure);
      events_->message_received(era(), origin, std::move(frame));
      events_->session_closed(era());
    } else {
      refuse(failure);
    }
    return;
  }
  ServerDescription server(std::string(frame.text(frame.result)));
  const std::string& version = server.protocol_version();
  if (!version.empty() && !fits_header(version, header_limit::protocol_version)) {
    refuse(failure_of_version(version));
    return;
  }
  const std::string before = saved_.server ? saved_.server->protocol_version() : std::string();
  if (!before.empty() && version != before) {
    log_.peer(LogLevel::warning, "protocol version changed",
              "the upstream now speaks protocol version {} (before: {})", printable(version, 40),
              printable(before, 40));
  }
  slow_.clear();
  if (doubt_.tries_another()) doubt_.another_session_opened();
  saved_.initialize_params = initialize_.params;
  saved_.server = std::move(server);
  choice_.era_found(era());
  record_.server_stream = ServerStream::waiting;
  if (std::exchange(initialize_.clients, std::nullopt))
    events_->message_received(era(), origin, std::move(frame));
  opening_.handshake_done(saved_.server->protocol_version());
}

void EraSession::initialize_ended(Ending ending) {
  const SessionVerdict verdict = ending.session;
  const Failure failure = failure_of_initialize_ending(std::move(ending), opening_.malformed());
  if (!hand_initialize_over(failure, verdict)) opening_failed(failure);
}

void EraSession::opening_failed(const Failure& failure) {
  if (is_definitive(failure)) {
    reject(failure);
    return;
  }
  const bool ended_again = opening_.note_ended_run(failure);
  try_failed(failure);
  if (ended_again && given_up() == nullptr) fail_waiting();
}

/// Everything that waits ends with the failure of this attempt: another one soon would not help.
void EraSession::fail_waiting() {
  const Failure failure = *record_.last_failure;
  const auto clients = std::exchange(initialize_.clients, std::nullopt);
  events_->session_refused(era(), failure);
  retries_.end_all(failure);
  if (clients) end_message(clients->id, failure);
}

/// The server refuses `initialize` as a modern one does: probes whether it is modern. False if it
/// was refused for another reason.
bool EraSession::hand_initialize_over(const Failure& refusal, SessionVerdict verdict) {
  const auto error = error_of(refusal);
  if (doubt_.tries_another() || verdict != SessionVerdict::kept ||
      !is_refused_as_modern(refusal.status, error ? &*error : nullptr))
    return false;
  const auto failure = choice_.era_refused(era(), {true, refusal});
  if (failure) reject(*failure);
  return true;
}

/// If a server of this era would not refuse like this, the message counts as not delivered and the
/// session as lost: the next opening detects the server's era again.
void EraSession::note_other_era(Ending& ending) {
  if (options_.era != EraOption::automatic || !has_session()) return;
  Failure& failure = *ending.failure;
  const auto error = error_of(failure);
  if (failure.status == 0 || !contradicts(era(), failure.status, error ? &*error : nullptr)) return;
  choice_.era_contradicted(era());
  failure.delivered = Delivered::no;
  ending.session = SessionVerdict::lost;
}

void EraSession::hand_over_to(EraSession& other) {
  stop_try();
  retries_.settled();
  if (std::exchange(replaces_other_era_, false) || is_lost()) {
    other.replaces_other_era_ = true;
    other.loss_ = loss_;
  }
  phase_ = Phase::idle;
  record_.last_failure.reset();
  if (auto clients = std::exchange(initialize_, {}); clients.clients)
    other.initialize_ = std::move(clients);
  for (HeldMessage& held : retries_.take_all()) other.retries_.take_over(std::move(held));
}

void EraSession::serve_what_was_handed_over() {
  replaces_other_era_ = false;
  if (initialize_.clients) answer_initialize();
  retries_.send_ready();
}

/// Ends the opening with a refusal that would be repeated.
void EraSession::reject(const Failure& failure) {
  if (!is_clients_alone(failure)) {
    refuse(failure);
    return;
  }
  const UpstreamId id = initialize_.clients->id;
  refuse_client(failure);
  end_message(id, failure);
  events_->session_closed(era());
}

/// Whether the refusal concerns only this client's request; other clients may try with theirs.
bool EraSession::is_clients_alone(const Failure& failure) const {
  return initialize_.clients && !is_lost() && is_clients_answer(failure);
}

void EraSession::refuse_client(const Failure& failure) {
  stop_try();
  phase_ = Phase::refused;
  record_.last_failure = failure_of_opening(failure);
  initialize_ = {};
  retries_.try_later();
  log_.peer(LogLevel::warning, "initialize refused", "the upstream refused a client's initialize");
}

/// Waiting messages wait for --login-wait, each from its arrival; the upstream is asked at
/// intervals whether it still wants a login. False: no login is awaited.
bool EraSession::await_login(const Failure& failure) {
  if (options_.login_wait.count() == 0 || !wants_login(failure)) return false;
  Failure passing = failure;
  passing.retry_after = between_questions;
  try_failed(std::move(passing));
  if (record_.last_failure) record_.last_failure->retry_after.reset();
  events_->session_awaits_login();
  return true;
}

// All state is settled before events are reported: the router may require a session at once.
void EraSession::refuse(const Failure& refusal) {
  if (doubt_.tries_another()) {
    doubt_.another_session_refused();
    return;
  }
  if (await_login(refusal)) return;
  Failure failure = failure_of_opening(refusal);
  ++record_.counts.failed_tries;
  stop_try();
  phase_ = Phase::refused;
  retries_.forget_failures();
  retries_.try_later();
  const bool is_news = !record_.last_failure || record_.last_failure->message != failure.message;
  note_failure(failure);
  const auto clients = std::exchange(initialize_, {}).clients;
  if (is_news || clients) {
    log_.peer(LogLevel::error, "session refused", "the upstream {} refuses a session: {}",
              upstream_.target(), log_text(failure));
  }
  events_->session_refused(era(), failure);
  failure.delivered = Delivered::no;
  retries_.end_all(failure);
  if (clients) end_message(clients->id, failure);
}

void EraSession::try_failed(Failure failure) {
  if (doubt_.tries_another()) {
    doubt_.another_session_failed();
    return;
  }
  failure = failure_of_opening(std::move(failure));
  stop_try();
  phase_ = Phase::waiting;
  if (given_up() != nullptr) {
    give_up_initialize();
    return;
  }
  failure.delivered = Delivered::no;
  ++record_.counts.failed_tries;
  const auto& before = record_.last_failure;
  if (!before || before->message != failure.message || !retries_.has_failed()) {
    log_.peer(LogLevel::warning, "cannot open a session",
              "cannot open a session with {}: {}; trying again", upstream_.target(),
              log_text(failure));
  }
  retries_.try_failed(failure.retry_after);
  note_failure(failure);
}

/// `unrestored`: resources that are still to be subscribed.
void EraSession::opening_done(const std::deque<std::string>& unrestored) {
  const bool was_lost = std::exchange(replaces_other_era_, false) || is_lost();
  ++saved_.number;
  saved_.unanswered.clear();  // they belonged to another session
  ++record_.counts.opened;
  phase_ = Phase::open;
  initialize_ = {};
  record_.last_failure.reset();
  record_.opened_at = loop_.now();
  begin_watching();
  if (was_lost) {
    ++record_.counts.reopened;
    log_.peer(LogLevel::info, "session reopened", "session with {} opened again",
              upstream_.target());
    record_.reopening = {loss_, loop_.wall_time()};
    events_->session_replaced(era(), *record_.reopening, saved_.server->declared_list_changes());
  } else {
    log_.peer(LogLevel::info, "session opened", "session with {} open, protocol version {}",
              upstream_.target(), printable(saved_.server->protocol_version(), 40));
  }
  retries_.send_ready();
  events_->session_open();
  for (const std::string& uri : unrestored) events_->subscription_unrestored(uri);
}

}  // namespace bridge
