#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bridge {

/// Where an event stands: the stream of a session it was first sent on, and its number in the
/// session. On the wire `STREAM-NUMBER`.
struct EventId {
  std::uint64_t stream = 0;
  std::uint64_t number = 0;

  friend bool operator==(const EventId&, const EventId&) = default;
};

inline std::string to_text(EventId id) {
  return std::to_string(id.stream) + '-' + std::to_string(id.number);
}

/// Nothing if it is none of ours.
inline std::optional<EventId> parse_event_id(std::string_view text) {
  EventId id;
  const char* end = text.data() + text.size();
  const auto stream = std::from_chars(text.data(), end, id.stream);
  if (stream.ec != std::errc() || stream.ptr == end || *stream.ptr != '-') return std::nullopt;
  const auto number = std::from_chars(stream.ptr + 1, end, id.number);
  if (number.ec != std::errc() || number.ptr != end) return std::nullopt;
  return id;
}

/// One server-sent event (WHATWG HTML, section 9.2). `data` is one line; `id` and `type` may be
/// empty.
inline std::string sse_event(std::string_view id, std::string_view type, std::string_view data) {
  std::string event;
  event.reserve(id.size() + type.size() + data.size() + 32);
  if (!type.empty()) event.append("event: ").append(type).append("\n");
  if (!id.empty()) event.append("id: ").append(id).append("\n");
  event.append("data: ").append(data).append("\n\n");
  return event;
}

/// How soon to come back, and an id to resume from. No event: readers set their last event id and
/// dispatch nothing.
inline std::string sse_retry(std::string_view id, std::uint64_t retry_ms) {
  std::string block;
  if (!id.empty()) block.append("id: ").append(id).append("\n");
  return block.append("retry: ").append(std::to_string(retry_ms)).append("\n\n");
}

/// The same as an event without data, which newer clients take for the promise that the stream can
/// be resumed (MCP 2025-11-25, "Sending Messages to the Server", 6); older ones would try to parse
/// it.
inline std::string sse_priming(std::string_view id, std::uint64_t retry_ms) {
  std::string event = sse_retry(id, retry_ms);
  return event.insert(event.size() - 1, "data:\n");
}

/// A line that readers skip.
inline std::string sse_comment(std::string_view text) {
  return std::string(": ").append(text).append("\n\n");
}

}  // namespace bridge
