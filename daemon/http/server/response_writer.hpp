#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "event/event_loop.hpp"
#include "http/request_head.hpp"
#include "http/response.hpp"

namespace bridge {

/// What a connection has still to write, in the pieces in which it came. Pure, and not bounded by
/// itself: whoever pushes looks at bytes().
class SendQueue {
 public:
  /// REQUIRES: not empty.
  void push(std::string piece) {
    bytes_ += piece.size();
    pieces_.push_back(std::move(piece));
  }
  bool empty() const { return pieces_.empty(); }
  std::size_t bytes() const { return bytes_; }
  /// How many bytes have been consumed, in all.
  std::uint64_t consumed() const { return consumed_; }

  /// Sets up to `room` of the vectors to what is next; returns how many.
  std::size_t gather(iovec* vectors, std::size_t room) {
    std::size_t count = 0;
    std::size_t offset = offset_;
    for (auto piece = pieces_.begin(); piece != pieces_.end() && count < room; ++piece) {
      vectors[count++] = {piece->data() + offset, piece->size() - offset};
      offset = 0;
    }
    return count;
  }
  /// These were written. REQUIRES: bytes <= bytes().
  void consume(std::size_t bytes) {
    consumed_ += bytes;
    bytes_ -= bytes;
    offset_ += bytes;
    while (!pieces_.empty() && offset_ >= pieces_.front().size()) {
      offset_ -= pieces_.front().size();
      pieces_.pop_front();
    }
  }

 private:
  std::deque<std::string> pieces_;
  std::size_t offset_ = 0;  ///< consumed of the first piece
  std::size_t bytes_ = 0;
  std::uint64_t consumed_ = 0;
};

/// One accepted connection as bytes, in the clear or through TLS. Never blocks. It does not own the
/// descriptor, which must outlive it. A part of its HttpConnection; the loop's thread only.
class ByteStream {
 public:
  enum class State {
    done,         ///< `bytes` were moved
    wants_read,   ///< try again when the descriptor is readable
    wants_write,  ///< … or writable
    ended,        ///< the peer sends nothing more
    broken,       ///< a reset, or TLS that makes no sense
  };
  struct Result {
    State state;
    std::size_t bytes;
  };

  virtual ~ByteStream() = default;
  virtual Result read(char* buffer, std::size_t size) = 0;
  virtual Result write(const iovec* pieces, std::size_t count) = 0;
  /// Bytes were read from the descriptor that read() has not handed over.
  virtual bool has_pending() const { return false; }
  /// Nothing more will be written.
  virtual void finish() {}
};

std::unique_ptr<ByteStream> make_plain_stream(int descriptor);

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
