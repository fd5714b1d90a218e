#include "session/era_session.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/clock.hpp"
#include "json/json_text.hpp"
#include "mcp/discovery.hpp"
#include "mcp/handshake.hpp"
#include "session/era_choice.hpp"

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
                       MessageTap& tap, OwnMessages& own, Log& log, const SessionOptions& options,
                       EraChoice& choice, SessionEvents* const& events)
    : loop_(loop),
      upstream_(upstream),
      log_(log),
      options_(options),
      choice_(choice),
      events_(events),
      own_(own),
      sender_(loop, ids, upstream, tap, own, era, saved_.number),
      opener_(loop, *this),
      opening_(loop, sender_, upstream, log, opener_),
      listen_(loop, sender_, upstream, log, *this),
      event_streams_(loop, sender_, log, options_.events),
      health_(loop, sender_, upstream, log, options_, record_, doubt_),
      doubt_(loop, *this, health_),
      loss_(*this),
      retries_(loop, loss_, options_.connect_wait) {}

EraSession::State EraSession::state() const {
  const State while_open = record_.last_failure ? State::refused : State::open;
  switch (phase_) {
    case Phase::idle: return State::idle;
    case Phase::opening:
      if (doubt_.tries_another_while_open()) return while_open;
      return is_lost() ? State::reopening : State::opening;
    case Phase::open: return while_open;
    case Phase::away: return State::waiting;
    case Phase::resuming: return State::reopening;
    case Phase::waiting: return State::waiting;
    case Phase::refused: return State::refused;
  }
  return State::idle;
}

const Failure* EraSession::given_up() const {
  const auto* giving_up = std::get_if<GivingUp>(&life_);
  return giving_up != nullptr ? &giving_up->failure : nullptr;
}

/// The session serves: the next loss counts as the first.
void EraSession::note_answer() {
  retries_.forget_failures();
  doubt_.forget_unclear();
  if (!is_open()) return;
  record_.last_failure.reset();
  if (std::exchange(refusal_is_logged_, false)) {
    log_.peer(LogLevel::info, "upstream accepts", "the upstream {} accepts requests again",
              upstream_.target());
  }
}

std::optional<UpstreamId> EraSession::one_message(std::optional<UpstreamId> origin, Frame&& frame) {
  if (own_.side_of_echo(frame) == era()) {
    opener_.refuse(definitive_failure_of(ErrorKind::malformed, echo_text));
    return std::nullopt;
  }
  if (is_modern() && frame.is_notification() && take_notification(origin, frame))
    return std::nullopt;
  const UpstreamId id = request_answered_by(frame, origin);
  if (const auto owner = own_.take_owner(id, era())) {
    own_answered(*owner, id, origin, std::move(frame));
    return id;
  }
  const bool denies = doubt_.denies_session(frame);
  if (denies && doubt_.holds_response(id, frame)) return id;
  const auto answered = events_->message_received(era(), origin, std::move(frame));
  if (answered) forget_unsent(*answered);
  if (answered && !denies) note_answer();
  return answered;
}

void EraSession::note_malformed(std::optional<UpstreamId> origin, std::string_view reason) {
  if (origin && opening_.is_initializing() && opening_.awaits(*origin))
    opening_.note_malformed(reason);
  events_->malformed_received(origin, reason);
}

UpstreamId request_answered_by(const Frame& frame, std::optional<UpstreamId> origin) {
  if (!frame.is_response()) return {};
  if (frame.id_is_null) return origin.value_or(UpstreamId{});
  return static_cast<UpstreamId>(unsigned_by_value(frame.text(frame.id)).value_or(0));
}

void EraSession::message_ended(UpstreamId id, Ending ending) {
  if (const auto owner = own_.take_owner(id, era())) {
    own_ended(*owner, id, std::move(ending));
    return;
  }
  if (ending.failure) loss_.note_other_era(ending);
  if (ending.failure && ending.unanswered) {
    loss_.message_failed(std::move(ending));
    return;
  }
  if (!ending.failure) upstream_reachable(true);
  const SessionVerdict verdict = doubt_.judge_unclear(id, ending.session);
  if (ending.failure) loss_.note_rejected(*ending.failure);
  events_->message_ended(id, std::move(ending));
  if (verdict == SessionVerdict::lost) loss_.lose("the continuation of an answer was refused");
  if (verdict == SessionVerdict::doubtful) doubt_.check_session();
}

void EraSession::server_stream_changed(ServerStream state) {
  if (is_modern()) return;  // it has a listen stream
  record_.server_stream = state;
  // The server stream is open or refused: the opening continues. A refused one is retried
  // separately.
  if (state != ServerStream::waiting) opening_.server_stream_answered();
}

void EraSession::server_stream_refused(SessionVerdict verdict) {
  opening_.server_stream_answered();
  if (doubt_.judge_unclear(UpstreamId{}, verdict) == SessionVerdict::doubtful)
    doubt_.check_session();
}

void EraSession::upstream_reachable(bool knows_session) {
  if (phase_ == Phase::away || (phase_ == Phase::resuming && knows_session)) loss_.came_back();
}

void EraSession::upstream_lost_session() {
  if (!opening_.has_handshake()) {
    loss_.lose("the upstream says so");
    return;
  }
  // It was not open yet: this attempt has failed; what it sent is unanswered.
  opener_.try_failed(failure_of(ErrorKind::closed, Delivered::no,
                                "the session was lost while it was being opened"));
}

void EraSession::reconfigure() {
  if (is_open()) health_.watch();
  retry_refused();
}

void EraSession::retry_refused() {
  if (is_ready()) return;
  if (is_open()) {
    health_.ping();
  } else {
    retries_.try_now();
  }
}

void EraSession::end() {
  life_ = Ended{};
  retries_.stop();
  opener_.end();
  doubt_.stop();
  opening_.forget();
  close_streams();
  health_.cancel();
  health_.take_suspected();
}

// Sessions that outlive the daemon or its process.

void EraSession::restore(Saved saved) {
  saved_ = std::move(saved);
  loss_reason_ = ReopeningReason::restarted;
}

void EraSession::resume(const SessionReference& reference, const SavedStreams* streams) {
  if (is_modern()) {
    upstream_.session_opened({.version = newest_version, .is_stateful = false});
    const bool still_open = !upstream_.has_answer_streams();
    if (streams->had_listen) listen_.restore(still_open ? streams->listen : UpstreamId{});
    event_streams_.restore(streams->events, still_open);
  } else if (upstream_.session_opened(
                 {.version = saved_.server->protocol_version(), .left = &reference})) {
    record_.server_stream = ServerStream::waiting;
  } else {
    opener_.require();
    return;
  }
  if (streams == nullptr) {
    phase_ = Phase::resuming;
    retries_.begin_try();
    health_.ping_until_answered();
  } else {
    phase_ = Phase::open;
    record_.opened_at = loop_.now();
    begin_watching();
  }
}

SavedStreams EraSession::save_streams() const {
  SavedStreams streams;
  if (!has_session()) return streams;
  streams.had_listen = listen_.had_stream();
  if (listen_.stream() != nullptr) streams.listen = listen_.stream()->id;
  streams.events = event_streams_.save_streams();
  return streams;
}

// Opening a modern session, and a modern upstream's notifications.

/// Whether it came on one of the session's own streams; passes on what clients get.
bool EraSession::take_notification(std::optional<UpstreamId> origin, const Frame& notification) {
  const UpstreamId stream = stream_named_by(notification, origin);
  const auto own = own_.find_stream(stream);
  if (!own) return false;
  const bool is_on_listen = own->owner == MessageOwner::listen;
  upstream_.lift_deadline(stream);
  auto line = is_on_listen ? listen_.take_notification(stream, notification)
                           : event_streams_.take_notification(stream, notification);
  if (!line) return true;
  auto parsed = parse_frame(std::move(*line));
  auto* const frame = std::get_if<Frame>(&parsed);
  if (frame != nullptr && is_on_listen) {
    events_->listen_notified(std::move(*frame));
  } else if (frame != nullptr) {
    events_->message_received(era(), std::nullopt, std::move(*frame));
  }
  return true;
}

/// The session is open: listens at a modern upstream, checks a legacy one.
void EraSession::begin_watching() {
  is_overdue_ = false;
  health_.watch();
  if (!is_modern()) return;
  listen_.open();
  event_streams_.open();
}

void EraSession::close_streams() {
  listen_.close();
  event_streams_.close();
}

void EraSession::listen_changed(ServerStream state) {
  if (std::exchange(record_.server_stream, state) == state) return;
  // Refused: the server will notify nothing further.
  if (state == ServerStream::none) events_->listen_acknowledged();
}

// Answers to the session's own requests: probe, opening steps, pings, streams of a modern upstream.

void EraSession::own_answered(MessageOwner owner, UpstreamId id, std::optional<UpstreamId> origin,
                              Frame frame) {
  switch (owner) {
    case MessageOwner::router: break;
    case MessageOwner::opening: opener_.step_answered(id, origin, std::move(frame)); break;
    case MessageOwner::health: doubt_.ping_answered(frame); break;
    case MessageOwner::listen: listen_.over(id, frame.error.present()); break;
    case MessageOwner::event_stream:
      event_streams_.over(id, frame.error.present(), frame.text(frame.error));
      break;
    case MessageOwner::event_poll:
      for (std::string& line : event_streams_.poll_answered(id, frame)) {
        auto parsed = parse_frame(std::move(line));
        if (auto* const event = std::get_if<Frame>(&parsed))
          events_->message_received(era(), std::nullopt, std::move(*event));
      }
      break;
  }
}

void EraSession::own_ended(MessageOwner owner, UpstreamId id, Ending ending) {
  const auto& failure = ending.failure;
  const bool refused = failure && failure->status >= 400 && failure->status < 500 &&
                       failure->kind != ErrorKind::auth && failure->status != 429;
  const bool is_stream = owner == MessageOwner::listen || owner == MessageOwner::event_stream;
  if (is_stream && failure && failure->kind == ErrorKind::timeout)
    sender_.close_stream(id);  // a local server may still open it
  switch (owner) {
    case MessageOwner::router: break;
    case MessageOwner::opening: opener_.step_ended(id, std::move(ending)); break;
    case MessageOwner::health: doubt_.ping_ended(std::move(ending)); break;
    case MessageOwner::listen:
      listen_.over(id, refused, failure ? fmt::format(" ({})", log_text(*failure)) : std::string());
      if (failure && is_unreachable(*failure)) loss_.go_away(*failure);
      break;
    case MessageOwner::event_stream:
    case MessageOwner::event_poll:
      event_streams_.over(id, refused, failure ? failure->error_object : std::string_view());
      break;
  }
}

}  // namespace bridge
