// A session that was lost, an upstream that is away, and the messages that wait meanwhile.
#include <algorithm>
#include <utility>
#include <vector>

#include "session/retry_decision.hpp"
#include "session/session.hpp"

namespace bridge {

// A message failed before its answer began.
void Session::message_failed(Ending ending) {
  RetryDecision decision =
      decide_retry(ending, {is_open(), kept_.number, loop_.now(), options_.connect_wait});
  const bool is_lost = decision.news == RetryDecision::News::session_lost;
  const std::string_view why_lost = "a request was refused";
  const Failure why = decision.failure;
  Outgoing& message = *ending.unanswered;
  message.notes.rejections = decision.rejections;
  message.notes.repeats = decision.repeats;
  switch (decision.action) {
    case RetryDecision::Action::send_now: send(std::move(message)); break;
    case RetryDecision::Action::ask: doubt(std::move(ending)); break;
    case RetryDecision::Action::hold:
      hold(std::move(message), std::move(decision.failure), decision.delay);
      if (is_lost) lose(why_lost);
      break;
    case RetryDecision::Action::give_up: {
      if (is_lost) lose(why_lost);
      const UpstreamId id = message.id;
      ending.failure = std::move(decision.failure);
      note_turned_away(why);
      events_->session_ended(id, std::move(ending));
      break;
    }
  }
  if (decision.news == RetryDecision::News::unreachable) go_away(why);
}

void Session::hold(Outgoing message, Failure failure, std::chrono::milliseconds delay) {
  if (const Failure* shutdown = given_up()) {
    end_message(message.id, *shutdown);
    return;
  }
  const auto now = loop_.now();
  if (!message.notes.hold_until) message.notes.hold_until = now + options_.connect_wait;
  const SteadyTime deadline = *message.notes.hold_until;
  held_.hold({std::move(message), std::move(failure), now + delay, deadline});
  schedule();
}

void Session::lose(std::string_view why) {
  if (!is_there() || !std::holds_alternative<Running>(life_)) return;
  if (is_open()) events_->session_away();
  if (phase_ == Phase::away) next_try_.forget_failures();  // it can be reached again
  phase_ = Phase::waiting;
  log_.peer(LogLevel::warning, "session lost", "session with {} lost: {}; opening it again",
            upstream_.target(), why);
  keep_alive_.cancel();
  initialize_ = {std::nullopt, kept_.initialize_params};
  upstream_.session_over();
  doubts_.cancel();
  resolve_doubts(true);
  if (next_try_.may_be_at_once()) {
    start_try();
  } else {
    const auto now = loop_.now();
    next_try_.set(now + next_try_.failed(now, somebody_waits()));
    schedule();
  }
}

void Session::doubt(Ending ending) {
  doubts_.add(std::move(ending));
  if (is_there()) {
    confirm();
  } else {
    resolve_doubts(true);  // a new session is on its way anyway: it will tell
  }
}

/// Asks whether the session is there, once for all who doubt it.
void Session::confirm() {
  if (is_open()) doubts_.ask(options_.connect_wait);
}

void Session::resolve_doubts(bool lost) {
  for (Ending& ending : doubts_.take_all()) {
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
  if (!is_there()) return;  // a try to open is under way or due: it will tell
  if (failure.definitive) {
    fail_held(failure);
    if (is_open()) keep_alive_.watch();
    return;
  }
  if (phase_ != Phase::away) {
    phase_ = Phase::away;
    events_->session_away();
    log_.peer(LogLevel::warning, "upstream away",
              "the upstream {} cannot be reached: {}; trying again", upstream_.target(),
              log_text(failure));
    keep_alive_.stop();
  }
  const auto now = loop_.now();
  next_try_.set_at_latest(now + next_try_.failed(now, somebody_waits()));
  schedule();
}

/// Waiting would change nothing: who waits is told so, and the next who asks tries anew.
void Session::fail_held(const Failure& failure) {
  next_try_.clear();
  const std::vector<HeldMessage> held = held_.take_all();
  schedule();
  Failure told = failure;
  told.delivered = Delivered::no;
  for (const HeldMessage& one : held) end_message(one.message.id, told);
  if (phase_ == Phase::away) events_->session_refused(failure);
}

/// The session stands, but the upstream turns away what comes in it (401, 403): not ready, until it
/// answers something.
void Session::note_turned_away(const Failure& failure) {
  if (failure.kind != ErrorKind::auth || !is_open()) return;
  const bool is_news = !last_failure_;
  last_failure_ = failure;
  events_->session_failed(failure);
  // It may concern that one request alone.
  if (is_news && failure.status == 403) keep_alive_.ping();
}

bool Session::somebody_waits() const {
  return events_->frames_wait() || !held_.empty() || initialize_.clients;
}

void Session::came_back() {
  phase_ = Phase::open;
  ++counts_.reconnects;
  next_try_.clear();
  next_try_.forget_failures();
  last_failure_.reset();
  log_.peer(LogLevel::info, "upstream back", "the upstream {} can be reached again",
            upstream_.target());
  keep_alive_.watch();
  if (!doubts_.empty()) confirm();
  release_held();
  schedule();
  events_->session_open();
}

/// Is the upstream back? What is held asks as well as a ping.
void Session::probe() {
  next_try_.begin(loop_.now());
  if (held_.empty()) {
    keep_alive_.ping();
  } else {
    release_held();
  }
}

void Session::release_held() {
  for (HeldMessage& held : held_.take_ready(loop_.now())) send(std::move(held.message));
}

void Session::fail_expired() {
  for (HeldMessage& held : held_.take_expired(loop_.now()))
    end_message(held.message.id, std::move(held.failure));
}

void Session::end_message(UpstreamId id, Failure failure) {
  Ending ending;
  ending.failure = std::move(failure);
  events_->session_ended(id, std::move(ending));
}

void Session::give_up_held(const Failure& failure) {
  life_ = GivingUp{failure};
  const std::vector<HeldMessage> held = held_.take_all();
  schedule();
  upstream_.give_up_unsent(failure);
  for (const HeldMessage& one : held) end_message(one.message.id, failure);
  if (!is_trying()) give_up_initialize();
}

/// A client's `initialize` that waited for the next try, which does not come.
void Session::give_up_initialize() {
  if (!initialize_.clients) return;
  const UpstreamId id = initialize_.clients->id;
  withdraw_initialize(id);
  end_message(id, *given_up());
}

void Session::timer_fired() {
  fail_expired();
  if (next_try_.take_due(loop_.now()) && is_wanted()) {
    if (is_there()) {
      probe();
    } else {
      start_try();
    }
  }
  if (is_open()) release_held();
  schedule();
}

void Session::schedule() {
  const auto held = held_.next_time(is_open());
  const auto next_try = next_try_.due();
  if (!held && !next_try) {
    timer_.clear();
  } else {
    timer_.set(std::min(held.value_or(SteadyTime::max()), next_try.value_or(SteadyTime::max())));
  }
}

}  // namespace bridge
