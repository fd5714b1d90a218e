#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "downstream/http/face_context.hpp"
#include "http/server/http_connection.hpp"

namespace bridge {

/// How soon a client may come back to a stream that has ended: `retry`.
constexpr std::uint64_t stream_retry_ms = 500;

/// A response of server-sent events that is under way on a connection. Its owner is the
/// connection's responder and ends it before it goes; while it lives it gets keep-alive comments.
/// The loop's thread only.
class EventStream {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;

  /// Sends the head and the first comment at once.
  EventStream(FaceContext& context, HttpConnection& connection, Headers headers);
  ~EventStream();
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  void send(std::string_view event);
  void comment(std::string_view text);
  /// The stream's proper end; the connection may go on.
  void end();
  /// Ends the connection.
  void drop() { connection_.drop(); }

  HttpConnection& connection() { return connection_; }
  /// More than --http-stream-buffer is unsent, and the kernel takes no more for now. A single event
  /// is admitted whatever its size.
  bool is_overrun() const { return overrun_; }
  /// Whether it is overrun for 5 s, or by far more than a client may leave unread; else asks the
  /// connection for another look. `queued` more bytes wait for this stream.
  bool is_stuck(std::size_t queued = 0);
  SteadyTime last_sent() const { return last_sent_; }
  /// When it has said nothing but comments for --sse-idle; nothing without that.
  std::optional<SteadyTime> quiet_end() const;

 private:
  void write(std::string_view event);

  FaceContext& context_;
  HttpConnection& connection_;
  SteadyTime last_sent_;
  SteadyTime last_event_;  ///< as above, comments not counted
  bool overrun_ = false;
};

}  // namespace bridge
