#include "session/event_streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "json/json_text.hpp"
#include "mcp/subscription_filter.hpp"
#include "session/upstream_listen.hpp"

namespace bridge {
namespace {

constexpr std::string_view declared_capabilities =
    R"({"extensions":{"io.modelcontextprotocol/events":{}}})";

}  // namespace

EventStreams::EventStreams(EventLoop& loop, SessionSender& sender, Upstream& upstream, Log& log,
                           const std::vector<EventOption>& events)
    : loop_(loop), sender_(sender), upstream_(upstream), log_(log) {
  for (const EventOption& event : events) streams_.emplace_back(loop, event, *this);
}

void EventStreams::open() {
  for (Stream& stream : streams_) {
    stream.backoff.reset();
    start(stream);
  }
}

std::vector<SavedStreams::Events> EventStreams::save() const {
  std::vector<SavedStreams::Events> kept;
  for (const Stream& stream : streams_) kept.push_back({stream.id, stream.cursor});
  return kept;
}

void EventStreams::go_on_after(const std::vector<SavedStreams::Events>& kept, bool still_open) {
  auto stream = streams_.begin();
  for (const SavedStreams::Events& one : kept) {
    if (stream == streams_.end()) return;
    stream++->cursor = one.cursor;
    if (still_open && one.id != UpstreamId{}) sender_.give_up(one.id);
  }
}

void EventStreams::close() {
  for (Stream& stream : streams_) {
    stream.retry.clear();
    if (stream.id != UpstreamId{}) sender_.give_up(std::exchange(stream.id, UpstreamId{}));
  }
}

void EventStreams::start(Stream& stream) {
  std::string params = fmt::format(R"({{"name":{})", quote(stream.event.name));
  if (!stream.event.arguments.empty())
    params += fmt::format(R"(,"arguments":{})", stream.event.arguments);
  if (!stream.cursor.empty()) params += fmt::format(R"(,"cursor":{})", stream.cursor);
  stream.started = loop_.now();
  stream.id = sender_.stream("events/stream", params + '}', declared_capabilities);
}

const EventStreams::Stream* EventStreams::find(UpstreamId id) const {
  if (id == UpstreamId{}) return nullptr;
  const auto found = std::find_if(streams_.begin(), streams_.end(),
                                  [id](const Stream& stream) { return stream.id == id; });
  return found == streams_.end() ? nullptr : &*found;
}

UpstreamId EventStreams::stream_of(std::optional<UpstreamId> origin, const Frame& frame) const {
  UpstreamId id = origin.value_or(UpstreamId{});
  if (const auto named = to_unsigned(frame.text(frame.subscription_id)))
    id = static_cast<UpstreamId>(*named);
  return awaits(id) ? id : UpstreamId{};
}

std::optional<std::string> EventStreams::take(UpstreamId id, const Frame& notification) {
  Stream& stream = *find(id);
  stream.backoff.reset();
  const std::string_view params = notification.text(notification.params);
  const auto cursor = find_member(params, "cursor");
  if (cursor && is_string(*cursor) && cursor->size() <= max_cursor)
    stream.cursor = std::string(*cursor);
  const bool has_gap = find_member(params, "truncated") == "true";
  if (has_gap) {
    log_.peer(LogLevel::warning, "events lost",
              "the upstream has not kept all events {} since the last one that came",
              printable(stream.event.name, 80));
  }
  // That the stream is open is nobody's news, unless it says of a gap.
  if (notification.method == "notifications/events/active" && !has_gap) return std::nullopt;
  return without_subscription_id(notification);
}

void EventStreams::over(UpstreamId id, bool refused) {
  Stream& stream = *find(id);
  stream.id = UpstreamId{};
  if (refused) {
    log_.peer(LogLevel::warning, "event stream refused",
              "the upstream refuses the stream of events {} (--event)",
              printable(stream.event.name, 80));
    return;
  }
  stream.retry.set(std::max(stream.started + UpstreamListen::between_openings,
                            loop_.now() + stream.backoff.next()));
}

}  // namespace bridge
