#include "session/retries.hpp"

#include <algorithm>
#include <utility>

namespace bridge {

Retries::Retries(EventLoop& loop, Events& events)
    : loop_(loop), events_(events), timer_(loop, [this] { timer_fired(); }) {}

void Retries::hold(Outgoing message, Failure failure, std::chrono::milliseconds delay) {
  const SteadyTime deadline = *message.notes.hold_until;
  held_.hold({std::move(message), std::move(failure), loop_.now() + delay, deadline});
  schedule();
}

void Retries::send_ready() {
  for (HeldMessage& held : held_.take_ready(loop_.now()))
    events_.send_held(std::move(held.message));
  schedule();
}

void Retries::end_all(const Failure& failure) {
  const std::vector<HeldMessage> all = held_.take_all();
  schedule();
  for (const HeldMessage& held : all) events_.end_message(held.message.id, failure);
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
  if (events_.can_send_held()) send_ready();
  schedule();
}

void Retries::begin_try() {
  last_try_ = loop_.now();
  clear_try();
}

void Retries::try_failed(bool somebody_waits,
                         std::optional<std::chrono::milliseconds> retry_after) {
  const SteadyTime now = loop_.now();
  std::chrono::milliseconds delay = somebody_waits ? backoff_.soon() : backoff_.next();
  if (retry_after) {
    // That is the server's; beyond it, who comes may be impatient.
    not_before_ = now + std::min(*retry_after, Backoff::longest);
    delay = std::max(delay, std::min(*retry_after, Backoff::longest));
  }
  next_try_ = std::min(next_try_.value_or(SteadyTime::max()), now + delay);
  schedule();
}

void Retries::try_soon() {
  const SteadyTime soon = std::max({last_try_ + impatient, not_before_, loop_.now()});
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

bool Retries::may_be_at_once() {
  if (backoff_.tries() != 0) return false;
  backoff_.next();
  return true;
}

void Retries::timer_fired() {
  const SteadyTime now = loop_.now();
  for (HeldMessage& held : held_.take_expired(now))
    events_.end_message(held.message.id, std::move(held.failure));
  if (next_try_ && *next_try_ <= now) {
    next_try_.reset();
    events_.try_again();
  }
  if (events_.can_send_held()) send_ready();
  schedule();
}

void Retries::schedule() {
  const auto held = held_.next_time(events_.can_send_held());
  if (!held && !next_try_) {
    timer_.clear();
  } else {
    timer_.set(std::min(held.value_or(SteadyTime::max()), next_try_.value_or(SteadyTime::max())));
  }
}

}  // namespace bridge
