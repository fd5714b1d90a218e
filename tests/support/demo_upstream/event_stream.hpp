#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "answer.hpp"
#include "wakeup.hpp"

namespace demo {

/// The kind of streams: with event ids they are stored and can be resumed.
struct StreamRules {
  bool event_ids = false;
  int retry_ms = 500;
};

/// How much of a stream one connection gets, and how its body ends then.
struct StreamPart {
  std::size_t max_events = std::numeric_limits<std::size_t>::max();
  BodyEnd after = BodyEnd::kClose;
};

/// One text without line ends in it, or several, as `data:` lines.
std::string data_lines(std::string_view data);

/// The events of one stream: appended by any thread, written by the attached connection.
///
/// Unstored, an event is dropped after it was written, and lost if no connection is attached.
/// Stored (event ids), the last 1000 events or 16 MiB stay for a later connection. Unsent bytes are
/// limited to 256 MiB: more are refused.
class EventStream {
 public:
  /// `key` is the first part of its event ids, unique in the session.
  EventStream(std::string key, StreamRules rules);

  const std::string& key() const { return key_; }

  /// False if it was lost. `message` is one JSON text.
  bool append(std::string_view message, std::string_view event = "message");
  /// Appends bytes of an event stream unchanged.
  bool append_raw(std::string_view bytes);

  /// No more events will follow; the attached connection ends its body after the last one.
  void finish();

  /// Ends the attached connection's body; the stream stays. True if one was attached.
  bool detach(BodyEnd how);

  /// Attaches the connection: 0 if another one is attached whose client is still there, else a
  /// ticket for `write_to`. `after`: the number of the last event that its client has.
  std::uint64_t attach(int descriptor, std::optional<std::uint64_t> after);
  bool attached();

  /// Called if the client leaves before the end and the events are not stored.
  void on_abandoned(std::function<void()> callback);

  /// Writes events until the stream finishes, the client leaves, or the part is complete.
  BodyEnd write_to(Sink& sink, std::uint64_t ticket, StreamPart part);
  void leave(std::uint64_t ticket, BodyEnd end);

 private:
  struct Event {
    std::uint64_t number;
    std::string bytes;
  };
  struct Batch {
    std::string bytes;
    std::size_t events = 0;
    std::optional<BodyEnd> end;
  };

  bool push(std::string bytes);
  std::string priming() const;
  Batch take(std::uint64_t ticket, std::size_t max_events);

  const std::string key_;
  const StreamRules rules_;
  Wakeup wakeup_;
  std::mutex mutex_;
  std::deque<Event> events_;
  std::size_t bytes_ = 0;
  std::uint64_t last_number_ = 0;
  bool finished_ = false;
  // The attachment.
  std::uint64_t tickets_ = 0;
  std::uint64_t ticket_ = 0;  ///< 0: nothing attached
  int descriptor_ = -1;
  std::uint64_t next_ = 1;  ///< the number of the event to write next
  bool prime_ = false;
  std::optional<BodyEnd> detach_;
  std::function<void()> abandoned_;
};

/// The body of the response to the attached connection. Without it the attachment never ends.
BodyWriter stream_body(std::shared_ptr<EventStream> stream, std::uint64_t ticket, StreamPart part);

}  // namespace demo
