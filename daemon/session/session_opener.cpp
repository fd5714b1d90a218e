#include "session/session_opener.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "json/reply.hpp"
#include "mcp/discovery.hpp"
#include "mcp/handshake.hpp"
#include "mcp/request_meta.hpp"
#include "session/era_choice.hpp"
#include "session/era_session.hpp"
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

bool wants_it_later(const Ending& ending) {
  const auto& failure = ending.failure;
  return failure && ending.session == SessionVerdict::kept && failure->delivered == Delivered::no &&
         (failure->retry_after || failure->status == 429);
}

}  // namespace

SessionOpener::SessionOpener(EventLoop& loop, EraSession& session)
    : session_(session), slow_(loop, [this] { session_.choice_.era_is_slow(session_.era()); }) {}

bool SessionOpener::is_coming() const {
  const bool is_asked_for = initialize_.clients || session_.options_.client_capabilities;
  return session_.phase_ == EraSession::Phase::opening ||
         (session_.phase_ == EraSession::Phase::waiting && session_.retries_.has_next_try() &&
          is_asked_for);
}

bool SessionOpener::wants_initialize() const {
  if (session_.is_modern() || session_.options_.client_capabilities || session_.saved_.number > 0 ||
      session_.has_ended())
    return false;
  return session_.phase_ == EraSession::Phase::idle ||
         session_.phase_ == EraSession::Phase::refused ||
         (session_.phase_ == EraSession::Phase::waiting && !initialize_.clients);
}

void SessionOpener::require() {
  // A client that is answered during the opening may require the session in the same turn.
  if (session_.has_ended() || session_.is_open() || session_.is_trying() ||
      session_.phase_ == EraSession::Phase::opening)
    return;
  if (session_.has_session() ||
      (session_.phase_ == EraSession::Phase::waiting && session_.retries_.has_next_try())) {
    session_.retries_.try_soon();
    return;
  }
  start_try();
}

void SessionOpener::note_overdue() { session_.is_overdue_ = true; }

void SessionOpener::logged_in() {
  session_.retries_.logged_in();
  const auto& failure = session_.record_.last_failure;
  if (!failure || failure->kind != ErrorKind::auth) return;
  session_.record_.last_failure.reset();
  if (session_.is_open()) return;
  if (session_.phase_ == EraSession::Phase::refused) session_.phase_ = EraSession::Phase::idle;
  session_.events_->session_away(session_.era());  // frames wait for a session from now on
  session_.retries_.try_now();
  if (session_.phase_ == EraSession::Phase::waiting && session_.retries_.has_next_try())
    start_try();
}

std::uint32_t SessionOpener::number() const {
  if (session_.opening_.has_handshake()) return session_.saved_.number + 1;
  // While another session is tried, this one may go on.
  const bool exists = session_.has_session() || session_.doubt_.tries_another();
  return exists ? session_.saved_.number : 0;
}

bool SessionOpener::awaits_login() const {
  const auto& failure = session_.record_.last_failure;
  return session_.options_.login_wait.count() > 0 && failure && wants_login(*failure);
}

void SessionOpener::open_with(UpstreamId id, std::string body, std::string params) {
  initialize_ = {InitializeRequest::Clients{id, std::move(body)}, std::move(params)};
  if (session_.phase_ == EraSession::Phase::waiting) {
    require();
  } else {
    start_try();
  }
}

void SessionOpener::withdraw_initialize(UpstreamId id) {
  if (initialize_.clients && initialize_.clients->id == id) initialize_.clients.reset();
}

void SessionOpener::give_up_initialize() {
  if (!initialize_.clients) return;
  const UpstreamId id = initialize_.clients->id;
  withdraw_initialize(id);
  session_.loss_.end_message(id, *session_.given_up());
}

/// The params of the last session; else the bridge's own, with what the request that needs the
/// session declares.
std::string SessionOpener::own_params() const {
  if (!session_.saved_.initialize_params.empty()) return session_.saved_.initialize_params;
  const auto& given = session_.options_.client_capabilities;
  if (given) return own_initialize_params(*given);
  return own_initialize_params(
      merge_capabilities(session_.events_->capabilities_of_opener(), own_capabilities));
}

void SessionOpener::start_try() {
  session_.phase_ = EraSession::Phase::opening;
  session_.retries_.begin_try();
  if (!session_.upstream_.has_answer_streams()) slow_.set_after(slow);
  if (session_.is_modern()) {
    session_.upstream_.session_opened({.version = newest_version, .is_stateful = false});
    session_.opening_.probe(session_.options_.connect_wait);
  } else {
    if (!initialize_.clients) initialize_.params = own_params();
    send_initialize();
  }
}

void SessionOpener::stop_try() {
  slow_.clear();
  session_.opening_.stop();
}

void SessionOpener::send_initialize() {
  if (!session_.doubt_.tries_another()) session_.upstream_.session_over();
  Outgoing message;
  message.id = initialize_.clients ? initialize_.clients->id : session_.sender_.ids().next();
  message.owner = MessageOwner::opening;
  message.may_repeat = true;
  message.opens_session = true;
  message.body = initialize_.clients ? initialize_.clients->body
                                     : own_request(message.id, "initialize", initialize_.params);
  session_.opening_.begin_initialize(std::move(message), session_.options_.connect_wait);
}

void SessionOpener::step_answered(UpstreamId id, std::optional<UpstreamId> origin, Frame frame) {
  session_.opening_.note_answer();
  if (session_.opening_.step() == Opening::Step::probe) {
    session_.opening_.probe_answered(frame);
    return;
  }
  const bool is_initialize = session_.opening_.is_initializing();
  session_.opening_.ended(id);
  if (is_initialize) initialize_answered(origin, std::move(frame));
}

void SessionOpener::step_ended(UpstreamId id, Ending ending) {
  if (session_.opening_.step() == Opening::Step::probe) {
    session_.opening_.probe_ended(ending);
  } else if (session_.opening_.is_initializing()) {
    session_.opening_.ended(id);
    initialize_ended(std::move(ending));
  } else if (ending.failure && ending.failure->kind == ErrorKind::auth) {
    refuse(*ending.failure);
  } else if (ending.unanswered && session_.opening_.is_restoring() && wants_it_later(ending)) {
    // The server exists and has opened a session: so many subscriptions at once may be too many.
    session_.opening_.put_off(
        std::move(*ending.unanswered),
        std::max(ending.failure->retry_after.value_or(Backoff::first), Backoff::first));
  } else if (ending.failure && (ending.session == SessionVerdict::lost ||
                                ending.failure->delivered == Delivered::no)) {
    try_failed(std::move(*ending.failure));
  } else {
    session_.opening_.ended(id);
  }
}

void SessionOpener::probe_found_modern(std::string discover_result) {
  slow_.clear();
  session_.saved_.server = ServerDescription::discovered(std::move(discover_result),
                                                         std::string(session_.upstream_.target()));
  session_.record_.server_stream = ServerStream::off;
  session_.choice_.era_found(session_.era());
  if (initialize_.clients) answer_initialize();
  opening_done({});
}

void SessionOpener::probe_found_legacy(bool for_good, Failure refusal) {
  if (const auto failure =
          session_.choice_.era_refused(session_.era(), {for_good, std::move(refusal)}))
    reject(*failure);
}

/// The server no longer knows, or never knew, this client's `initialize`.
void SessionOpener::answer_initialize() {
  const UpstreamId id = std::exchange(initialize_.clients, std::nullopt)->id;
  const std::string asked = protocol_version_of(initialize_.params);
  auto response = parse_frame(result_reply(std::to_string(value_of(id)),
                                           session_.saved_.server->initialize_result_for(asked)));
  session_.events_->message_received(session_.era(), std::nullopt,
                                     std::move(std::get<Frame>(response)));
}

void SessionOpener::initialize_answered(std::optional<UpstreamId> origin, Frame frame) {
  if (!frame.result.present()) {
    const Failure failure = failure_of_initialize_error(frame.text(frame.error));
    if (hand_initialize_over(failure, SessionVerdict::kept)) return;
    if (is_clients_alone(failure)) {
      refuse_client(failure);
      session_.events_->message_received(session_.era(), origin, std::move(frame));
      session_.events_->session_closed(session_.era());
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
  const std::string before =
      session_.saved_.server ? session_.saved_.server->protocol_version() : std::string();
  if (!before.empty() && version != before) {
    session_.log_.peer(LogLevel::warning, "protocol version changed",
                       "the upstream now speaks protocol version {} (before: {})",
                       printable(version, 40), printable(before, 40));
  }
  slow_.clear();
  if (session_.doubt_.tries_another()) session_.doubt_.another_session_opened();
  session_.saved_.initialize_params = initialize_.params;
  session_.saved_.server = std::move(server);
  session_.choice_.era_found(session_.era());
  session_.record_.server_stream = ServerStream::waiting;
  if (std::exchange(initialize_.clients, std::nullopt))
    session_.events_->message_received(session_.era(), origin, std::move(frame));
  session_.opening_.handshake_done(session_.saved_.server->protocol_version());
}

void SessionOpener::initialize_ended(Ending ending) {
  const SessionVerdict verdict = ending.session;
  const Failure failure =
      failure_of_initialize_ending(std::move(ending), session_.opening_.malformed());
  if (!hand_initialize_over(failure, verdict)) opening_failed(failure);
}

/// The server refuses `initialize` as a modern one does: probes whether it is modern. False if it
/// was refused for another reason.
bool SessionOpener::hand_initialize_over(const Failure& refusal, SessionVerdict verdict) {
  const auto error = error_of(refusal);
  if (session_.doubt_.tries_another() || verdict != SessionVerdict::kept ||
      !is_refused_as_modern(refusal.status, error ? &*error : nullptr))
    return false;
  const auto failure = session_.choice_.era_refused(session_.era(), {true, refusal});
  if (failure) reject(*failure);
  return true;
}

void SessionOpener::hand_over_to(SessionOpener& other) {
  stop_try();
  session_.retries_.settled();
  if (std::exchange(replaces_other_era_, false) || session_.is_lost()) {
    other.replaces_other_era_ = true;
    other.session_.loss_reason_ = session_.loss_reason_;
  }
  session_.phase_ = EraSession::Phase::idle;
  session_.record_.last_failure.reset();
  session_.is_overdue_ = false;
  if (auto clients = std::exchange(initialize_, {}); clients.clients)
    other.initialize_ = std::move(clients);
  for (HeldMessage& held : session_.retries_.take_all())
    other.session_.retries_.take_over(std::move(held));
}

void SessionOpener::serve_what_was_handed_over() {
  replaces_other_era_ = false;
  if (initialize_.clients) answer_initialize();
  session_.retries_.send_ready();
}

void SessionOpener::opening_failed(const Failure& failure) {
  if (is_definitive(failure)) {
    reject(failure);
    return;
  }
  const bool ended_again = session_.opening_.note_ended_run(failure);
  try_failed(failure);
  if (ended_again && session_.given_up() == nullptr) fail_waiting();
}

/// Ends the opening with a refusal that would be repeated.
void SessionOpener::reject(const Failure& failure) {
  if (!is_clients_alone(failure)) {
    refuse(failure);
    return;
  }
  const UpstreamId id = initialize_.clients->id;
  refuse_client(failure);
  session_.loss_.end_message(id, failure);
  session_.events_->session_closed(session_.era());
}

/// Whether the refusal concerns only this client's request; other clients may try with theirs.
bool SessionOpener::is_clients_alone(const Failure& failure) const {
  return initialize_.clients && !session_.is_lost() && is_clients_answer(failure);
}

void SessionOpener::refuse_client(const Failure& failure) {
  stop_try();
  session_.phase_ = EraSession::Phase::refused;
  session_.record_.last_failure = failure_of_opening(failure);
  initialize_ = {};
  session_.retries_.try_later();
  session_.log_.peer(LogLevel::warning, "initialize refused",
                     "the upstream refused a client's initialize");
}

/// Waiting messages wait for --login-wait, each from its arrival; the upstream is asked at
/// intervals whether it still wants a login. False: no login is awaited.
bool SessionOpener::await_login(const Failure& failure) {
  if (session_.options_.login_wait.count() == 0 || !wants_login(failure)) return false;
  Failure passing = failure;
  passing.retry_after = between_questions;
  try_failed(std::move(passing));
  if (session_.record_.last_failure) session_.record_.last_failure->retry_after.reset();
  session_.events_->session_awaits_login();
  return true;
}

// All state is settled before events are reported: the router may require a session at once.
void SessionOpener::refuse(const Failure& refusal) {
  if (session_.doubt_.tries_another()) {
    session_.doubt_.another_session_refused();
    return;
  }
  if (await_login(refusal)) return;
  Failure failure = failure_of_opening(refusal);
  ++session_.record_.counts.failed_tries;
  stop_try();
  session_.phase_ = EraSession::Phase::refused;
  session_.retries_.forget_failures();
  session_.retries_.try_later();
  const bool is_news =
      !session_.record_.last_failure || session_.record_.last_failure->message != failure.message;
  session_.loss_.note_failure(failure);
  const auto clients = std::exchange(initialize_, {}).clients;
  if (is_news || clients) {
    session_.log_.peer(LogLevel::error, "session refused", "the upstream {} refuses a session: {}",
                       session_.upstream_.target(), log_text(failure));
  }
  session_.events_->session_refused(session_.era(), failure);
  failure.delivered = Delivered::no;
  session_.retries_.end_all(failure);
  if (clients) session_.loss_.end_message(clients->id, failure);
}

/// Everything that waits ends with the failure of this attempt: another one soon would not help.
void SessionOpener::fail_waiting() {
  const Failure failure = *session_.record_.last_failure;
  const auto clients = std::exchange(initialize_.clients, std::nullopt);
  session_.events_->session_refused(session_.era(), failure);
  session_.retries_.end_all(failure);
  if (clients) session_.loss_.end_message(clients->id, failure);
}

void SessionOpener::try_failed(Failure failure) {
  if (session_.doubt_.tries_another()) {
    session_.doubt_.another_session_failed();
    return;
  }
  failure = failure_of_opening(std::move(failure));
  stop_try();
  session_.phase_ = EraSession::Phase::waiting;
  if (session_.given_up() != nullptr) {
    give_up_initialize();
    return;
  }
  failure.delivered = Delivered::no;
  ++session_.record_.counts.failed_tries;
  const auto& before = session_.record_.last_failure;
  if (!before || before->message != failure.message || !session_.retries_.has_failed()) {
    session_.log_.peer(LogLevel::warning, "cannot open a session",
                       "cannot open a session with {}: {}; trying again",
                       session_.upstream_.target(), log_text(failure));
  }
  session_.retries_.try_failed(failure.retry_after);
  session_.loss_.note_failure(failure);
}

SessionSettings SessionOpener::settings_to_restore() const { return session_.events_->settings(); }

void SessionOpener::opening_done(const std::deque<std::string>& unrestored) {
  const bool was_lost = std::exchange(replaces_other_era_, false) || session_.is_lost();
  ++session_.saved_.number;
  session_.saved_.unanswered.clear();  // they belonged to another session
  ++session_.record_.counts.opened;
  session_.phase_ = EraSession::Phase::open;
  initialize_ = {};
  session_.record_.last_failure.reset();
  session_.record_.opened_at = session_.loop_.now();
  session_.begin_watching();
  if (was_lost) {
    ++session_.record_.counts.reopened;
    session_.log_.peer(LogLevel::info, "session reopened", "session with {} opened again",
                       session_.upstream_.target());
    session_.record_.reopening = {session_.loss_reason_, session_.loop_.wall_time()};
    session_.events_->session_replaced(session_.era(), *session_.record_.reopening,
                                       session_.saved_.server->declared_list_changes());
  } else {
    session_.log_.peer(LogLevel::info, "session opened",
                       "session with {} open, protocol version {}", session_.upstream_.target(),
                       printable(session_.saved_.server->protocol_version(), 40));
  }
  session_.retries_.send_ready();
  session_.events_->session_open();
  for (const std::string& uri : unrestored) session_.events_->subscription_unrestored(uri);
}

}  // namespace bridge
