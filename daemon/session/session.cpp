#include "session/session.hpp"

#include <utility>

#include "text/json_text.hpp"

namespace bridge {

std::string_view name_of(Session::State state) {
  switch (state) {
    case Session::State::idle: return "idle";
    case Session::State::opening: return "opening";
    case Session::State::open: return "open";
    case Session::State::reopening: return "reopening";
    case Session::State::waiting: return "waiting";
    case Session::State::refused: return "refused";
  }
  return "idle";
}

Session::Session(EventLoop& loop, UpstreamIdSource& ids, Upstream& upstream, Log& log,
                 SessionOptions options)
    : loop_(loop),
      upstream_(upstream),
      log_(log),
      options_(std::move(options)),
      sender_(loop, ids, upstream, kept_),
      probe_(loop, sender_, upstream, *this),
      opening_(loop, sender_, upstream, log, *this),
      listen_(loop, sender_, upstream, log, *this),
      event_streams_(loop, sender_, upstream, log, options_.events),
      keep_alive_(loop, sender_, upstream, log, options_.keepalive),
      // Nothing says that the session is lost: the refusals stand. Nobody waits longer for the
      // ping than for the session itself.
      doubts_(loop, sender_, upstream, [this] { resolve_doubts(false); }),
      retries_(loop, *this) {}

Session::State Session::state() const {
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

const Failure* Session::given_up() const {
  const auto* giving_up = std::get_if<GivingUp>(&life_);
  return giving_up != nullptr ? &giving_up->failure : nullptr;
}

void Session::abandon(UpstreamId id) {
  if (!forget_unsent(id)) upstream_.abandon(id);
}

/// Forgets a message that came back and may be sent again; false if it is none.
bool Session::forget_unsent(UpstreamId id) { return retries_.remove(id) || doubts_.remove(id); }

/// The session serves: the next loss of it is the first one.
void Session::note_answer() {
  retries_.forget_failures();
  if (!is_open()) return;
  record_.last_failure.reset();
  if (std::exchange(refusal_is_logged_, false)) {
    log_.peer(LogLevel::info, "upstream accepts", "the upstream {} accepts requests again",
              upstream_.target());
  }
}

AnsweredRequests Session::upstream_message(std::optional<UpstreamId> origin, ReceivedText message) {
  AnsweredRequests answered;
  if (has_ended()) return answered;
  tap().passed(Passage::from_server, {}, message.bytes);
  const auto fault = each_frame(std::move(message), [&](ParsedFrame&& parsed) {
    answered.add(one_message(origin, std::move(parsed)).value_or(UpstreamId{}));
  });
  if (fault) note_malformed(origin, fault->reason);
  // Not before: what was answered is not to be sent again.
  upstream_reachable();
  return answered;
}

/// Returns the request that it answers.
std::optional<UpstreamId> Session::one_message(std::optional<UpstreamId> origin,
                                               ParsedFrame&& parsed) {
  if (const auto* fault = std::get_if<FrameFault>(&parsed)) {
    note_malformed(origin, fault->reason);
    return std::nullopt;
  }
  Frame& frame = std::get<Frame>(parsed);
  if (opening_.is_echo(frame)) {
    initialize_echoed();
    return std::nullopt;
  }
  if (probe_.is_echo(frame)) {
    probe_.stop();
    probe_found_legacy(true);
    return std::nullopt;
  }
  if (is_modern() && frame.is_notification() && take_notification(origin, frame))
    return std::nullopt;
  const UpstreamId id = request_answered_by(frame, origin);
  if (const OwnRequest own = which_own(id); own != OwnRequest::none) {
    own_answered(own, id, origin, std::move(frame));
    return id;
  }
  const auto answered = events_->session_message(origin, std::move(frame));
  if (answered) {
    forget_unsent(*answered);
    note_answer();
  }
  return answered;
}

void Session::note_malformed(std::optional<UpstreamId> origin, std::string_view reason) {
  if (origin && opening_.is_initialize(*origin)) opening_.note_malformed(reason);
  events_->session_malformed(origin, reason);
}

UpstreamId request_answered_by(const Frame& frame, std::optional<UpstreamId> origin) {
  if (!frame.is_response()) return {};
  if (frame.id_is_null) return origin.value_or(UpstreamId{});
  return static_cast<UpstreamId>(to_unsigned(frame.text(frame.id)).value_or(0));
}

void Session::upstream_ended(UpstreamId id, Ending ending) {
  if (has_ended() || own_ended(id, ending)) return;
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

void Session::server_stream_changed(ServerStream state) {
  if (is_modern()) return;  // it is listened to
  record_.server_stream = state;
  // Open or refused: the opening need not wait longer for it. A refused one is tried again beside.
  if (state != ServerStream::waiting) opening_.server_stream_answered();
}

void Session::upstream_reachable() {
  if (has_ended()) return;
  if (phase_ == Phase::away) {
    came_back();
  } else if (phase_ == Phase::taking_up) {
    taken_up();
  }
}

void Session::upstream_lost_session() {
  if (!opening_.is_under_way() || opening_.is_initializing()) {
    lose("the upstream says so");
    return;
  }
  // It was not open yet: this try has failed. What it has asked has no answer.
  try_failed(failure_of(ErrorKind::closed, Delivered::no,
                        "the session was lost while it was being opened"));
}

void Session::reconfigure(const SessionOptions& options) {
  options_.connect_wait = options.connect_wait;
  options_.login_wait = options.login_wait;
  options_.keepalive = options.keepalive;
  keep_alive_.set_interval(options.keepalive);
  if (is_open() && !is_modern()) keep_alive_.watch();
}

void Session::end(std::function<void()> done) {
  life_ = Ended{};
  retries_.stop();
  probe_.forget();
  opening_.forget();
  close_streams();
  keep_alive_.stop();
  doubts_.take_all();
  upstream_.end(std::move(done));
}

}  // namespace bridge
