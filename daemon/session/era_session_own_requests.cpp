// What comes of the session's own requests: the probe, the opening's steps, pings, the streams of a
// modern upstream.
#include <algorithm>
#include <utility>

#include "base/backoff.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "session/era_session.hpp"
#include "session/retry_decision.hpp"

namespace bridge {

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
