#include "session/era_choice.hpp"

#include <fmt/format.h>

#include <utility>

#include "session/era_session.hpp"

namespace bridge {

/// Whether options and transport allow this era.
bool EraChoice::may_speak(Era era) const {
  if (era == Era::modern) return options_.era != EraOption::legacy && upstream_.may_be_modern();
  return options_.era != EraOption::modern;
}

Era EraChoice::side_for(Era client) const {
  // The usual case, for each message.
  if (eras_.of(client) == Speaks::yes && options_.era == EraOption::automatic) return client;
  const Era other = other_than(client);
  if (!may_speak(client)) return other;
  if (!may_speak(other)) return client;
  if (eras_.exclude_both()) return spoken_before_.value_or(other);
  if (speaks_one_era() && first_ && eras_.of(client) == Speaks::unknown) return *first_;
  return eras_.excludes(client) ? other : client;
}

void EraChoice::begin_opening(Era client) {
  if (eras_.exclude_both()) {
    eras_ = {};
    first_ = spoken_before_;
    if (spoken_before_) eras_.of(*spoken_before_) = Speaks::yes;
  }
  if (speaks_one_era() && !first_) first_ = client;
}

std::optional<Failure> EraChoice::era_refused(Era era, EraRefusal refusal) {
  const Era other = other_than(era);
  if (!may_speak(other)) {
    if (options_.era != EraOption::modern) return std::move(refusal.failure);
    return definitive_failure_of(
        ErrorKind::session,
        fmt::format("the upstream does not speak MCP {} (--era modern)", newest_version));
  }
  // The server spoke this era until now: it was replaced, so what was known of the other era is
  // outdated.
  if (eras_.of(era) == Speaks::yes) {
    spoken_before_ = era;
    if (eras_.excludes(other)) eras_.of(other) = Speaks::unknown;
  }
  // It ended when the era that it has spoken was tried: it speaks that one still.
  if (refusal.for_good && spoken_before_ == other && eras_.of(other) == Speaks::not_now)
    eras_.of(other) = Speaks::unknown;
  const bool speaks_neither = eras_.excludes(other);
  eras_.of(era) = refusal.for_good ? Speaks::no : Speaks::not_now;
  if (speaks_neither)
    return std::exchange(refused_before_, std::nullopt).value_or(std::move(refusal.failure));
  refused_before_ = std::move(refusal.failure);
  if (first_) first_ = other;
  EraSession& successor = sides_.of(other);
  sides_.of(era).opener().hand_over_to(successor.opener());
  if (successor.is_open()) {
    refused_before_.reset();
    spoken_before_.reset();
    sides_.of(era).forget();
    successor.opener().serve_what_was_handed_over();
    events_->session_open();
  } else {
    successor.opener().require();
  }
  return std::nullopt;
}

void EraChoice::era_found(Era era) {
  eras_.of(era) = Speaks::yes;
  refused_before_.reset();
  spoken_before_.reset();
  if (eras_.excludes(other_than(era))) sides_.of(other_than(era)).forget();
  if (!speaks_one_era()) {
    // The streams of --event are modern; a server known to have no modern side is not asked again.
    if (era == Era::legacy && !options_.events.empty() && side_for(Era::modern) == Era::modern)
      sides_.modern.opener().require();
    return;
  }
  // The process speaks this era; the other one may have been tried.
  const Era other = other_than(era);
  first_ = era;
  if (!may_speak(other)) return;
  eras_.of(other) = Speaks::no;
  sides_.of(other).opener().hand_over_to(sides_.of(era).opener());
}

void EraChoice::era_is_slow(Era era) {
  const Era other = other_than(era);
  const bool is_known = eras_.of(era) == Speaks::yes || eras_.excludes(other);
  if (may_speak(other) && !is_known) sides_.of(other).opener().require();
}

void EraChoice::era_contradicted(Era era) {
  // The session of this era is lost and reopened, which detects what the server speaks now.
  if (const Era other = other_than(era); eras_.excludes(other)) eras_.of(other) = Speaks::unknown;
}

void EraChoice::era_lost(Era era) {
  Speaks& other = eras_.of(other_than(era));
  if (other == Speaks::not_now) other = Speaks::unknown;
}

void EraChoice::restore(const SavedSession& saved) {
  eras_ = saved.eras;
  if (!speaks_one_era()) return;
  if (saved.number > 0) first_ = Era::legacy;
  if (saved.modern) first_ = Era::modern;
}

}  // namespace bridge
