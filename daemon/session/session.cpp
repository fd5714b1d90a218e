#include "session/session.hpp"

#include <utility>

namespace bridge {

Session::Session(EventLoop& loop, UpstreamIdSource& ids, Upstream& upstream, Log& log,
                 SessionOptions options)
    : upstream_(upstream),
      ids_(ids),
      options_(std::move(options)),
      sides_{{Era::legacy, loop, ids, upstream, tap_, own_, log, options_, choice_, events_},
             {Era::modern, loop, ids, upstream, tap_, own_, log, options_, choice_, events_}},
      choice_(upstream, options_, sides_, events_),
      dispatch_(upstream, sides_, choice_, own_, tap_, log, events_) {}

Era Session::ring_source() const {
  if (side_for(Era::legacy) == Era::modern) return Era::modern;
  return sides_.legacy.number() == 0 && sides_.modern.number() > 0 ? Era::modern : Era::legacy;
}

const EraSession& Session::shown() const {
  const Era preferred = side_for(Era::legacy);
  const EraSession& other = side(other_than(preferred));
  return side(preferred).is_idle() && !other.is_idle() ? other : side(preferred);
}

SessionCounts Session::counts() const {
  const SessionCounts& legacy = sides_.legacy.record().counts;
  const SessionCounts& modern = sides_.modern.record().counts;
  return {legacy.opened + modern.opened, legacy.reopened + modern.reopened,
          legacy.failed_tries + modern.failed_tries, legacy.reconnects + modern.reconnects};
}

const std::optional<Failure>& Session::last_failure() const {
  const EraSession& preferred = shown();
  return preferred.last_failure() ? preferred.last_failure()
                                  : side(other_than(preferred.era())).last_failure();
}

void Session::require(Era client) {
  choice_.begin_opening(client);
  sides_.of(side_for(client)).opener().require();
}

bool Session::wants_initialize() const {
  return (eras().exclude_both() || side_for(Era::legacy) == Era::legacy) &&
         sides_.legacy.opener().wants_initialize();
}

void Session::open_with(UpstreamId id, std::string body, std::string params) {
  choice_.begin_opening(Era::legacy);
  sides_.legacy.opener().open_with(id, std::move(body), std::move(params));
}

void Session::withdraw_initialize(UpstreamId id) {
  sides_.legacy.opener().withdraw_initialize(id);
  sides_.modern.opener().withdraw_initialize(id);
}

void Session::logged_in() {
  sides_.legacy.opener().logged_in();
  sides_.modern.opener().logged_in();
}

std::optional<std::chrono::milliseconds> Session::login_wait() const {
  const auto wait = sides_.legacy.login_wait();
  return wait ? wait : sides_.modern.login_wait();
}

void Session::abandon(UpstreamId id) {
  if (!sides_.legacy.forget_unsent(id) && !sides_.modern.forget_unsent(id)) upstream_.abandon(id);
}

void Session::reconfigure(const SessionOptions& options) {
  options_.connect_wait = options.connect_wait;
  options_.login_wait = options.login_wait;
  options_.keepalive = options.keepalive;
  sides_.legacy.reconfigure();
  sides_.modern.reconfigure();
}

void Session::retry_refused() {
  sides_.legacy.retry_refused();
  sides_.modern.retry_refused();
}

void Session::give_up_held(const Failure& failure) {
  sides_.legacy.give_up_held(failure);
  sides_.modern.give_up_held(failure);
  upstream_.give_up_unsent(failure);
}

void Session::end(std::function<void()> done) {
  sides_.legacy.end();
  sides_.modern.end();
  upstream_.end(std::move(done));
}

// State that outlives the daemon or its process.

SavedSession Session::save() const {
  const EraSession::Saved& legacy = sides_.legacy.saved();
  return {.number = legacy.number,
          .initialize_params = legacy.initialize_params,
          .eras = eras(),
          .server = legacy.server,
          .modern = sides_.modern.saved().server,
          .settings = events_->settings(),
          .unanswered = legacy.unanswered,
          .ids = ids_};
}

void Session::restore(SavedSession saved) {
  events_->take_settings(saved.settings);
  ids_ = saved.ids;
  choice_.restore(saved);
  sides_.legacy.restore({saved.number, std::move(saved.initialize_params), std::move(saved.server),
                         std::move(saved.unanswered)});
  const std::uint32_t modern_number = saved.modern ? 1 : 0;
  sides_.modern.restore({modern_number, {}, std::move(saved.modern), {}});
}

void Session::reopen() {
  for (EraSession* const side : {&sides_.legacy, &sides_.modern}) {
    if (side->number() > 0 && !eras().excludes(side->era())) side->opener().require();
  }
}

SavedStreams Session::save_streams() const {
  SavedStreams streams = sides_.modern.save_streams();
  streams.modern_is_there = sides_.modern.has_session();
  streams.legacy_is_there = sides_.legacy.has_session();
  return streams;
}

void Session::resume(SavedSession saved, const SessionReference& reference,
                     const SavedStreams* streams) {
  restore(std::move(saved));
  const bool legacy_is_there = streams == nullptr || streams->legacy_is_there;
  const bool modern_is_there = streams != nullptr && streams->modern_is_there;
  for (EraSession* const side : {&sides_.legacy, &sides_.modern}) {
    if (side->number() == 0) continue;
    if (side->is_modern() ? modern_is_there : legacy_is_there) {
      side->resume(reference, streams);
    } else {
      side->opener().require();
    }
  }
}

}  // namespace bridge
