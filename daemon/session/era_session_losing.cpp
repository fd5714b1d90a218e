// Lost sessions, unreachable upstreams, and messages held meanwhile.
#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "json/json_object.hpp"
#include "session/era_choice.hpp"
#include "session/era_session.hpp"
#include "session/retries.hpp"

namespace bridge {

// A message failed before its answer began.
void EraSession::message_failed(Ending ending) {
  ending.session = doubt_.judge_unclear(ending.unanswered->id, ending.session);
  RetryDecision decision = decide_retry(
      ending, {is_open(), saved_.number, loop_.now(), options_.connect_wait, options_.login_wait});
  const bool is_lost = decision.news == RetryDecision::News::session_lost;
  const std::string_view why_lost = "a request was refused";
  const Failure why = decision.failure;
  Outgoing& message = *ending.unanswered;
  const bool repeats = decision.repeats > message.notes.repeats;
  message.notes.rejections = decision.rejections;
  message.notes.repeats = decision.repeats;
  // A modern server must not get an id twice.
  if (repeats && is_modern()) events_->remake(message, era(), true);
  switch (decision.action) {
    case RetryDecision::Action::send_now: sender_.send(std::move(message)); break;
    case RetryDecision::Action::ask: doubt_.suspect(std::move(ending)); break;
    case RetryDecision::Action::hold:
      if (decision.login_until) {
        message.notes.login_until = message.notes.hold_until = decision.login_until;
        message.notes.authorizations = 0;  // the next token is a new one
        note_rejected(why);
      }
      hold(std::move(message), std::move(decision.failure), decision.delay);
      if (is_lost) lose(why_lost);
      break;
    case RetryDecision::Action::give_up: {
      if (is_lost) lose(why_lost);
      const UpstreamId id = message.id;
      ending.failure = std::move(decision.failure);
      note_rejected(why);
      events_->message_ended(id, std::move(ending));
      break;
    }
  }
  if (decision.news == RetryDecision::News::unreachable) go_away(why);
}

void EraSession::hold(Outgoing message, Failure failure, std::chrono::milliseconds delay) {
  if (const Failure* shutdown = given_up()) {
    end_message(message.id, *shutdown);
    return;
  }
  if (!message.notes.hold_until) message.notes.hold_until = loop_.now() + options_.connect_wait;
  retries_.hold(std::move(message), std::move(failure), delay);
}

void EraSession::lose(std::string_view why) {
  if (!has_session() || !std::holds_alternative<Running>(life_)) return;
  if (is_open()) {
    events_->session_away(era());
  } else {
    retries_.forget_failures();  // the upstream may be reachable again
  }
  if (phase_ != Phase::resuming)
    loss_ = upstream_.kind() == "stdio" ? ReopeningReason::child_ended : ReopeningReason::lost;
  phase_ = Phase::waiting;
  log_.peer(LogLevel::warning, "session lost", "session with {} lost: {}; opening it again",
            upstream_.target(), why);
  health_.cancel();
  health_.check_ended(true);  // the loss has decided it
  close_streams();
  choice_.era_lost(era());
  initialize_ = {std::nullopt, saved_.initialize_params};
  if (!is_modern()) upstream_.session_over();
  doubt_.resolve_suspected(true);
  if (retries_.may_reopen_at_once()) {
    start_try();
  } else {
    retries_.try_failed();
  }
}

// The session may exist, but the upstream is unreachable.
void EraSession::go_away(const Failure& failure) {
  note_failure(failure);
  if (!has_session()) return;  // an attempt to open it is under way or scheduled and decides
  if (failure.definitive) {
    fail_held(failure);
    if (is_open()) health_.watch();
    return;
  }
  if (is_open()) {
    phase_ = Phase::away;
    events_->session_away(era());
    log_.peer(LogLevel::warning, "upstream away",
              "the upstream {} cannot be reached: {}; trying again", upstream_.target(),
              log_text(failure));
    health_.stop();
    close_streams();
  }
  retries_.try_failed();
}

/// Waiting would change nothing: held messages end with this failure, and the next request tries
/// again.
void EraSession::fail_held(const Failure& failure) {
  retries_.try_later();
  Failure told = failure;
  told.delivered = Delivered::no;
  retries_.end_all(told);
  if (!is_open()) events_->session_refused(era(), failure);
}

/// The session exists, but the upstream refuses its messages (401, 403): not ready until it
/// answers.
void EraSession::note_rejected(const Failure& failure) {
  if (failure.kind != ErrorKind::auth || !is_open()) return;
  const bool is_news = is_ready();
  const bool is_about_one = is_news && failure.status == 403;  // possibly
  note_failure(failure);
  if (is_about_one) {
    health_.ping();
  } else {
    log_refusal(failure);
  }
}

/// Shown in the status until an attempt succeeds.
void EraSession::note_failure(const Failure& failure) {
  record_.last_failure = failure;
  events_->session_failed(failure);
}

/// Logged once, until the upstream answers.
void EraSession::log_refusal(const Failure& failure) {
  if (std::exchange(refusal_is_logged_, true)) return;
  log_.peer(LogLevel::warning, "upstream refuses",
            "the upstream {} refuses the daemon: {}; requests fail until it accepts one",
            upstream_.target(), log_text(failure));
}

bool EraSession::has_waiters() const {
  return events_->frames_wait(era()) || retries_.holds_messages() || initialize_.clients;
}

/// The upstream can be reached again, or knows an earlier daemon's session.
void EraSession::came_back() {
  if (std::exchange(phase_, Phase::open) == Phase::away) {
    ++record_.counts.reconnects;
    log_.peer(LogLevel::info, "upstream back", "the upstream {} can be reached again",
              upstream_.target());
  } else {
    record_.opened_at = loop_.now();
    log_.peer(LogLevel::info, "session taken up", "resumed the session with {}",
              upstream_.target());
  }
  retries_.settled();
  record_.last_failure.reset();
  begin_watching();
  if (health_.has_suspected()) doubt_.check_session();
  for (const UpstreamId id : std::exchange(saved_.unanswered, {})) {
    sender_.notify(
        "notifications/cancelled",
        JsonObject().add("requestId", value_of(id)).add("reason", "the client is gone").text());
  }
  retries_.send_ready();
  events_->session_open();
}

void EraSession::try_again() {
  const bool is_resuming = phase_ == Phase::resuming;
  if (!has_session()) {
    // A client whose `initialize` has failed may be gone.
    if (!initialize_.clients && !is_modern()) initialize_.params = own_params();
    start_try();
    return;
  }
  // Whether the upstream is back is shown by a held message as well as by a ping.
  retries_.begin_try();
  if (is_resuming) {
    health_.ping_until_answered();
  } else if (retries_.holds_messages()) {
    retries_.send_ready();
  } else {
    health_.ping();
  }
}

void EraSession::end_message(UpstreamId id, Failure failure) {
  Ending ending;
  ending.failure = std::move(failure);
  events_->message_ended(id, std::move(ending));
}

void EraSession::give_up_held(const Failure& failure) {
  life_ = GivingUp{failure};
  retries_.end_all(failure);
  if (!is_trying()) give_up_initialize();
}

/// Ends a client's `initialize` whose next attempt will not be made.
void EraSession::give_up_initialize() {
  if (!initialize_.clients) return;
  const UpstreamId id = initialize_.clients->id;
  withdraw_initialize(id);
  end_message(id, *given_up());
}

}  // namespace bridge
