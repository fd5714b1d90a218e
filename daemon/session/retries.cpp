#include "session/retries.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "session/session_loss.hpp"

namespace bridge {
namespace {

/// After this many refusals for a missing session, a message fails.
constexpr std::uint8_t max_rejections = 3;
/// How often a message that only reads is repeated after its connection broke.
constexpr std::uint8_t max_repeats = 2;

/// A message that waits for a login is sent again after this long, then after as long as it has
/// waited, up to a minute: the upstream may no longer want a login.
constexpr std::chrono::seconds first_question{5};
constexpr std::chrono::seconds longest_pause{60};
/// When a server that has refused is asked again without being needed.
constexpr std::chrono::seconds after_refusal{60};

void wait_for_login(RetryDecision& decision, const Outgoing& message,
                    const RetrySituation& situation) {
  const SteadyTime until = message.notes.login_until.value_or(situation.now + situation.login_wait);
  if (situation.now >= until) return;
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(
      situation.now - (until - situation.login_wait));
  decision.action = RetryDecision::Action::hold;
  decision.login_until = until;
  decision.delay = std::clamp<std::chrono::milliseconds>(waited, first_question, longest_pause);
}

constexpr std::string_view too_often = "the upstream keeps losing the session: ";
constexpr std::string_view too_long =
    "the upstream lost the session, and there was no other in time (--connect-wait): ";

/// The failure of a message that found no session.
Failure sessions_are_lost(Failure failure, std::string_view losing) {
  failure.kind = ErrorKind::session;
  failure.delivered = Delivered::no;
  failure.error_object.clear();
  failure.message.insert(0, losing);
  if (!failure.summary.empty()) failure.summary.insert(0, losing);
  return failure;
}

bool fits_into_wait(const Outgoing& message, std::chrono::milliseconds delay,
                    const RetrySituation& situation) {
  const SteadyTime deadline =
      message.notes.hold_until.value_or(situation.now + situation.connect_wait);
  return situation.now + delay <= deadline;
}

}  // namespace

bool wants_login(const Failure& failure) {
  return failure.kind == ErrorKind::auth && !failure.login.empty() && failure.status != 403 &&
         failure.delivered == Delivered::no;
}

bool is_unreachable(const Failure& failure) {
  return failure.delivered == Delivered::no &&
         (failure.kind == ErrorKind::connect || failure.kind == ErrorKind::dns ||
          failure.kind == ErrorKind::tls || failure.kind == ErrorKind::timeout);
}

bool may_repeat_after(const Failure& failure, const Outgoing& message) {
  return failure.kind == ErrorKind::closed && message.may_repeat &&
         message.notes.repeats < max_repeats;
}

RetryDecision decide_retry(const Ending& ending, const RetrySituation& situation) {
  using Action = RetryDecision::Action;
  using News = RetryDecision::News;
  const Failure& failure = *ending.failure;
  const Outgoing& message = *ending.unanswered;
  RetryDecision decision;
  decision.failure = failure;
  decision.rejections = message.notes.rejections;
  decision.repeats = message.notes.repeats;

  if (ending.session != SessionVerdict::kept) {
    // Another session numbers its requests again: a response would answer another one.
    const bool may_go_elsewhere = message.kind != OutgoingKind::response;
    const bool may_be_rejected_again =
        may_go_elsewhere && message.notes.rejections + 1 < max_rejections;
    const bool was_replaced = situation.is_open && message.notes.session != situation.session;
    if (ending.may_have_acted && !message.may_repeat &&
        (was_replaced || ending.session == SessionVerdict::lost)) {
      if (!was_replaced) decision.news = News::session_lost;
      decision.failure.kind = ErrorKind::session;
      decision.failure.delivered = Delivered::unknown;
      decision.action = Action::give_up;
    } else if (was_replaced && !may_go_elsewhere) {
      decision.action = Action::give_up;
    } else if (was_replaced && may_be_rejected_again) {
      // Refused in a session that has been replaced meanwhile.
      ++decision.rejections;
      decision.action = Action::send_now;
    } else if (ending.session == SessionVerdict::doubtful) {
      decision.action = Action::ask;
    } else {
      ++decision.rejections;
      decision.news = News::session_lost;
      decision.failure = sessions_are_lost(failure, may_be_rejected_again ? too_long : too_often);
      decision.action = may_be_rejected_again ? Action::hold : Action::give_up;
    }
  } else if (is_unreachable(failure)) {
    decision.news = News::unreachable;
    decision.action = failure.definitive ? Action::give_up : Action::hold;
  } else if (wants_login(failure)) {
    if (situation.login_wait.count() > 0) wait_for_login(decision, message, situation);
  } else if (failure.retry_after && failure.delivered == Delivered::no) {
    if (fits_into_wait(message, *failure.retry_after, situation)) {
      decision.action = Action::hold;
      decision.delay = *failure.retry_after;
    }
  } else if (may_repeat_after(failure, message)) {
    ++decision.repeats;
    decision.action = situation.is_open ? Action::send_now : Action::hold;
  }
  return decision;
}

void Retries::hold(Outgoing message, Failure failure, std::chrono::milliseconds delay) {
  const SteadyTime deadline = *message.notes.hold_until;
  held_.hold({std::move(message), std::move(failure), loop_.now() + delay, deadline});
  schedule();
}

void Retries::send_ready() {
  for (HeldMessage& held : held_.take_ready(loop_.now())) loss_.send_held(std::move(held.message));
  schedule();
}

void Retries::end_all(const Failure& failure) {
  const std::vector<HeldMessage> all = held_.take_all();
  schedule();
  for (const HeldMessage& held : all) loss_.end_message(held.message.id, failure);
}

std::vector<HeldMessage> Retries::take_all() {
  std::vector<HeldMessage> all = held_.take_all();
  schedule();
  return all;
}

void Retries::take_over(HeldMessage held) {
  held_.hold(std::move(held));
  schedule();
}

void Retries::logged_in() {
  held_.end_waits_for_login(loop_.now());
  if (loss_.is_open()) send_ready();
  schedule();
}

void Retries::begin_try() {
  last_try_ = loop_.now();
  clear_try();
}

void Retries::try_failed(std::optional<std::chrono::milliseconds> retry_after) {
  const SteadyTime now = loop_.now();
  std::chrono::milliseconds delay = loss_.has_waiters() ? backoff_.soon() : backoff_.next();
  if (retry_after) {
    // Requested by the server; after it, a request may bring the next attempt forward.
    not_before_ = now + std::min(*retry_after, Backoff::longest);
    delay = std::max(delay, std::min(*retry_after, Backoff::longest));
  }
  next_try_ = std::min(next_try_.value_or(SteadyTime::max()), now + delay);
  schedule();
}

void Retries::try_later() {
  next_try_ = loop_.now() + after_refusal;
  schedule();
}

void Retries::try_soon() {
  const auto pause = std::clamp(connect_wait_ / 2, hasty, impatient);
  const SteadyTime soon = std::max({last_try_ + pause, not_before_, loop_.now()});
  next_try_ = std::min(next_try_.value_or(SteadyTime::max()), soon);
  schedule();
}

void Retries::try_now() {
  not_before_ = SteadyTime{};
  if (next_try_) next_try_ = loop_.now();
  schedule();
}

void Retries::clear_try() {
  next_try_.reset();
  schedule();
}

bool Retries::may_reopen_at_once() {
  if (backoff_.tries() != 0) return false;
  backoff_.next();
  return true;
}

void Retries::timer_fired() {
  const SteadyTime now = loop_.now();
  for (HeldMessage& held : held_.take_expired(now))
    loss_.end_message(held.message.id, std::move(held.failure));
  if (next_try_ && *next_try_ <= now) {
    next_try_.reset();
    loss_.try_again();
  }
  if (loss_.is_open()) send_ready();
  schedule();
}

void Retries::schedule() {
  const auto held = held_.next_time(loss_.is_open());
  if (!held && !next_try_) {
    timer_.clear();
  } else {
    timer_.set(std::min(held.value_or(SteadyTime::max()), next_try_.value_or(SteadyTime::max())));
  }
}

}  // namespace bridge
