// Opening the session: initialize, the server stream, initialized, what is to be restored.
#include <algorithm>
#include <utility>

#include "mcp/handshake.hpp"
#include "session/opening_failure.hpp"
#include "session/session.hpp"
#include "text/header_text.hpp"
#include "text/json_text.hpp"

namespace bridge {
namespace {

/// How long the opening waits for the server stream; it goes on without it.
constexpr std::chrono::seconds server_stream_patience{1};
/// What is restored is worth less than the session: it does not keep it shut.
constexpr std::chrono::seconds restoring_patience{5};
/// An `initialize` may take so many times --connect-wait, twice as long at each further try: a
/// server may be slow to start, but the connection may also be dead without anybody saying so.
constexpr int initialize_patience = 6;
constexpr int max_doublings = 4;
/// A frame that comes while the next try is far away brings it this near to the last one.
constexpr std::chrono::milliseconds impatient{500};

bool is_definitive(const Failure& failure) {
  if (failure.definitive || !failure.error_object.empty()) return true;
  return failure.status >= 400 && failure.status < 500 && failure.status != 429;
}

/// A server that knows only revisions without `initialize`: says so in the bridge's own words, and
/// keeps its own beside them. Returns whether it is one.
bool tell_of_newer_revision(Failure& failure) {
  if (!speaks_only_newer(failure.error_object)) return false;
  failure.kind = ErrorKind::session;
  failure.delivered = Delivered::no;
  failure.definitive = true;
  failure.message = fmt::format(
      "this server speaks only MCP {}, which this version of the bridge does not support yet",
      newest_version);
  failure.summary.clear();
  failure.upstream_error = std::exchange(failure.error_object, std::string());
  return true;
}

}  // namespace

bool Session::wants_initialize() const {
  if (options_.client_capabilities || lost_ || alive_ || ending_) return false;
  return state_ == State::idle || state_ == State::refused ||
         (state_ == State::waiting && !initialize_is_clients_);
}

void Session::require() {
  if (ending_ || is_open() || is_trying()) return;
  if (state_ == State::waiting && (next_try_ || alive_)) {
    const SteadyTime soon = std::max({last_try_ + impatient, not_before_, loop_.now()});
    if (!next_try_ || soon < *next_try_) next_try_ = soon;
    schedule();
    return;
  }
  if (!initialize_is_clients_) {
    initialize_body_.clear();
    initialize_params_ = params_of_own_initialize();
  }
  start_try();
}

void Session::open_with(UpstreamId id, std::string body, std::string params) {
  initialize_id_ = id;
  initialize_body_ = std::move(body);
  initialize_params_ = std::move(params);
  initialize_is_clients_ = true;
  if (state_ == State::waiting) {
    require();
  } else {
    start_try();
  }
}

void Session::withdraw_initialize(UpstreamId id) {
  if (id != initialize_id_ || !initialize_is_clients_) return;
  initialize_is_clients_ = false;
  initialize_body_.clear();
}

/// What the last session was opened with, else the bridge's own.
std::string Session::params_of_own_initialize() const {
  if (!kept_params_.empty()) return kept_params_;
  const auto& given = options_.client_capabilities;
  return own_initialize_params(given ? std::string_view(*given) : own_capabilities);
}

void Session::start_try() {
  if (initialize_params_.empty()) initialize_params_ = params_of_own_initialize();
  next_try_.reset();
  last_try_ = loop_.now();
  state_ = lost_ ? State::reopening : State::opening;
  step_ = Step::initialize;
  malformed_answer_ = {};
  Outgoing message;
  if (!initialize_is_clients_) initialize_id_ = ids_.next();
  message.id = initialize_id_;
  message.may_repeat = true;
  message.opens_session = true;
  message.body = initialize_is_clients_
                     ? initialize_body_
                     : own_request(initialize_id_, "initialize", initialize_params_);
  upstream_.session_over();
  send(std::move(message));
  const auto wait =
      std::max<std::chrono::milliseconds>(options_.connect_wait, std::chrono::seconds(1));
  step_timer_.set_after(wait * (initialize_patience << std::min(unanswered_tries_, max_doublings)));
}

/// Nothing has come of it, not even an end: asked again on another connection, as it only reads.
void Session::initialize_unanswered() {
  ++unanswered_tries_;
  upstream_.abandon(initialize_id_);
  Failure failure;
  failure.kind = ErrorKind::timeout;
  failure.message = "the upstream does not answer initialize";
  try_failed(std::move(failure));
}

void Session::initialize_answered(std::optional<UpstreamId> origin, Frame frame) {
  step_timer_.clear();
  const bool is_clients = initialize_is_clients_;
  initialize_is_clients_ = false;
  if (!frame.result.present()) {
    Failure failure;
    failure.kind = ErrorKind::session;
    failure.delivered = Delivered::no;
    failure.message = "the upstream refuses to initialize a session";
    failure.error_object = std::string(frame.text(frame.error));
    if (tell_of_newer_revision(failure)) {
      refuse_answer(failure, is_clients);
      return;
    }
    step_ = Step::none;
    last_failure_ = failure_of_opening(failure);
    if (is_clients && !lost_) {
      // It concerns this client alone; who else waits may try with another.
      state_ = State::refused;
      initialize_params_.clear();
      log_.peer(LogLevel::warning, "initialize refused",
                "the upstream refused a client's initialize");
      events_->session_message(origin, std::move(frame));
      events_->session_closed();
    } else {
      refuse(failure);
    }
    return;
  }
  const std::string version = protocol_version_of(frame.text(frame.result));
  if (!version.empty() && !fits_header(version, header_limit::protocol_version)) {
    Failure failure =
        definitive_failure_of(ErrorKind::malformed, "the upstream's protocolVersion is none");
    failure.summary = failure.message;
    failure.message += fmt::format(": '{}'", printable(version, 40));
    refuse_answer(failure, is_clients);
    return;
  }
  kept_params_ = initialize_params_;
  kept_result_ = std::string(frame.text(frame.result));
  if (!protocol_version_.empty() && version != protocol_version_) {
    log_.peer(LogLevel::warning, "protocol version changed",
              "the upstream now speaks protocol version {} (before: {})", printable(version, 40),
              printable(protocol_version_, 40));
  }
  protocol_version_ = version;
  if (is_clients) events_->session_message(origin, std::move(frame));
  open_stream();
}

/// What was answered ends the opening, and whoever has asked for it gets the bridge's own error.
void Session::refuse_answer(const Failure& failure, bool is_clients) {
  initialize_is_clients_ = is_clients;
  refuse(failure);
}

void Session::initialize_echoed() {
  upstream_.abandon(initialize_id_);
  step_timer_.clear();
  refuse(definitive_failure_of(
      ErrorKind::malformed,
      "the upstream sends back what it is sent, as an echo does: it is no MCP server"));
}

void Session::initialize_ended(Ending ending) {
  step_timer_.clear();
  Failure failure;
  if (ending.failure) {
    failure = std::move(*ending.failure);
    tell_of_newer_revision(failure);
  } else {
    failure.kind = ending.something_came ? ErrorKind::malformed : ErrorKind::closed;
    failure.message = malformed_answer_.empty()
                          ? "the upstream's answer to initialize has no result in it"
                          : fmt::format("the upstream's answer to initialize is no message: {}",
                                        malformed_answer_);
  }
  if (!is_definitive(failure)) {
    try_failed(std::move(failure));
    return;
  }
  step_ = Step::none;
  last_failure_ = failure_of_opening(failure);
  if (initialize_is_clients_ && !failure.error_object.empty() && !lost_) {
    initialize_is_clients_ = false;
    initialize_params_.clear();
    state_ = State::refused;
    log_.peer(LogLevel::warning, "initialize refused",
              "the upstream refused a client's initialize");
    Ending refused;
    refused.failure = std::move(failure);
    events_->session_ended(initialize_id_, std::move(refused));
    events_->session_closed();
  } else {
    refuse(failure);
  }
}

// Everything is settled before anybody is told: who is told may ask for a session at once.
void Session::refuse(const Failure& refusal) {
  const Failure failure = failure_of_opening(refusal);
  ++counts_.failed_tries;
  step_ = Step::none;
  state_ = State::refused;
  alive_ = false;
  last_failure_ = failure;
  next_try_.reset();
  backoff_.reset();
  initialize_params_.clear();
  const bool was_clients = std::exchange(initialize_is_clients_, false);
  const UpstreamId initialize = initialize_id_;
  const std::vector<HeldMessage> held = held_.take_all();
  schedule();
  log_.peer(LogLevel::error, "session refused", "the upstream refuses a session: {}",
            log_text(failure));
  events_->session_failed(failure);
  events_->session_refused(failure);
  Ending refused;
  refused.failure = failure;
  refused.failure->delivered = Delivered::no;
  for (const HeldMessage& one : held) events_->session_ended(one.message.id, refused);
  if (was_clients) events_->session_ended(initialize, refused);
}

/// Ends the opening where it is. What it has sent is not waited for: the next try sends it anew.
void Session::leave_step() {
  step_ = Step::none;
  step_timer_.clear();
  for (const UpstreamId id : std::exchange(step_ids_, {})) upstream_.abandon(id);
}

void Session::try_failed(Failure failure) {
  failure = failure_of_opening(std::move(failure));
  leave_step();
  state_ = State::waiting;
  alive_ = false;
  if (given_up_) {
    give_up_initialize();
    return;
  }
  failure.delivered = Delivered::no;
  ++counts_.failed_tries;
  const bool first_of_kind = !last_failure_ || last_failure_->message != failure.message;
  const bool is_first = !backoff_.has_begun();
  std::chrono::milliseconds delay = next_delay();
  if (failure.retry_after) {
    delay = std::max(delay, std::min(*failure.retry_after, Backoff::longest));
    not_before_ = loop_.now() + delay;
  }
  if (first_of_kind || is_first) {
    log_.peer(LogLevel::warning, "cannot open a session",
              "cannot open a session with {}: {}; trying again", upstream_.target(),
              log_text(failure));
  }
  events_->session_failed(failure);
  last_failure_ = std::move(failure);
  if (is_wanted()) {
    set_next_try(delay);
  } else {
    next_try_.reset();
    schedule();
  }
}

void Session::open_stream() {
  step_ = Step::server_stream;
  server_stream_ = ServerStream::waiting;
  step_timer_.set_after(server_stream_patience);
  upstream_.session_opened(protocol_version_);
}

void Session::send_initialized() {
  step_timer_.clear();
  step_ = Step::initialized;
  step_ids_ = {send_own(OutgoingKind::notification, "notifications/initialized", {})};
}

// In a new session that takes the place of a lost one: the log level, then all subscriptions at
// once.
void Session::restore() {
  step_ = Step::log_level;
  step_timer_.set_after(restoring_patience);
  for (const auto& one : events_->state_to_restore()) {
    if (one.method != "logging/setLevel") continue;
    step_ids_.push_back(send_own(OutgoingKind::request, one.method, one.params));
  }
  if (step_ids_.empty()) restore_subscriptions();
}

void Session::restore_subscriptions() {
  step_ = Step::subscriptions;
  step_timer_.set_after(restoring_patience);
  for (const auto& one : events_->state_to_restore()) {
    if (one.method == "logging/setLevel") continue;
    step_ids_.push_back(send_own(OutgoingKind::request, one.method, one.params));
  }
  if (step_ids_.empty()) become_open();
}

void Session::step_unanswered() {
  switch (step_) {
    case Step::initialize: initialize_unanswered(); break;
    case Step::server_stream: send_initialized(); break;
    case Step::log_level:
    case Step::subscriptions:
      log_.peer(LogLevel::warning, "session not restored",
                "{} did not answer while {} restored in the new session; going on without",
                upstream_.target(),
                step_ == Step::log_level ? "the log level was" : "subscriptions were");
      for (const UpstreamId id : std::exchange(step_ids_, {})) upstream_.abandon(id);
      next_step();
      break;
    case Step::none:
    case Step::initialized: break;
  }
}

void Session::step_ended(UpstreamId id) {
  std::erase(step_ids_, id);
  if (step_ids_.empty()) next_step();
}

void Session::next_step() {
  switch (step_) {
    case Step::initialized:
      if (lost_) {
        restore();
      } else {
        become_open();
      }
      break;
    case Step::log_level: restore_subscriptions(); break;
    case Step::subscriptions: become_open(); break;
    case Step::none:
    case Step::initialize:
    case Step::server_stream: break;
  }
}

void Session::become_open() {
  ++number_;
  ++counts_.opened;
  unanswered_tries_ = 0;
  step_timer_.clear();
  step_ = Step::none;
  state_ = State::open;
  alive_ = true;
  initialize_params_.clear();
  last_failure_.reset();
  opened_at_ = loop_.now();
  watch_silence();
  if (std::exchange(lost_, false)) {
    ++counts_.reopened;
    log_.peer(LogLevel::info, "session reopened", "session with {} opened again",
              upstream_.target());
    events_->session_replaced(declared_list_changes(kept_result_));
  } else {
    log_.peer(LogLevel::info, "session opened", "session with {} open, protocol version {}",
              upstream_.target(), printable(protocol_version_, 40));
  }
  release_held();
  schedule();
  events_->session_open();
}

}  // namespace bridge
