#include "session/upstream_listen.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "mcp/subscription_filter.hpp"
#include "session/era_session.hpp"

namespace bridge {
namespace {

/// How long a replaced stream is still read, for what the server sent only there; and how often at
/// most for that long again, because it has delivered something.
constexpr std::chrono::milliseconds overlap_time{250};
constexpr int most_overlaps = 8;
/// After this the loop has read what had arrived.
constexpr std::chrono::milliseconds one_round{1};
/// When a stream that is not acknowledged is reported.
constexpr std::chrono::seconds late{10};

}  // namespace

UpstreamId stream_named_by(const Frame& notification, std::optional<UpstreamId> origin) {
  const bool is_cancelled = notification.method == "notifications/cancelled";
  const Slice named = is_cancelled && notification.request_id.present()
                          ? notification.request_id
                          : notification.subscription_id;
  const auto id = unsigned_by_value(notification.text(named));
  return id ? static_cast<UpstreamId>(*id) : origin.value_or(UpstreamId{});
}

UpstreamListen::UpstreamListen(EventLoop& loop, SessionSender& sender, Upstream& upstream, Log& log,
                               EraSession& session)
    : loop_(loop),
      sender_(sender),
      upstream_(upstream),
      log_(log),
      session_(session),
      retry_(loop, [this] { ask_for_stream(); }),
      overlap_(loop, [this] { overlap_ended(); }),
      late_(loop, [this] {
        log_.peer(LogLevel::warning, "listen unanswered",
                  "the upstream {} has not acknowledged subscriptions/listen for {} s: no "
                  "notifications from it",
                  upstream_.target(), late.count());
      }) {}

void UpstreamListen::overlap_ended() {
  if (old_ == UpstreamId{}) {
    told_.keep_only({now_.id, next_});
  } else if (old_is_read()) {
    // Its last messages may still be on their way on the new stream.
    close(old_);
    if (now_.is_open()) told_.settle(now_.id);
    overlap_.set_after(overlap_time);
  }
  if (old_ == UpstreamId{} && std::exchange(start_waits_, false) && asked_ != wanted_.filter)
    ask_for_stream();
}

/// Whether the old stream has delivered what the server sent only there. Otherwise `overlap_` is
/// set. That a daemon which was not run for a while has received nothing shows nothing: it must
/// have asked the kernel since the time was over.
bool UpstreamListen::old_is_read() {
  const bool delivers = std::exchange(old_delivered_, false) && !told_.repeats();
  if (delivers ? ++overlaps_ > most_overlaps : old_was_silent_) return true;
  old_was_silent_ = !delivers;
  overlap_.set_after(delivers ? overlap_time : one_round);
  return false;
}

void UpstreamListen::open() {
  is_open_ = true;
  pace_.reset();
  ask_for_stream();
}

void UpstreamListen::restore(UpstreamId still_open) {
  old_ = still_open;
  had_stream_ = old_ == UpstreamId{};  // otherwise nothing is missed
  if (had_stream_) return;
  sender_.adopt(old_, MessageOwner::listen);
  told_.begin(old_);
}

void UpstreamListen::close() {
  is_open_ = false;
  had_stream_ = false;
  start_waits_ = false;
  retry_.clear();
  overlap_.clear();
  late_.clear();
  told_.keep_only({});
  for (UpstreamId* const stream : {&old_, &now_.id, &next_}) close(*stream);
}

void UpstreamListen::want(SubscriptionFilter filter, std::string capabilities) {
  wanted_ = {std::move(filter), std::move(capabilities)};
  const bool is_asked = now_.is_open() || next_ != UpstreamId{};
  if (!is_open_ || (is_asked && asked_ == wanted_.filter)) return;
  // A refused stream is requested again with another filter; a broken one after its pause.
  if (!retry_.is_set()) retry_.set_at_latest(pace_.soonest(loop_.now()));
}

void UpstreamListen::ask_for_stream() {
  retry_.clear();
  if (!is_open_) return;
  // A third stream would end the first before it is read.
  start_waits_ = old_ != UpstreamId{} && now_.is_open() && !wanted_.filter.empty();
  if (start_waits_) return;
  close(next_);
  asked_ = wanted_.filter;
  if (asked_.empty()) {
    late_.clear();
    close(now_.id);
    session_.listen_changed(ServerStream::off);
    return;
  }
  pace_.begin(loop_.now());
  const std::string filter = asked_.json();
  next_ = sender_.stream(MessageOwner::listen, "subscriptions/listen",
                         JsonObject().add("notifications", RawJson{filter}).text(),
                         wanted_.capabilities);
  told_.begin(next_);
  late_.set_after(late);
  if (!now_.is_open()) session_.listen_changed(ServerStream::waiting);
}

void UpstreamListen::close(UpstreamId& stream) {
  const UpstreamId closed = std::exchange(stream, UpstreamId{});
  if (closed != UpstreamId{}) sender_.close_stream(closed);
}

std::optional<std::string> UpstreamListen::take_notification(UpstreamId stream,
                                                             const Frame& notification) {
  if (notification.method == "notifications/subscriptions/acknowledged") {
    acknowledged(stream, notification);
    return std::nullopt;
  }
  if (notification.method == "notifications/cancelled") {
    sender_.abandon(stream);
    over(stream, false);
    return std::nullopt;
  }
  if (stream == old_) old_delivered_ = true;
  std::string line = without_subscription_id(notification);
  return told_.is_news(stream, line) ? std::optional(std::move(line)) : std::nullopt;
}

void UpstreamListen::acknowledged(UpstreamId stream, const Frame& acknowledgement) {
  if (stream != next_) return;
  late_.clear();
  const bool is_resumed = had_stream_ && !now_.is_open();
  had_stream_ = true;
  pace_.reset();
  close(old_);
  if (upstream_.has_answer_streams()) {
    // What an earlier stream delivered may still come on this one, even if that stream is gone.
    told_.acknowledged();
    if (told_.has_several()) overlap_.set_after(overlap_time);
    old_ = now_.id;
    old_delivered_ = old_was_silent_ = false;
    overlaps_ = 0;
  } else {
    told_.keep_only({next_});  // messages of one stream are in order
    close(now_.id);
  }
  now_ = {std::exchange(next_, UpstreamId{}), asked_};
  auto honoured = read_acknowledged(acknowledgement);
  if (auto* const filter = std::get_if<SubscriptionFilter>(&honoured))
    now_.honoured = std::move(*filter);
  session_.listen_changed(ServerStream::open);
  session_.events_->listen_acknowledged();
  if (is_resumed) session_.events_->listen_resumed(asked_);
}

void UpstreamListen::over(UpstreamId stream, bool refused, std::string_view why) {
  if (refused) {
    log_.peer(LogLevel::warning, "listen refused",
              "the upstream refuses subscriptions/listen{}: no notifications from it", why);
  }
  for (UpstreamId* const one : {&old_, &now_.id, &next_}) {
    if (*one == stream) *one = UpstreamId{};
  }
  if (next_ == UpstreamId{}) late_.clear();
  if (now_.is_open() || next_ != UpstreamId{}) return;
  told_.keep_only({old_});
  session_.listen_changed(refused ? ServerStream::none : ServerStream::waiting);
  if (!refused) retry_.set_at_latest(pace_.after_end(loop_.now(), had_stream_));
}

namespace {

constexpr std::string_view declared_capabilities =
    R"({"extensions":{"io.modelcontextprotocol/events":{}}})";

}  // namespace

EventStreams::EventStreams(EventLoop& loop, SessionSender& sender, Log& log,
                           const std::vector<EventOption>& events)
    : loop_(loop), sender_(sender), log_(log) {
  for (const EventOption& event : events) streams_.emplace_back(loop, event, *this);
}

void EventStreams::open() {
  for (Stream& stream : streams_) {
    stream.pace.reset();
    stream.polls = false;
    open_stream(stream);
  }
}

std::vector<SavedStreams::Events> EventStreams::save_streams() const {
  std::vector<SavedStreams::Events> saved;
  for (const Stream& stream : streams_)
    saved.push_back({stream.polls ? UpstreamId{} : stream.id, stream.cursor});
  return saved;
}

void EventStreams::restore(const std::vector<SavedStreams::Events>& saved, bool still_open) {
  auto stream = streams_.begin();
  for (const SavedStreams::Events& one : saved) {
    if (stream == streams_.end()) return;
    stream++->cursor = one.cursor;
    if (still_open && one.id != UpstreamId{}) sender_.close_stream(one.id);
  }
}

void EventStreams::close() {
  for (Stream& stream : streams_) {
    stream.retry.clear();
    if (stream.id == UpstreamId{}) continue;
    if (stream.polls) {
      sender_.abandon(stream.id);
    } else {
      sender_.close_stream(stream.id);
    }
    stream.id = UpstreamId{};
  }
}

void EventStreams::open_stream(Stream& stream) {
  JsonObject params;
  params.add("name", stream.event.name)
      .add_unless_empty("arguments", RawJson{stream.event.arguments})
      .add_unless_empty("cursor", RawJson{stream.polls && stream.cursor.empty()
                                              ? std::string_view("null")
                                              : std::string_view(stream.cursor)});
  stream.pace.begin(loop_.now());
  stream.id = stream.polls ? sender_.request(MessageOwner::event_poll, "events/poll", params.text(),
                                             declared_capabilities)
                           : sender_.stream(MessageOwner::event_stream, "events/stream",
                                            params.text(), declared_capabilities);
}

EventStreams::Stream& EventStreams::stream_of(UpstreamId id) {
  return *std::find_if(streams_.begin(), streams_.end(),
                       [id](const Stream& stream) { return stream.id == id; });
}

std::optional<std::string> EventStreams::take_notification(UpstreamId id,
                                                           const Frame& notification) {
  Stream& stream = stream_of(id);
  stream.pace.reset();
  const std::string_view params = notification.text(notification.params);
  const auto cursor = find_member(params, "cursor");
  if (cursor && is_string(*cursor) && cursor->size() <= max_cursor)
    stream.cursor = std::string(*cursor);
  const bool has_gap = find_member(params, "truncated") == "true";
  if (has_gap) report_gap(stream);
  // An opened stream is reported only after a gap.
  if (notification.method == "notifications/events/active" && !has_gap) return std::nullopt;
  return without_subscription_id(notification);
}

void EventStreams::report_gap(const Stream& stream) {
  log_.peer(LogLevel::warning, "events lost",
            "the upstream has lost events {} since the last one received",
            printable(stream.event.name, 80));
}

/// Until the next session.
void EventStreams::stop(Stream& stream) {
  log_.peer(LogLevel::warning, "events refused", "the upstream refuses the events {} (--event)",
            printable(stream.event.name, 80));
}

void EventStreams::over(UpstreamId id, bool refused, std::string_view error) {
  Stream& stream = stream_of(id);
  stream.id = UpstreamId{};
  if (!stream.polls && refuses_only_streams(error)) {
    stream.polls = true;
    open_stream(stream);
  } else if (stream.polls && !error.empty() ? refuses_events(error) : refused) {
    stop(stream);
  } else {
    stream.retry.set(stream.pace.after_end(loop_.now(), false));
  }
}

std::vector<std::string> EventStreams::poll_answered(UpstreamId id, const Frame& response) {
  Stream& stream = stream_of(id);
  if (response.error.present()) {
    over(id, true, response.text(response.error));
    return {};
  }
  auto polled =
      read_polled_events(response.text(response.result), stream.event.name, stream.cursor);
  if (!polled) {
    log_.peer(LogLevel::warning, "events malformed",
              "the upstream's response to events/poll for {} is malformed; polling again",
              printable(stream.event.name, 80));
    over(id, false, {});
    return {};
  }
  if (polled->truncated) report_gap(stream);
  stream.id = UpstreamId{};
  stream.pace.reset();
  stream.cursor = std::move(polled->cursor);
  stream.retry.set_after(polled->interval);
  return std::move(polled->notifications);
}

}  // namespace bridge
