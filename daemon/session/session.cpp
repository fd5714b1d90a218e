#include "session/session.hpp"

#include <fmt/format.h>

#include <utility>

#include "json/json_text.hpp"
#include "mcp/handshake.hpp"

namespace bridge {

Session::Session(EventLoop& loop, UpstreamIdSource& ids, Upstream& upstream, Log& log,
                 SessionOptions options)
    : upstream_(upstream),
      ids_(ids),
      log_(log),
      options_(std::move(options)),
      legacy_(Era::legacy, loop, ids, upstream, tap_, own_, log, options_, *this),
      modern_(Era::modern, loop, ids, upstream, tap_, own_, log, options_, *this) {
  upstream.set_events(*this);
}

void Session::set_events(SessionEvents& events) {
  events_ = &events;
  legacy_.set_events(events);
  modern_.set_events(events);
}

/// Whether options and transport allow this era.
bool Session::may_speak(Era era) const {
  if (era == Era::modern) return options_.era != EraOption::legacy && upstream_.may_be_modern();
  return options_.era != EraOption::modern;
}

Era Session::side_for(Era client) const {
  // The usual case, for each message.
  if (eras_.of(client) == Speaks::yes && options_.era == EraOption::automatic) return client;
  const Era other = other_than(client);
  if (!may_speak(client)) return other;
  if (!may_speak(other)) return client;
  if (speaks_neither()) return spoken_before_.value_or(other);
  if (speaks_one_era() && first_ && eras_.of(client) == Speaks::unknown) return *first_;
  return eras_.excludes(client) ? other : client;
}

Era Session::ring_source() const {
  if (side_for(Era::legacy) == Era::modern) return Era::modern;
  return legacy_.number() == 0 && modern_.number() > 0 ? Era::modern : Era::legacy;
}

const EraSession& Session::shown() const {
  const Era preferred = side_for(Era::legacy);
  const EraSession& other = side(other_than(preferred));
  return side(preferred).is_idle() && !other.is_idle() ? other : side(preferred);
}

SessionCounts Session::counts() const {
  const SessionCounts& legacy = legacy_.record().counts;
  const SessionCounts& modern = modern_.record().counts;
  return {legacy.opened + modern.opened, legacy.reopened + modern.reopened,
          legacy.failed_tries + modern.failed_tries, legacy.reconnects + modern.reconnects};
}

const std::optional<Failure>& Session::last_failure() const {
  const EraSession& preferred = shown();
  return preferred.last_failure() ? preferred.last_failure()
                                  : side(other_than(preferred.era())).last_failure();
}

void Session::begin_opening(Era client) {
  if (speaks_neither()) {
    eras_ = {};
    first_ = spoken_before_;
    if (spoken_before_) eras_.of(*spoken_before_) = Speaks::yes;
  }
  if (speaks_one_era() && !first_) first_ = client;
}

void Session::require(Era client) {
  begin_opening(client);
  side_of(side_for(client)).require();
}

bool Session::wants_initialize() const {
  return (speaks_neither() || side_for(Era::legacy) == Era::legacy) && legacy_.wants_initialize();
}

void Session::open_with(UpstreamId id, std::string body, std::string params) {
  begin_opening(Era::legacy);
  legacy_.open_with(id, std::move(body), std::move(params));
}

void Session::withdraw_initialize(UpstreamId id) {
  legacy_.withdraw_initialize(id);
  modern_.withdraw_initialize(id);
}

void Session::logged_in() {
  legacy_.logged_in();
  modern_.logged_in();
}

std::optional<std::chrono::milliseconds> Session::login_wait() const {
  const auto wait = legacy_.login_wait();
  return wait ? wait : modern_.login_wait();
}

void Session::abandon(UpstreamId id) {
  if (!legacy_.forget_unsent(id) && !modern_.forget_unsent(id)) upstream_.abandon(id);
}

void Session::reconfigure(const SessionOptions& options) {
  options_.connect_wait = options.connect_wait;
  options_.login_wait = options.login_wait;
  options_.keepalive = options.keepalive;
  legacy_.reconfigure();
  modern_.reconfigure();
}

void Session::retry_refused() {
  legacy_.retry_refused();
  modern_.retry_refused();
}

void Session::give_up_held(const Failure& failure) {
  legacy_.give_up_held(failure);
  modern_.give_up_held(failure);
  upstream_.give_up_unsent(failure);
}

void Session::end(std::function<void()> done) {
  legacy_.end();
  modern_.end();
  upstream_.end(std::move(done));
}

// The server's eras.

std::optional<Failure> Session::era_refused(Era era, EraRefusal refusal) {
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
  EraSession& successor = side_of(other);
  side_of(era).hand_over_to(successor);
  if (successor.is_open()) {
    refused_before_.reset();
    spoken_before_.reset();
    side_of(era).forget();
    successor.serve_what_was_handed_over();
    events_->session_open();
  } else {
    successor.require();
  }
  return std::nullopt;
}

void Session::era_found(Era era) {
  eras_.of(era) = Speaks::yes;
  refused_before_.reset();
  spoken_before_.reset();
  if (eras_.excludes(other_than(era))) side_of(other_than(era)).forget();
  if (!speaks_one_era()) {
    // The streams of --event are modern; a server known to have no modern side is not asked again.
    if (era == Era::legacy && !options_.events.empty() && side_for(Era::modern) == Era::modern)
      modern_.require();
    return;
  }
  // The process speaks this era; the other one may have been tried.
  const Era other = other_than(era);
  first_ = era;
  if (!may_speak(other)) return;
  eras_.of(other) = Speaks::no;
  side_of(other).hand_over_to(side_of(era));
}

void Session::era_is_slow(Era era) {
  const Era other = other_than(era);
  const bool is_known = eras_.of(era) == Speaks::yes || eras_.excludes(other);
  if (may_speak(other) && !is_known) side_of(other).require();
}

void Session::era_contradicted(Era era) {
  // The session of this era is lost and reopened, which detects what the server speaks now.
  if (const Era other = other_than(era); eras_.excludes(other)) eras_.of(other) = Speaks::unknown;
}

void Session::era_lost(Era era) {
  Speaks& other = eras_.of(other_than(era));
  if (other == Speaks::not_now) other = Speaks::unknown;
}

// Messages of the upstream, and the side they belong to.

/// The side that sent the message with this id.
EraSession& Session::sender_of(UpstreamId id) {
  if (const auto own = own_.find(id)) return side_of(own->side);
  if (const auto of_client = events_->side_of(id)) return side_of(*of_client);
  return side_of(side_without_origin());
}

/// The side of a message on no request's stream: for a local server the one that it speaks;
/// otherwise only a legacy session has such a stream.
Era Session::side_without_origin() const {
  return speaks_one_era() ? side_for(Era::legacy) : Era::legacy;
}

EraSession& Session::side_of_message(std::optional<UpstreamId> origin, const Frame& frame) {
  if (const UpstreamId id = request_answered_by(frame, origin); id != UpstreamId{})
    return sender_of(id);
  if (const auto echo = own_.side_of_echo(frame)) return side_of(*echo);
  if (frame.is_notification()) {
    if (const auto own = own_.find_stream(stream_named_by(frame, origin)))
      return side_of(own->side);
  }
  return origin ? sender_of(*origin) : side_of(side_without_origin());
}

/// Logs once that the server returns ids or progress tokens in a spelling of its own.
void Session::note_spelling(const Frame& frame) {
  if (says_other_spelling_) return;
  const std::string_view returned =
      frame.text(frame.is_response() ? frame.id : frame.progress_token);
  if (returned.find_first_not_of("0123456789") == returned.npos) return;
  const auto number = frame.is_request() ? std::nullopt : unsigned_by_value(returned);
  if (!number) return;
  says_other_spelling_ = true;
  log_.event(LogLevel::info, "other spelling of ids",
             "the upstream returns ids in another spelling, {} for {}: compared by value",
             printable(returned, 40), *number);
}

AnsweredRequests Session::upstream_message(std::optional<UpstreamId> origin, ReceivedText message) {
  AnsweredRequests answered;
  bool knows_session = false;
  if (legacy_.has_ended()) return answered;
  tap_.passed(Passage::from_server, {}, message.bytes);
  const auto note_malformed = [&](std::string_view reason) {
    (origin ? sender_of(*origin) : side_of(side_without_origin())).note_malformed(origin, reason);
  };
  const auto frame_received = [&](ParsedFrame&& parsed) {
    if (const auto* wrong = std::get_if<FrameFault>(&parsed)) {
      const auto id =
          wrong->answers ? std::optional(static_cast<UpstreamId>(*wrong->answers)) : std::nullopt;
      if (id && (own_.find(*id) || events_->side_of(*id))) {
        // No other answer comes.
        EraSession& asker = sender_of(*id);
        asker.note_malformed(*id, wrong->reason);
        asker.forget_unsent(*id);
        asker.message_ended(*id, {.failure = {}, .something_came = true});
        answered.add(*id);
      } else {
        note_malformed(wrong->reason);
      }
      return;
    }
    Frame& frame = std::get<Frame>(parsed);
    note_spelling(frame);
    knows_session = knows_session || !frame.error.present();
    EraSession& receiver = side_of_message(origin, frame);
    answered.add(receiver.one_message(origin, std::move(frame)).value_or(UpstreamId{}));
  };
  if (!is_batch(message.bytes)) {
    frame_received(parse_received(std::move(message)));
  } else if (auto batch = parse_batch(message.bytes); std::holds_alternative<FrameFault>(batch)) {
    note_malformed(std::get<FrameFault>(batch).reason);
  } else {
    for (ParsedFrame& parsed : std::get<0>(batch)) frame_received(std::move(parsed));
  }
  // Afterwards, because answered messages must not be sent again.
  for (EraSession* const side : {&legacy_, &modern_}) side->upstream_reachable(knows_session);
  return answered;
}

void Session::message_ended(UpstreamId id, Ending ending) {
  if (legacy_.has_ended()) return;
  const bool is_known = !ending.unanswered || own_.find(id);
  EraSession& sender = is_known
                           ? sender_of(id)
                           : side_of(ending.unanswered->notes.stateful ? Era::legacy : Era::modern);
  sender.message_ended(id, std::move(ending));
}

void Session::upstream_reachable() {
  if (legacy_.has_ended()) return;
  legacy_.upstream_reachable(false);
  modern_.upstream_reachable(false);
}

void Session::upstream_lost_session() {
  legacy_.upstream_lost_session();
  if (speaks_one_era()) modern_.upstream_lost_session();
}

// State that outlives the daemon or its process.

SavedSession Session::save() const {
  const EraSession::Saved& legacy = legacy_.saved();
  return {.number = legacy.number,
          .initialize_params = legacy.initialize_params,
          .eras = eras_,
          .server = legacy.server,
          .modern = modern_.saved().server,
          .settings = events_->settings(),
          .unanswered = legacy.unanswered,
          .ids = ids_};
}

void Session::restore(SavedSession saved) {
  events_->take_settings(saved.settings);
  ids_ = saved.ids;
  eras_ = saved.eras;
  if (speaks_one_era()) {
    if (saved.number > 0) first_ = Era::legacy;
    if (saved.modern) first_ = Era::modern;
  }
  legacy_.restore({saved.number, std::move(saved.initialize_params), std::move(saved.server),
                   std::move(saved.unanswered)});
  const std::uint32_t modern_number = saved.modern ? 1 : 0;
  modern_.restore({modern_number, {}, std::move(saved.modern), {}});
}

void Session::reopen() {
  for (EraSession* const side : {&legacy_, &modern_}) {
    if (side->number() > 0 && !eras_.excludes(side->era())) side->require();
  }
}

SavedStreams Session::save_streams() const {
  SavedStreams streams = modern_.save_streams();
  streams.modern_is_there = modern_.has_session();
  streams.legacy_is_there = legacy_.has_session();
  return streams;
}

void Session::resume(SavedSession saved, const SessionReference& reference,
                     const SavedStreams* streams) {
  restore(std::move(saved));
  const bool legacy_is_there = streams == nullptr || streams->legacy_is_there;
  const bool modern_is_there = streams != nullptr && streams->modern_is_there;
  for (EraSession* const side : {&legacy_, &modern_}) {
    if (side->number() == 0) continue;
    if (side->is_modern() ? modern_is_there : legacy_is_there) {
      side->resume(reference, streams);
    } else {
      side->require();
    }
  }
}

}  // namespace bridge
