#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "text/arriving_text.hpp"
#include "text/text_ends.hpp"

namespace bridge {

/// What an SSE stream is made of. Called from within SseParser's calls.
class SseSink {
 public:
  /// A complete event. `data` may be empty: a priming event, there for its id only.
  virtual void on_event(std::string type, ReceivedText data) = 0;
  /// `retry:`, how long to wait before connecting again.
  virtual void on_retry(std::chrono::milliseconds delay) = 0;
  /// An event was over the limit. The rest of it is skipped.
  virtual void on_oversized_event() = 0;
  /// It has ended: the TextEnds of its data, whose lines are joined by spaces.
  virtual void on_oversized_event_end(std::string_view beginning, std::string_view end) {
    static_cast<void>(beginning);
    static_cast<void>(end);
  }

 protected:
  ~SseSink() = default;
};

/// Reads server-sent events by the WHATWG rules (HTML, section 9.2.6), incrementally: CR, LF and
/// CRLF, a BOM, comments, several `data` lines; split anywhere. Pure; one per stream.
///
/// Holds at most `max_event` bytes of one event's data, and of another line a chunk and 4 KiB.
/// The limit is on the data alone, so it does not depend on how the bytes were chunked. An id of
/// more than 4096 bytes is cut to 4097: it fits in no header, and the id before it counts no more.
/// Any other field that is longer is ignored. An event that the stream's end cuts off is never
/// reported.
class SseParser {
 public:
  explicit SseParser(std::size_t max_event) : max_event_(max_event) {}

  void feed(std::string_view chunk, SseSink& sink);

  /// The id of the last complete event that had one, for `Last-Event-ID`; empty if there was none.
  const std::string& last_event_id() const { return last_event_id_; }
  /// Whether the event that is being reported had an id of its own, by which it can be known again.
  bool event_had_id() const { return event_had_id_; }
  void set_last_event_id(std::string id) { last_event_id_ = std::move(id); }

  /// Bytes held of an event that is not complete.
  std::size_t pending_bytes() const { return line_.size() + data_.size(); }

 private:
  void end_of_line(std::string_view line, SseSink& sink);
  void field(std::string_view name, std::string_view value, SseSink& sink);
  void take_id(std::string_view id);
  void dispatch(SseSink& sink);
  void hold(std::string_view part, SseSink& sink);
  void skip_line(std::string_view value);
  void begin_data(std::string_view value, SseSink& sink);
  void add_data(std::string_view part, SseSink& sink);
  bool fits(std::size_t more) const { return data_.size() + more <= max_event_; }
  void skip_event(std::string_view before, std::string_view line, SseSink& sink);

  std::size_t max_event_;
  std::string line_;  ///< the beginning of a line whose end has not come, unless that is data
  ArrivingText data_;
  std::size_t data_line_ = 0;  ///< where in data_ its last line begins
  std::string type_;
  std::string last_event_id_;
  std::string event_id_;
  bool has_data_ = false;
  bool has_event_id_ = false;
  bool event_had_id_ = false;
  bool at_start_ = true;       ///< a BOM may come
  bool after_cr_ = false;      ///< a LF now belongs to the CR before it
  bool skipping_ = false;      ///< inside an oversized event
  TextEnds ends_;              ///< of its data
  bool line_skipped_ = false;  ///< inside a line whose beginning was thrown away
  bool in_data_ = false;       ///< inside a line that is data: the last one of data_
};

}  // namespace bridge
