#pragma once

#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "json/arriving_text.hpp"

namespace bridge {

/// The id of an event: the stream of a session it was first sent on, and its number in the session.
/// On the wire `STREAM-NUMBER`.
struct EventId {
  std::uint64_t stream = 0;
  std::uint64_t number = 0;

  template <class A>
  void each_field(A& archive) {
    archive(stream, number);
  }
  friend bool operator==(const EventId&, const EventId&) = default;
};

inline std::string to_text(EventId id) {
  return std::to_string(id.stream) + '-' + std::to_string(id.number);
}

/// nullopt if the text is not such an id.
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

/// The delay before reconnecting, and an id to resume from. Not an event: readers set their last
/// event id and dispatch nothing.
inline std::string sse_retry(std::string_view id, std::uint64_t retry_ms) {
  std::string block;
  if (!id.empty()) block.append("id: ").append(id).append("\n");
  return block.append("retry: ").append(std::to_string(retry_ms)).append("\n\n");
}

/// The same as an event without data, which newer clients understand as a promise that the stream
/// can be resumed (MCP 2025-11-25, "Sending Messages to the Server", 6); older ones would try to
/// parse it.
inline std::string sse_priming(std::string_view id, std::uint64_t retry_ms) {
  std::string event = sse_retry(id, retry_ms);
  return event.insert(event.size() - 1, "data:\n");
}

/// A line that readers ignore.
inline std::string sse_comment(std::string_view text) {
  return std::string(": ").append(text).append("\n\n");
}

/// Receives the contents of an SSE stream. Called from within SseParser's calls.
class SseSink {
 public:
  /// A complete event. `data` may be empty: a priming event, sent only for its id.
  virtual void on_event(std::string type, ReceivedText data) = 0;
  /// `retry:`, the delay before reconnecting.
  virtual void on_retry(std::chrono::milliseconds delay) = 0;
  /// An event exceeds the limit. The rest of it is skipped.
  virtual void on_oversized_event() = 0;
  /// The end of that event: the TextEnds of its data, whose lines are joined by spaces.
  virtual void on_oversized_event_end(std::string_view beginning, std::string_view end) {
    static_cast<void>(beginning);
    static_cast<void>(end);
  }

 protected:
  ~SseSink() = default;
};

/// The data of one event after the other, each up to a limit; of a larger one only the ends are
/// kept. Pure.
class SseData {
 public:
  explicit SseData(std::size_t limit) : limit_(limit) {}

  /// A line, or its first part. False: the event is over the limit now.
  bool begin_line(std::string_view value);
  /// A further part of that line. False as above.
  bool add(std::string_view part);

  bool has_lines() const { return kind_ == Kind::lines; }
  bool is_oversized() const { return kind_ == Kind::oversized; }
  std::size_t size() const { return text_.size(); }
  std::size_t limit() const { return limit_; }

  /// The event is complete: returns its data, and starts the next one. REQUIRES: not oversized.
  ReceivedText take();
  /// The same for an oversized one.
  TextEnds take_ends();

 private:
  enum class Kind : std::uint8_t { none, lines, oversized };

  bool fits(std::size_t more) const { return text_.size() + more <= limit_; }
  void skip(std::string_view before, std::string_view line);
  void skip_line(std::string_view value);

  std::size_t limit_;
  Kind kind_ = Kind::none;
  ArrivingText text_;
  std::size_t line_ = 0;  ///< start of the last line in text_
  TextEnds ends_;         ///< if oversized
};

/// Reads server-sent events by the WHATWG rules (HTML, section 9.2.6), incrementally: CR, LF and
/// CRLF, a BOM, comments, several `data` lines; split anywhere. Pure; one per stream.
///
/// Holds at most `max_event` bytes of one event's data, and of another line a chunk and 4 KiB.
/// The limit applies to the data alone, so it does not depend on the chunks. An id of
/// more than 4096 bytes is cut to 4097: it does not fit in a header, and replaces the id before it.
/// Any other longer field is ignored. An incomplete event at the end of the stream is never
/// reported.
class SseParser {
 public:
  /// `last_event_id`: the stream continues after this event; empty: from its start.
  explicit SseParser(std::size_t max_event, std::string last_event_id = {})
      : data_(max_event), last_event_id_(std::move(last_event_id)) {}

  void feed(std::string_view chunk, SseSink& sink);

  /// The id of the last complete event that had one, for `Last-Event-ID`; empty if there was none.
  const std::string& last_event_id() const { return last_event_id_; }
  /// Whether the event being reported had an id of its own, by which it can be recognized.
  bool event_had_id() const { return event_had_id_; }
  /// Another stream begins, as in the constructor.
  void restart(std::string last_event_id = {}) {
    *this = SseParser(data_.limit(), std::move(last_event_id));
  }

  /// Bytes held of an incomplete event.
  std::size_t pending_bytes() const { return line_.size() + data_.size(); }

 private:
  /// The line that is being received.
  enum class Line : std::uint8_t {
    held,     ///< its start is in line_
    data,     ///< a line of data: its start is in data_
    skipped,  ///< too long to count
  };

  void end_of_line(std::string_view line, SseSink& sink);
  void field(std::string_view name, std::string_view value, SseSink& sink);
  void take_id(std::string_view id);
  void dispatch(SseSink& sink);
  void hold(std::string_view part, SseSink& sink);
  void begin_data(std::string_view value, SseSink& sink);
  void add_data(std::string_view part, SseSink& sink);

  bool at_start_ = true;   ///< a BOM may follow
  bool after_cr_ = false;  ///< a LF now belongs to the CR before it
  Line in_ = Line::held;
  bool event_had_id_ = false;
  std::string line_;
  // Of the event that is being received.
  SseData data_;
  std::string type_;
  std::optional<std::string> event_id_;

  std::string last_event_id_;
};

}  // namespace bridge
