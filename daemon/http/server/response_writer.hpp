#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "event/event_loop.hpp"
#include "http/request_head.hpp"
#include "http/response.hpp"
#include "http/server/byte_stream.hpp"
#include "http/server/send_queue.hpp"

namespace bridge {

/// What one connection writes: the answers to its requests, whole or as streams, as bytes that wait
/// until the peer takes them.
///
/// Owned by the connection; the loop's thread only. Not bounded by itself: whoever writes looks at
/// unsent().
class ResponseWriter {
 public:
  /// `date` is shared by all connections. Both outlive it.
  ResponseWriter(EventLoop& loop, DateHeader& date)
      : loop_(loop), date_(date), last_written_(loop.now()) {}

  /// What follows is the answer to this request.
  void begin(const RequestHead& head);
  /// The same, of one that has a body in any case.
  void begin(bool keeps_connection, bool is_http_1_0) {
    keeps_connection_ = keeps_connection;
    is_http_1_0_ = is_http_1_0;
  }
  bool is_http_1_0() const { return is_http_1_0_; }
  /// It is the last one: no request may follow.
  void close_after() { keeps_connection_ = false; }
  bool keeps_connection() const { return keeps_connection_; }

  /// An answer with its whole body.
  void respond(HttpResponse response);
  void begin_stream(const HttpResponse& head);
  void write_stream(std::string_view bytes);
  void end_stream();
  void push(std::string bytes);

  /// One write. Done: so many bytes were taken. Else nothing more can be done for now.
  ByteStream::Result write_to(ByteStream& stream);
  /// The socket takes bytes again.
  void unblock() { is_blocked_ = false; }
  /// It takes no more for now.
  bool is_blocked() const { return is_blocked_; }

  std::size_t unsent() const { return unsent_.bytes(); }
  bool is_empty() const { return unsent_.empty(); }
  /// When the last byte went to the kernel, or the first of those that wait was written.
  SteadyTime last_written() const { return last_written_; }
  /// Bytes that have gone to the kernel since the connection's beginning.
  std::uint64_t sent() const { return unsent_.consumed(); }

 private:
  std::string head_of(const HttpResponse& response, ResponseFraming framing);

  EventLoop& loop_;
  DateHeader& date_;
  SendQueue unsent_;
  SteadyTime last_written_;
  bool is_blocked_ = false;
  bool keeps_connection_ = true;
  bool has_body_ = true;      ///< false: to HEAD
  bool is_http_1_0_ = false;  ///< a stream has no chunks, and ends with the connection
};

}  // namespace bridge
