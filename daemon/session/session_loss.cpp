#include "session/session_loss.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "json/json_object.hpp"
#include "session/era_choice.hpp"
#include "session/era_session.hpp"

namespace bridge {

void SessionLoss::message_failed(Ending ending) {
  ending.session = session_.doubt_.judge_unclear(ending.unanswered->id, ending.session);
  RetryDecision decision =
      decide_retry(ending, {session_.is_open(), session_.saved_.number, session_.loop_.now(),
                            session_.options_.connect_wait, session_.options_.login_wait});
  const bool is_lost = decision.news == RetryDecision::News::session_lost;
  const std::string_view why_lost = "a request was refused";
  const Failure why = decision.failure;
  Outgoing& message = *ending.unanswered;
  const bool repeats = decision.repeats > message.notes.repeats;
  message.notes.rejections = decision.rejections;
  message.notes.repeats = decision.repeats;
  // A modern server must not get an id twice.
  if (repeats && session_.is_modern()) session_.events_->remake(message, session_.era(), true);
  switch (decision.action) {
    case RetryDecision::Action::send_now: session_.sender_.send(std::move(message)); break;
    case RetryDecision::Action::ask: session_.doubt_.suspect(std::move(ending)); break;
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
      session_.events_->message_ended(id, std::move(ending));
      break;
    }
  }
  if (decision.news == RetryDecision::News::unreachable) go_away(why);
}

void SessionLoss::note_other_era(Ending& ending) {
  if (session_.options_.era != EraOption::automatic || !session_.has_session()) return;
  Failure& failure = *ending.failure;
  const auto error = error_of(failure);
  if (failure.status == 0 ||
      !contradicts(session_.era(), failure.status, error ? &*error : nullptr))
    return;
  session_.choice_.era_contradicted(session_.era());
  failure.delivered = Delivered::no;
  ending.session = SessionVerdict::lost;
}

void SessionLoss::hold(Outgoing message, Failure failure, std::chrono::milliseconds delay) {
  if (const Failure* shutdown = session_.given_up()) {
    end_message(message.id, *shutdown);
    return;
  }
  if (!message.notes.hold_until)
    message.notes.hold_until = session_.loop_.now() + session_.options_.connect_wait;
  session_.retries_.hold(std::move(message), std::move(failure), delay);
}

void SessionLoss::send_held(Outgoing message) {
  if (message.kind == OutgoingKind::response &&
      message.notes.session != session_.opener_.number()) {
    end_message(message.id, failure_of(ErrorKind::session, Delivered::no,
                                       "the session of the question was lost"));
    return;
  }
  if (message.notes.stateful == session_.is_modern())
    session_.events_->remake(message, session_.era(), false);
  session_.sender_.send(std::move(message));
}

void SessionLoss::end_message(UpstreamId id, Failure failure) {
  Ending ending;
  ending.failure = std::move(failure);
  session_.events_->message_ended(id, std::move(ending));
}

void SessionLoss::give_up_held(const Failure& failure) {
  session_.life_ = EraSession::GivingUp{failure};
  session_.retries_.end_all(failure);
  if (!session_.is_trying()) session_.opener_.give_up_initialize();
}

bool SessionLoss::is_open() const { return session_.is_open(); }

bool SessionLoss::has_waiters() const {
  return session_.events_->frames_wait(session_.era()) || session_.retries_.holds_messages() ||
         session_.opener_.holds_initialize();
}

void SessionLoss::try_again() {
  const bool is_resuming = session_.phase_ == EraSession::Phase::resuming;
  if (!session_.has_session()) {
    session_.opener_.start_try();
    return;
  }
  // Whether the upstream is back is shown by a held message as well as by a ping.
  session_.retries_.begin_try();
  if (is_resuming) {
    session_.health_.ping_until_answered();
  } else if (session_.retries_.holds_messages()) {
    session_.retries_.send_ready();
  } else {
    session_.health_.ping();
  }
}

void SessionLoss::lose(std::string_view why) {
  if (!session_.has_session() || !std::holds_alternative<EraSession::Running>(session_.life_))
    return;
  if (session_.is_open()) {
    session_.events_->session_away(session_.era());
  } else {
    session_.retries_.forget_failures();  // the upstream may be reachable again
  }
  if (session_.phase_ != EraSession::Phase::resuming)
    session_.loss_reason_ =
        session_.upstream_.kind() == "stdio" ? ReopeningReason::child_ended : ReopeningReason::lost;
  session_.phase_ = EraSession::Phase::waiting;
  session_.log_.peer(LogLevel::warning, "session lost",
                     "session with {} lost: {}; opening it again", session_.upstream_.target(),
                     why);
  session_.health_.cancel();
  session_.health_.check_ended(true);  // the loss has decided it
  session_.close_streams();
  session_.choice_.era_lost(session_.era());
  session_.opener_.forget_initialize();
  if (!session_.is_modern()) session_.upstream_.session_over();
  session_.doubt_.resolve_suspected(true);
  if (session_.retries_.may_reopen_at_once()) {
    session_.opener_.start_try();
  } else {
    session_.retries_.try_failed();
  }
}

void SessionLoss::go_away(const Failure& failure) {
  note_failure(failure);
  if (!session_.has_session())
    return;  // an attempt to open it is under way or scheduled and decides
  if (failure.definitive) {
    fail_held(failure);
    if (session_.is_open()) session_.health_.watch();
    return;
  }
  if (session_.is_open()) {
    session_.phase_ = EraSession::Phase::away;
    session_.events_->session_away(session_.era());
    session_.log_.peer(LogLevel::warning, "upstream away",
                       "the upstream {} cannot be reached: {}; trying again",
                       session_.upstream_.target(), log_text(failure));
    session_.health_.stop();
    session_.close_streams();
  }
  session_.retries_.try_failed();
}

void SessionLoss::came_back() {
  if (std::exchange(session_.phase_, EraSession::Phase::open) == EraSession::Phase::away) {
    ++session_.record_.counts.reconnects;
    session_.log_.peer(LogLevel::info, "upstream back", "the upstream {} can be reached again",
                       session_.upstream_.target());
  } else {
    session_.record_.opened_at = session_.loop_.now();
    session_.log_.peer(LogLevel::info, "session taken up", "resumed the session with {}",
                       session_.upstream_.target());
  }
  session_.retries_.settled();
  session_.record_.last_failure.reset();
  session_.begin_watching();
  if (session_.health_.has_suspected()) session_.doubt_.check_session();
  for (const UpstreamId id : std::exchange(session_.saved_.unanswered, {})) {
    session_.sender_.notify(
        "notifications/cancelled",
        JsonObject().add("requestId", value_of(id)).add("reason", "the client is gone").text());
  }
  session_.retries_.send_ready();
  session_.events_->session_open();
}

void SessionLoss::not_resumed(const Failure& failure) {
  note_failure(failure);
  if (session_.opener_.awaits_login()) {
    session_.events_->session_awaits_login();
  } else if (failure.kind == ErrorKind::auth) {
    session_.events_->session_refused(session_.era(), failure);
  }
  session_.retries_.try_failed();
}

/// Waiting would change nothing: held messages end with this failure, and the next request tries
/// again.
void SessionLoss::fail_held(const Failure& failure) {
  session_.retries_.try_later();
  Failure told = failure;
  told.delivered = Delivered::no;
  session_.retries_.end_all(told);
  if (!session_.is_open()) session_.events_->session_refused(session_.era(), failure);
}

void SessionLoss::note_rejected(const Failure& failure) {
  if (failure.kind != ErrorKind::auth || !session_.is_open()) return;
  const bool is_news = session_.is_ready();
  const bool is_about_one = is_news && failure.status == 403;  // possibly
  note_failure(failure);
  if (is_about_one) {
    session_.health_.ping();
  } else {
    log_refusal(failure);
  }
}

void SessionLoss::note_failure(const Failure& failure) {
  session_.record_.last_failure = failure;
  session_.events_->session_failed(failure);
}

void SessionLoss::log_refusal(const Failure& failure) {
  if (std::exchange(session_.refusal_is_logged_, true)) return;
  session_.log_.peer(LogLevel::warning, "upstream refuses",
                     "the upstream {} refuses the daemon: {}; requests fail until it accepts one",
                     session_.upstream_.target(), log_text(failure));
}

}  // namespace bridge
