// A session that was lost, an upstream that is away, and the messages that wait meanwhile.
#include <algorithm>
#include <utility>

#include "session/session.hpp"

namespace bridge {
namespace {

/// A message that finds no session in so many sessions is answered, not sent again.
constexpr std::uint8_t max_rejections = 3;
/// A message that only reads is sent again so often after its connection broke.
constexpr std::uint8_t max_repeats = 2;
/// Also with a short --connect-wait a ping has this long.
constexpr std::chrono::milliseconds shortest_confirmation{1000};

/// What is told once it is not sent again.
void say_that_sessions_are_lost(Failure& failure) {
  const std::string_view losing = "the upstream keeps losing the session: ";
  failure.kind = ErrorKind::session;
  failure.delivered = Delivered::no;
  failure.error_object.clear();
  failure.message.insert(0, losing);
  if (!failure.summary.empty()) failure.summary.insert(0, losing);
}

}  // namespace

bool Session::is_unreachable(const Failure& failure) {
  return failure.delivered == Delivered::no &&
         (failure.kind == ErrorKind::connect || failure.kind == ErrorKind::dns ||
          failure.kind == ErrorKind::tls || failure.kind == ErrorKind::timeout);
}

// A message failed before its answer began. Is it to be sent again, and when?
void Session::message_failed(Ending ending) {
  const Failure& failure = *ending.failure;
  Outgoing& message = *ending.unanswered;
  if (ending.session != SessionVerdict::kept && is_open() && message.session != number_ &&
      message.rejections + 1 < max_rejections) {
    // It was refused in a session that has been replaced meanwhile.
    ++message.rejections;
    send(std::move(message));
    return;
  }
  if (ending.session == SessionVerdict::doubtful) {
    doubt(std::move(ending));
    return;
  }
  if (ending.session == SessionVerdict::lost) {
    if (++message.rejections < max_rejections) {
      Failure patience_over = failure;
      say_that_sessions_are_lost(patience_over);
      hold(std::move(message), std::move(patience_over));
      lose("a request was refused");
      return;
    }
    say_that_sessions_are_lost(*ending.failure);
    lose("a request was refused");
  } else if (is_unreachable(failure) && !failure.definitive) {
    const Failure why = failure;
    hold(std::move(message), why);
    go_away(why);
    return;
  } else if (failure.retry_after && failure.delivered == Delivered::no) {
    const auto now = loop_.now();
    const SteadyTime deadline = message.hold_until.value_or(now + options_.connect_wait);
    if (now + *failure.retry_after <= deadline) {
      Failure why = failure;
      hold(std::move(message), std::move(why), *failure.retry_after);
      return;
    }
  } else if (failure.kind == ErrorKind::closed && message.may_repeat &&
             message.repeats < max_repeats) {
    // It only reads, so once more does no harm.
    ++message.repeats;
    if (is_open()) {
      send(std::move(message));
    } else {
      Failure why = failure;
      hold(std::move(message), std::move(why));
    }
    return;
  }
  const UpstreamId id = ending.unanswered->id;
  const Failure why = failure;
  note_turned_away(why);
  events_->session_ended(id, std::move(ending));
  if (why.definitive && is_unreachable(why)) go_away(why);
}

void Session::hold(Outgoing message, Failure failure, std::chrono::milliseconds delay) {
  if (given_up_) {
    end_given_up(message.id);
    return;
  }
  const auto now = loop_.now();
  if (!message.hold_until) message.hold_until = now + options_.connect_wait;
  const SteadyTime deadline = *message.hold_until;
  held_.hold({std::move(message), std::move(failure), now + delay, deadline});
  schedule();
}

void Session::lose(std::string_view why) {
  if (!alive_ || ending_ || given_up_) return;
  if (is_open()) events_->session_away();
  if (state_ == State::waiting) backoff_.reset();  // it could not be reached, and now it could
  alive_ = false;
  lost_ = true;
  log_.peer(LogLevel::warning, "session lost", "session with {} lost: {}; opening it again",
            upstream_.target(), why);
  keepalive_timer_.clear();
  if (ping_id_ != UpstreamId{}) upstream_.abandon(std::exchange(ping_id_, UpstreamId{}));
  initialize_params_ = kept_params_;
  initialize_is_clients_ = false;
  upstream_.session_over();
  if (confirm_id_ != UpstreamId{}) upstream_.abandon(std::exchange(confirm_id_, UpstreamId{}));
  resolve_doubts(true);
  if (backoff_.tries() == 0) {
    backoff_.next();  // at once, but not again and again
    start_try();
  } else {
    state_ = State::waiting;
    set_next_try(next_delay());
  }
}

void Session::doubt(Ending ending) {
  doubts_.push_back(std::move(ending));
  if (!is_open()) {
    // A new session is on its way anyway: it will tell.
    if (!alive_) resolve_doubts(true);
    return;
  }
  confirm();
}

/// Asks whether the session is there. Once for all who doubt it.
void Session::confirm() {
  if (!is_open() || confirm_id_ != UpstreamId{}) return;
  confirm_id_ = send_own(OutgoingKind::request, "ping", {});
  confirm_timer_.set_after(std::max(options_.connect_wait, shortest_confirmation));
}

/// A broken connection has told nothing of the session, and a ping only reads.
bool Session::asks_again(Ending& ending) {
  if (!ending.failure || ending.failure->kind != ErrorKind::closed || !ending.unanswered ||
      !is_open() || ending.unanswered->repeats >= max_repeats)
    return false;
  ++ending.unanswered->repeats;
  send(std::move(*ending.unanswered));
  return true;
}

/// Nothing says that the session is lost: the refusals stand. Nobody waits longer for it than for
/// the session itself.
void Session::confirm_unanswered() {
  upstream_.abandon(std::exchange(confirm_id_, UpstreamId{}));
  resolve_doubts(false);
}

void Session::resolve_doubts(bool lost) {
  confirm_timer_.clear();
  for (Ending& ending : std::exchange(doubts_, {})) {
    if (lost) {
      ending.session = SessionVerdict::lost;
      message_failed(std::move(ending));
    } else {
      const UpstreamId id = ending.unanswered->id;
      ending.unanswered.reset();
      events_->session_ended(id, std::move(ending));
    }
  }
}

// The session may well be there, but its upstream cannot be reached.
void Session::go_away(const Failure& failure) {
  last_failure_ = failure;
  events_->session_failed(failure);
  if (!alive_) return;  // a try to open is under way or due: it will tell
  if (failure.definitive) {
    fail_waiting(failure);
    watch_silence();
    return;
  }
  if (state_ != State::waiting) {
    state_ = State::waiting;
    events_->session_away();
    log_.peer(LogLevel::warning, "upstream away",
              "the upstream {} cannot be reached: {}; trying again", upstream_.target(),
              log_text(failure));
    keepalive_timer_.clear();
  }
  const auto delay = next_delay();
  if (!next_try_ || loop_.now() + delay < *next_try_) set_next_try(delay);
}

/// Waiting would change nothing: who waits is told so, and the next who asks tries anew.
void Session::fail_waiting(const Failure& failure) {
  const Failure why = failure;
  next_try_.reset();
  const std::vector<HeldMessage> held = held_.take_all();
  schedule();
  Ending ending;
  ending.failure = why;
  ending.failure->delivered = Delivered::no;
  for (const HeldMessage& one : held) events_->session_ended(one.message.id, ending);
  if (state_ == State::waiting) events_->session_refused(why);
}

/// The session stands, but the upstream turns away what comes in it (401, 403): not ready, until it
/// answers something.
void Session::note_turned_away(const Failure& failure) {
  if (failure.kind != ErrorKind::auth || !is_open()) return;
  const bool is_news = !last_failure_;
  last_failure_ = failure;
  events_->session_failed(failure);
  // It may concern that one request alone.
  if (is_news && failure.status == 403 && ping_id_ == UpstreamId{}) send_ping();
}

bool Session::somebody_waits() const {
  return events_->frames_wait() || !held_.empty() || initialize_is_clients_;
}

bool Session::is_wanted() const { return lost_ || somebody_waits() || events_->wants_session(); }

std::chrono::milliseconds Session::next_delay() {
  return somebody_waits() ? backoff_.soon() : backoff_.next();
}

void Session::came_back() {
  state_ = State::open;
  ++counts_.reconnects;
  next_try_.reset();
  last_failure_.reset();
  backoff_.reset();
  log_.peer(LogLevel::info, "upstream back", "the upstream {} can be reached again",
            upstream_.target());
  watch_silence();
  if (!doubts_.empty()) confirm();
  release_held();
  schedule();
  events_->session_open();
}

void Session::probe() {
  last_try_ = loop_.now();
  if (held_.empty()) {
    if (ping_id_ == UpstreamId{}) send_ping();
  } else {
    release_held();
  }
}

void Session::release_held() {
  for (HeldMessage& held : held_.take_ready(loop_.now())) {
    send(std::move(held.message));
  }
}

void Session::give_up_held(const Failure& failure) {
  given_up_ = failure;
  std::vector<UpstreamId> ids;
  for (const HeldMessage& held : held_.take_all()) ids.push_back(held.message.id);
  schedule();
  upstream_.give_up_unsent(failure);
  for (const UpstreamId id : ids) end_given_up(id);
  if (!is_trying()) give_up_initialize();
}

void Session::give_up_initialize() {
  const UpstreamId id = initialize_id_;
  if (!initialize_is_clients_) return;
  withdraw_initialize(id);
  end_given_up(id);
}

void Session::end_given_up(UpstreamId id) {
  Ending ending;
  ending.failure = *given_up_;
  events_->session_ended(id, std::move(ending));
}

void Session::fail_expired() {
  for (HeldMessage& held : held_.take_expired(loop_.now())) {
    Ending ending;
    ending.failure = std::move(held.failure);
    events_->session_ended(held.message.id, std::move(ending));
  }
}

}  // namespace bridge
