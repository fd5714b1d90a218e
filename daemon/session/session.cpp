#include "session/session.hpp"

#include <utility>

#include "jsonrpc/error_codes.hpp"
#include "session/retry_decision.hpp"
#include "text/json_text.hpp"

namespace bridge {

namespace {

/// Some servers know no `ping`, but the session in which it came.
bool refuses_ping(const Frame& answer) {
  if (!answer.error.present()) return false;
  return find_member(answer.text(answer.error), "code") !=
         std::to_string(json_rpc::method_not_found);
}

}  // namespace

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
    case Phase::open: return State::open;
    case Phase::away: return takes_up_ ? State::reopening : State::waiting;
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
  if (is_open()) record_.last_failure.reset();
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

Session::OwnRequest Session::which_own(UpstreamId id) const {
  if (probe_.awaits(id)) return OwnRequest::probe;
  if (listen_.awaits(id)) return OwnRequest::listen;
  if (event_streams_.awaits(id)) return OwnRequest::event_stream;
  if (opening_.is_initialize(id)) return OwnRequest::initialize;
  if (opening_.awaits(id)) return OwnRequest::opening_step;
  if (keep_alive_.is_ping(id)) return OwnRequest::ping;
  return doubts_.is_question(id) ? OwnRequest::doubts_ping : OwnRequest::none;
}

void Session::own_answered(OwnRequest own, UpstreamId id, std::optional<UpstreamId> origin,
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
      if (takes_up_ && refuses_ping(frame)) {
        lose("a ping in it was refused");
        break;
      }
      note_answer();
      if (is_open()) keep_alive_.watch();
      break;
    case OwnRequest::doubts_ping: {
      // A modern server answers `server/discover` with a result.
      const bool has_changed = is_modern() && frame.error.present();
      if (has_changed) kept_.era.reset();
      resolve_doubts(has_changed);
      if (has_changed) lose("it is of another era now");
      break;
    }
  }
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

/// False if it is no request of the session's own.
bool Session::own_ended(UpstreamId id, Ending& ending) {
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

void Session::step_ended(UpstreamId id, Ending ending) {
  if (ending.failure && ending.failure->kind == ErrorKind::auth) {
    refuse(*ending.failure);
  } else if (ending.failure && (ending.session == SessionVerdict::lost ||
                                ending.failure->delivered == Delivered::no)) {
    try_failed(std::move(*ending.failure));
  } else {
    opening_.ended(id);
  }
}

/// What the end of a ping says of the session.
void Session::note_ping_failure(const Ending& ending) {
  const auto& failure = ending.failure;
  if (failure && failure->kind == ErrorKind::auth && is_open()) {
    record_.last_failure = failure;
    events_->session_failed(*failure);
  }
  if (ending.session != SessionVerdict::kept) {
    lose("a ping was refused");
  } else if (failure && is_unreachable(*failure)) {
    go_away(*failure);
  } else if (failure && takes_up_) {
    not_taken_up(*failure);
  }
}

void Session::server_stream_changed(ServerStream state) {
  if (is_modern()) return;  // it is listened to
  record_.server_stream = state;
  // Open or refused: the opening need not wait longer for it. A refused one is tried again beside.
  if (state != ServerStream::waiting) opening_.server_stream_answered();
}

void Session::upstream_reachable() {
  if (phase_ == Phase::away && !has_ended()) came_back();
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

KeptSession Session::kept() const {
  KeptSession kept = kept_;
  kept.settings = events_->settings();
  kept.ids = sender_.ids();
  return kept;
}

void Session::continue_from(KeptSession kept) {
  events_->take_settings(kept.settings);
  sender_.ids() = kept.ids;
  kept_ = std::move(kept);
  kept_.settings = {};  // they are the router's
  loss_ = ReopeningReason::restarted;
}

void Session::take_up(KeptSession kept, const SessionPlace& place) {
  continue_from(std::move(kept));
  // A modern server has no session: whether it is there is asked by the probe of an opening.
  if (is_modern() ||
      !upstream_.session_continued({kept_.server->protocol_version(), true}, place)) {
    require();
    return;
  }
  takes_up_ = true;
  phase_ = Phase::away;
  record_.server_stream = ServerStream::waiting;
  retries_.begin_try();
  keep_alive_.ping_at_once();
}

KeptStreams Session::streams_to_keep() const {
  if (!is_modern() || !is_there()) return {};
  return {listen_.had_stream(), value_of(listen_.acknowledged_stream()), event_streams_.to_keep()};
}

void Session::go_on_in(KeptSession kept, const SessionPlace& place, const KeptStreams& streams) {
  continue_from(std::move(kept));
  const SessionForm form{kept_.server->protocol_version(), !is_modern()};
  if (is_modern()) {
    upstream_.session_opened(form);
  } else if (!upstream_.session_continued(form, place)) {
    require();
    return;
  }
  phase_ = Phase::open;
  record_.opened_at = loop_.now();
  if (is_modern()) {
    const bool still_open = !upstream_.has_answer_streams();
    if (streams.had_listen)
      listen_.go_on_after(still_open ? static_cast<UpstreamId>(streams.listen) : UpstreamId{});
    event_streams_.go_on_after(streams.events, still_open);
    open_streams();
  } else {
    record_.server_stream = ServerStream::waiting;
    keep_alive_.watch();
  }
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
