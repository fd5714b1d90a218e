#include "session/era_session.hpp"

#include "session/opening_failure.hpp"

#include <utility>

#include "json/json_text.hpp"

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
      probe_(loop, sender_, upstream, *this),
      opening_(loop, sender_, upstream, log, *this),
      listen_(loop, sender_, upstream, log, *this),
      event_streams_(loop, sender_, upstream, log, options_.events),
      keep_alive_(loop, sender_, upstream, log, options_.keepalive),
      // Nothing says that the session is lost: the refusals stand. Nobody waits longer for the
      // ping than for the session itself.
      doubts_(loop, sender_, upstream, [this] { resolve_doubts(false); }),
      retries_(loop, *this),
      slow_(loop, [this] { owner_.era_is_slow(this->era()); }) {}

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

}  // namespace bridge
