#include "session/era_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/discovery.hpp"
#include "mcp/handshake.hpp"
#include "session/opening.hpp"
#include "session/retries.hpp"

namespace bridge {

std::string_view name_of(EraSession::State state) {
  switch (state) {
    case EraSession::State::idle: return "idle";
    case EraSession::State::opening: return "opening";
    case EraSession::State::open: return "open";
    case EraSession::State::reopening: return "reopening";
    case EraSession::State::waiting: return "waiting";
    case EraSession::State::refused: return "refused";
  }
  return "idle";
}

EraSession::EraSession(Era era, EventLoop& loop, UpstreamIdSource& ids, Upstream& upstream,
                       MessageTap& tap, Log& log, const SessionOptions& options, EraOwner& owner)
    : loop_(loop),
      upstream_(upstream),
      log_(log),
      options_(options),
      owner_(owner),
      sender_(loop, ids, upstream, tap, era, kept_.number),
      probe_(loop, sender_, upstream, probe_events()),
      opening_(loop, sender_, upstream, log, opening_events()),
      listen_(loop, sender_, upstream, log, listen_events()),
      event_streams_(loop, sender_, upstream, log, options_.events),
      keep_alive_(loop, sender_, upstream, log, options_.keepalive),
      // Nothing says that the session is lost: the refusals stand. Nobody waits longer for the
      // ping than for the session itself.
      doubts_(loop, sender_, upstream, [this] { resolve_doubts(false); }),
      retries_(loop, retry_events()),
      slow_(loop, [this] { owner_.era_is_slow(this->era()); }) {}

EraProbe::Events EraSession::probe_events() {
  return {
      .found_modern =
          [this](std::string discover_result) { probe_found_modern(std::move(discover_result)); },
      .found_legacy = [this](bool for_good,
                             Failure refusal) { probe_found_legacy(for_good, std::move(refusal)); },
      .failed = [this](Failure failure) { probe_failed(std::move(failure)); }};
}

Opening::Events EraSession::opening_events() {
  return {.initialize_unanswered = [this] { initialize_unanswered(); },
          .settings_to_restore = [this] { return settings_to_restore(); },
          .done = [this] { opening_done(); }};
}

UpstreamListen::Events EraSession::listen_events() {
  return {.changed = [this](ServerStream state) { listen_changed(state); },
          .acknowledged = [this] { events_->listen_acknowledged(); },
          .resumed = [this](const SubscriptionFilter& filter) { listen_resumed(filter); }};
}

Retries::Events EraSession::retry_events() {
  return {.can_send_held = [this] { return is_open(); },
          .send_held = [this](Outgoing message) { send_held(std::move(message)); },
          .end_message = [this](UpstreamId id,
                                Failure failure) { end_message(id, std::move(failure)); },
          .try_again = [this] { try_again(); }};
}

EraSession::State EraSession::state() const {
  switch (phase_) {
    case Phase::idle: return State::idle;
    case Phase::opening: return is_lost() ? State::reopening : State::opening;
    case Phase::open: return record_.last_failure ? State::refused : State::open;
    case Phase::away: return State::waiting;
    case Phase::taking_up: return State::reopening;
    case Phase::waiting: return State::waiting;
    case Phase::refused: return State::refused;
  }
  return State::idle;
}

const Failure* EraSession::given_up() const {
  const auto* giving_up = std::get_if<GivingUp>(&life_);
  return giving_up != nullptr ? &giving_up->failure : nullptr;
}

/// The session serves: the next loss of it is the first one.
void EraSession::note_answer() {
  retries_.forget_failures();
  if (!is_open()) return;
  record_.last_failure.reset();
  if (std::exchange(refusal_is_logged_, false)) {
    log_.peer(LogLevel::info, "upstream accepts", "the upstream {} accepts requests again",
              upstream_.target());
  }
}

std::optional<UpstreamId> EraSession::one_message(std::optional<UpstreamId> origin, Frame&& frame) {
  if (opening_.is_echo(frame)) {
    initialize_echoed();
    return std::nullopt;
  }
  if (probe_.is_echo(frame)) {
    probe_.stop();
    turn_away(definitive_failure_of(ErrorKind::malformed, echo_text));
    return std::nullopt;
  }
  if (is_modern() && frame.is_notification() && take_notification(origin, frame))
    return std::nullopt;
  const UpstreamId id = request_answered_by(frame, origin);
  if (const OwnRequest own = which_own(id); own != OwnRequest::none) {
    own_answered(own, id, origin, std::move(frame));
    return id;
  }
  const auto answered = events_->session_message(era(), origin, std::move(frame));
  if (answered) {
    forget_unsent(*answered);
    note_answer();
  }
  return answered;
}

void EraSession::note_malformed(std::optional<UpstreamId> origin, std::string_view reason) {
  if (origin && opening_.is_initialize(*origin)) opening_.note_malformed(reason);
  events_->session_malformed(origin, reason);
}

UpstreamId request_answered_by(const Frame& frame, std::optional<UpstreamId> origin) {
  if (!frame.is_response()) return {};
  if (frame.id_is_null) return origin.value_or(UpstreamId{});
  return static_cast<UpstreamId>(to_unsigned(frame.text(frame.id)).value_or(0));
}

void EraSession::upstream_ended(UpstreamId id, Ending ending) {
  if (own_ended(id, ending)) return;
  if (ending.failure) note_other_era(ending);
  if (ending.failure && ending.unanswered) {
    message_failed(std::move(ending));
    return;
  }
  if (!ending.failure) upstream_reachable();
  const SessionVerdict verdict = ending.session;
  if (ending.failure) note_turned_away(*ending.failure);
  events_->session_ended(id, std::move(ending));
  if (verdict == SessionVerdict::lost) lose("the continuation of an answer was refused");
  if (verdict == SessionVerdict::doubtful) confirm();
}

void EraSession::server_stream_changed(ServerStream state) {
  if (is_modern()) return;  // it is listened to
  record_.server_stream = state;
  // Open or refused: the opening need not wait longer for it. A refused one is tried again beside.
  if (state != ServerStream::waiting) opening_.server_stream_answered();
}

void EraSession::upstream_reachable() {
  if (phase_ == Phase::away) {
    came_back();
  } else if (phase_ == Phase::taking_up) {
    taken_up();
  }
}

void EraSession::upstream_lost_session() {
  if (!opening_.is_under_way() || opening_.is_initializing()) {
    lose("the upstream says so");
    return;
  }
  // It was not open yet: this try has failed. What it has asked has no answer.
  try_failed(failure_of(ErrorKind::closed, Delivered::no,
                        "the session was lost while it was being opened"));
}

void EraSession::reconfigure() {
  keep_alive_.set_interval(options_.keepalive);
  if (is_open() && !is_modern()) keep_alive_.watch();
}

void EraSession::end() {
  life_ = Ended{};
  retries_.stop();
  slow_.clear();
  probe_.forget();
  opening_.forget();
  close_streams();
  keep_alive_.stop();
  doubts_.take_all();
}

// A session that outlives the daemon, or an image of its program: what of it is kept, and how the
// next one goes on.

void EraSession::continue_from(Kept kept) {
  kept_ = std::move(kept);
  loss_ = ReopeningReason::restarted;
}

void EraSession::take_up(const SessionReference& reference) {
  if (!upstream_.session_continued(kept_.server->protocol_version(), reference)) {
    require();
    return;
  }
  phase_ = Phase::taking_up;
  record_.server_stream = ServerStream::waiting;
  retries_.begin_try();
  keep_alive_.ping_at_once();
}

SavedStreams EraSession::save_streams() const {
  SavedStreams streams;
  if (!is_modern() || !is_there()) return streams;
  streams.had_listen = listen_.had_stream();
  streams.listen = listen_.acknowledged_stream();
  streams.events = event_streams_.save();
  return streams;
}

void EraSession::restore_in(const SessionReference& reference, const SavedStreams& streams) {
  if (is_modern()) {
    upstream_.set_stateless_version(newest_version);
  } else if (!upstream_.session_continued(kept_.server->protocol_version(), reference)) {
    require();
    return;
  }
  phase_ = Phase::open;
  record_.opened_at = loop_.now();
  if (is_modern()) {
    const bool still_open = !upstream_.has_answer_streams();
    if (streams.had_listen) listen_.go_on_after(still_open ? streams.listen : UpstreamId{});
    event_streams_.go_on_after(streams.events, still_open);
    open_streams();
  } else {
    record_.server_stream = ServerStream::waiting;
    keep_alive_.watch();
  }
}

/// The server knows the session of the daemon before.
void EraSession::taken_up() {
  phase_ = Phase::open;
  record_.opened_at = loop_.now();
  record_.last_failure.reset();
  retries_.clear_try();
  retries_.forget_failures();
  log_.peer(LogLevel::info, "session taken up", "the session with {} is still there: taken up",
            upstream_.target());
  keep_alive_.watch();
  for (const UpstreamId id : std::exchange(kept_.unanswered, {})) {
    sender_.notify(
        "notifications/cancelled",
        fmt::format(R"({{"requestId":{},"reason":"the client is gone"}})", value_of(id)));
  }
  retries_.send_ready();
  events_->session_open();
}

/// The server was reached, but says neither that it knows the session nor that it does not.
void EraSession::not_taken_up(const Failure& failure) {
  const bool may_pass = failure.status == 401 || failure.status == 403 || failure.status == 408 ||
                        failure.status == 429 || failure.status < 400 || failure.status >= 500;
  if (!may_pass) {
    lose("a ping in it was refused");
    return;
  }
  record_.last_failure = failure;
  events_->session_failed(failure);
  if (awaits_login()) {
    events_->session_awaits_login();
  } else if (failure.kind == ErrorKind::auth) {
    events_->session_refused(era(), failure);
  }
  retries_.try_failed(somebody_waits());
}

// The opening of a modern session, and what a modern upstream says by itself.

void EraSession::probe_found_modern(std::string discover_result) {
  slow_.clear();
  kept_.server =
      ServerDescription::discovered(std::move(discover_result), std::string(upstream_.target()));
  record_.server_stream = ServerStream::off;
  owner_.era_found(era());
  if (initialize_.clients) answer_initialize();
  opening_done();
}

/// A client's `initialize`, which its server knows no longer or never did.
void EraSession::answer_initialize() {
  const UpstreamId id = std::exchange(initialize_.clients, std::nullopt)->id;
  const std::string asked = protocol_version_of(initialize_.params);
  auto response = parse_frame(
      result_reply(std::to_string(value_of(id)), kept_.server->initialize_result_for(asked)));
  events_->session_message(era(), std::nullopt, std::move(std::get<Frame>(response)));
}

void EraSession::probe_found_legacy(bool for_good, Failure refusal) {
  if (const auto failure = owner_.era_refused(era(), {for_good, std::move(refusal)}))
    turn_away(*failure);
}

void EraSession::probe_failed(Failure failure) {
  if (is_definitive(failure)) {
    turn_away(failure);
  } else {
    try_failed(std::move(failure));
  }
}

/// Whether it came on a stream of the session's own; what is for others is told.
bool EraSession::take_notification(std::optional<UpstreamId> origin, const Frame& notification) {
  std::optional<std::string> line;
  bool is_on_listen = false;
  if (const UpstreamId listen = listen_.stream_of(origin, notification); listen != UpstreamId{}) {
    upstream_.lift_deadline(listen);
    is_on_listen = true;
    line = listen_.take(listen, notification);
  } else if (const UpstreamId events = event_streams_.stream_of(origin, notification);
             events != UpstreamId{}) {
    upstream_.lift_deadline(events);
    line = event_streams_.take(events, notification);
  } else {
    return false;
  }
  if (!line) return true;
  auto parsed = parse_frame(std::move(*line));
  auto* const frame = std::get_if<Frame>(&parsed);
  if (frame != nullptr && is_on_listen) {
    events_->listen_told(std::move(*frame));
  } else if (frame != nullptr) {
    events_->session_message(era(), std::nullopt, std::move(*frame));
  }
  return true;
}

void EraSession::open_streams() {
  listen_.open();
  event_streams_.open();
}

void EraSession::close_streams() {
  listen_.close();
  event_streams_.close();
}

void EraSession::send_held(Outgoing message) {
  if (message.notes.stateful == is_modern()) events_->remake(message, era(), false);
  send(std::move(message));
}

void EraSession::listen_changed(ServerStream state) {
  record_.server_stream = state;
  // Refused: nothing more comes than is told already, for which nobody has to wait.
  if (state == ServerStream::none) events_->listen_acknowledged();
}

void EraSession::listen_resumed(const SubscriptionFilter& filter) {
  events_->listen_resumed(filter);
}

// What comes of the session's own requests: the probe, the opening's steps, pings, the streams of a
// modern upstream.

namespace {

/// Some servers know no `ping`, but the session in which it came.
bool refuses_ping(const Frame& answer) {
  if (!answer.error.present()) return false;
  return find_member(answer.text(answer.error), "code") !=
         std::to_string(json_rpc::method_not_found);
}

bool wants_it_later(const Ending& ending) {
  const auto& failure = ending.failure;
  return failure && ending.session == SessionVerdict::kept && failure->delivered == Delivered::no &&
         (failure->retry_after || failure->status == 429);
}

}  // namespace

EraSession::OwnRequest EraSession::which_own(UpstreamId id) const {
  if (probe_.awaits(id)) return OwnRequest::probe;
  if (listen_.awaits(id)) return OwnRequest::listen;
  if (event_streams_.awaits(id)) return OwnRequest::event_stream;
  if (opening_.is_initialize(id)) return OwnRequest::initialize;
  if (opening_.awaits(id)) return OwnRequest::opening_step;
  if (keep_alive_.is_ping(id)) return OwnRequest::ping;
  return doubts_.is_question(id) ? OwnRequest::doubts_ping : OwnRequest::none;
}

void EraSession::own_answered(OwnRequest own, UpstreamId id, std::optional<UpstreamId> origin,
                              Frame frame) {
  switch (own) {
    case OwnRequest::none: break;
    case OwnRequest::probe: probe_.answered(frame); break;
    case OwnRequest::listen: listen_.answered(id, frame); break;
    case OwnRequest::event_stream: event_streams_.over(id, frame.error.present()); break;
    case OwnRequest::initialize:
      opening_.ended(id);
      initialize_answered(origin, std::move(frame));
      break;
    case OwnRequest::opening_step: opening_.ended(id); break;
    case OwnRequest::ping:
      keep_alive_.ping_ended();
      if (phase_ == Phase::taking_up && refuses_ping(frame)) {
        lose("a ping in it was refused");
        break;
      }
      note_answer();
      if (is_open()) keep_alive_.watch();
      break;
    case OwnRequest::doubts_ping: {
      // A modern server answers `server/discover` with a result.
      const bool has_changed = is_modern() && frame.error.present();
      if (has_changed) owner_.era_contradicted(era());
      resolve_doubts(has_changed);
      if (has_changed) lose("it is of another era now");
      break;
    }
  }
}

/// False if it is no request of the session's own.
bool EraSession::own_ended(UpstreamId id, Ending& ending) {
  const OwnRequest which = which_own(id);
  const bool is_stream = which == OwnRequest::listen || which == OwnRequest::event_stream;
  if (is_stream && ending.failure && ending.failure->kind == ErrorKind::timeout)
    sender_.give_up(id);  // a local server may still open it
  switch (which) {
    case OwnRequest::none: return false;
    case OwnRequest::probe: probe_.ended(ending); break;
    case OwnRequest::listen:
      listen_.ended(id, ending);
      if (ending.failure && is_unreachable(*ending.failure)) go_away(*ending.failure);
      break;
    case OwnRequest::event_stream:
      event_streams_.over(
          id, ending.failure && ending.failure->status >= 400 && ending.failure->status < 500);
      break;
    case OwnRequest::initialize:
      opening_.ended(id);
      initialize_ended(std::move(ending));
      break;
    case OwnRequest::opening_step: step_ended(id, std::move(ending)); break;
    case OwnRequest::ping:
      keep_alive_.ping_ended();
      note_ping_failure(ending);
      if (is_open()) keep_alive_.watch();
      break;
    case OwnRequest::doubts_ping:
      if (is_open() && doubts_.ask_again(ending)) break;
      if (ending.failure) note_other_era(ending);
      resolve_doubts(ending.session != SessionVerdict::kept);
      note_ping_failure(ending);
      break;
  }
  return true;
}

void EraSession::step_ended(UpstreamId id, Ending ending) {
  if (ending.failure && ending.failure->kind == ErrorKind::auth) {
    refuse(*ending.failure);
  } else if (ending.unanswered && opening_.is_restoring() && wants_it_later(ending)) {
    // The server is there, and has opened a session: many subscriptions at once may be too many.
    opening_.put_off(
        std::move(*ending.unanswered),
        std::max(ending.failure->retry_after.value_or(Backoff::first), Backoff::first));
  } else if (ending.failure && (ending.session == SessionVerdict::lost ||
                                ending.failure->delivered == Delivered::no)) {
    try_failed(std::move(*ending.failure));
  } else {
    opening_.ended(id);
  }
}

/// What the end of a ping says of the session.
void EraSession::note_ping_failure(const Ending& ending) {
  const auto& failure = ending.failure;
  if (failure && failure->kind == ErrorKind::auth && is_open()) {
    record_.last_failure = failure;
    events_->session_failed(*failure);
    log_refusal(*failure);
  }
  if (ending.session != SessionVerdict::kept) {
    lose("a ping was refused");
  } else if (failure && is_unreachable(*failure)) {
    go_away(*failure);
  } else if (failure && phase_ == Phase::taking_up) {
    not_taken_up(*failure);
  }
}

}  // namespace bridge
