#pragma once

#include <sys/uio.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_budget.hpp"
#include "base/byte_counts.hpp"
#include "base/spare_memory.hpp"
#include "event/descriptor_watch.hpp"
#include "event/event_loop.hpp"
#include "http/request.hpp"
#include "http/response.hpp"
#include "json/received_text.hpp"

namespace bridge {

class HttpConnection;

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

/// Who answers a request that is not answered at once. The connection does not own it.
class HttpResponder {
 public:
  /// All that was written has gone to the kernel; more may be written.
  virtual void connection_drained() = 0;
  /// The caller is gone. The connection must not be used from now on. `has_read_all`: all that was
  /// written had reached it, as far as its kernel says.
  virtual void connection_lost(bool has_read_all) = 0;
  /// Whether a caller that sends nothing more is gone; else it is only done with sending.
  virtual bool ends_with_input() const = 0;

 protected:
  ~HttpResponder() = default;
};

/// What is made of a request when its head is there.
struct Admission {
  std::optional<HttpResponse> refusal{};  ///< answered now; the body is not read
  /// The caller has shown that it may ask. Of others as little is held as can be.
  bool is_trusted = false;
};

/// What is done with requests.
class HttpRequests {
 public:
  /// The head is there. A body is taken from a trusted caller only.
  virtual Admission request_begins(const RequestHead& head, bool has_body) = 0;
  /// The answer to what the engine itself refuses.
  virtual HttpResponse refusal(int status, std::string_view reason) const = 0;
  /// The answer to a body that is not read because too much is buffered.
  virtual HttpResponse refusal_while_overloaded() const = 0;
  /// The whole request is there. Answers with respond(), begin_stream(), or sets a responder that
  /// will.
  virtual void request(HttpConnection& connection, RequestHead head, ReceivedText body) = 0;

 protected:
  ~HttpRequests() = default;
};

/// What all connections of a server share. Outlives them.
struct HttpConnectionContext {
  EventLoop& loop;
  ByteBudget& budget;
  ByteCounts& counts;
  HttpRequests& requests;
  Deferred& flush;  ///< what was written goes out then
  std::size_t max_body;
  std::chrono::milliseconds stall;  ///< a peer that takes nothing for so long is given up
  DateHeader date{};
  std::vector<HttpConnection*> dirty{};  ///< have something to do at the end of the turn
  ReadBuffer<64u << 10> read_buffer{};   ///< one for all
};

/// One HTTP/1.1 connection: bytes to requests, one after the other, and answers to bytes.
///
/// Owned by HttpServer; the loop's thread only. A request has 10 s to send its head, 5 minutes for
/// all of it, and 30 s between two bytes. Memory: one request of at most max_body, 64 KiB that came
/// too early, and what its responder writes, which that one bounds by looking at unsent(). With
/// answers unread no further request is taken. Of a caller that is not trusted: a head, 16 KiB that
/// came too early, and one small answer.
class HttpConnection {
 public:
  /// Takes ownership of `descriptor`, which must be non-blocking.
  HttpConnection(HttpConnectionContext& context, int descriptor,
                 std::unique_ptr<ByteStream> stream);

  void start();
  /// Writes what is ready.
  void flush();
  /// Asks for a flush() at the end of this turn.
  void mark();
  bool is_over() const { return phase_ == Phase::over; }

  // For whoever answers the request under way.
  void set_responder(HttpResponder* responder) { responder_ = responder; }
  void respond(HttpResponse response);
  void begin_stream(const HttpResponse& head);
  void write_stream(std::string_view bytes);
  void end_stream();
  /// Resets it, without another word to the responder.
  void drop();
  std::size_t unsent() const { return writer_.unsent(); }
  /// The kernel takes no more for now.
  bool is_blocked() const { return writer_.is_blocked(); }
  /// And took nothing for so long.
  bool is_blocked_for(std::chrono::milliseconds time) const {
    return is_blocked() && last_written() + time <= context_.loop.now();
  }
  /// When the last byte went to the kernel, or the first of those that wait was written.
  SteadyTime last_written() const { return writer_.last_written(); }
  /// `192.0.2.1`, `2001:db8::1`: where it comes from; empty if that is not known any more.
  std::string remote_address() const;
  /// Whether all that was written has reached the peer's kernel.
  bool peer_has_all();
  /// Bytes written since its beginning, and how many of them the peer's kernel has acknowledged (of
  /// TLS: at least so many).
  std::uint64_t position() const { return writer_.sent() + writer_.unsent(); }
  std::uint64_t acknowledged() const;

  /// Whether the next process after an upgrade can answer the request under way.
  bool can_be_saved() const {
    return phase_ == Phase::answering && peer_ != Peer::has_reset && writer_.is_empty();
  }
  /// One in the clear, on which a request waits for its answer. The descriptor stays whose it is.
  struct Saved {
    int descriptor = -1;
    std::string early;  ///< came before the answer
    bool keeps_connection = true;
    bool is_http_1_0 = false;

    template <class A>
    void each_field(A& archive) {
      archive(descriptor, early, keeps_connection, is_http_1_0);
    }
  };
  /// REQUIRES: it can be, and nothing of the answer was written.
  Saved save() const;
  /// Instead of start().
  void restore(Saved saved);

  /// Since when it could be closed for another one's sake: nothing is under way on it, or nothing
  /// of a caller that is trusted.
  std::optional<SteadyTime> spare_since() const;
  /// Since when a request has been under way that has not come to its end.
  std::optional<SteadyTime> unfinished_since() const;
  /// Answers that request 503, as far as that can be done at once. REQUIRES: unfinished_since().
  void turn_away();

 private:
  enum class Phase {
    reading,    ///< a request, or waiting for one
    answering,  ///< one is being answered; what comes is kept for later
    closing,    ///< the last answer is being written
    draining,   ///< it is written; the peer is still sending
    over,
  };

  enum class Peer {
    sends,
    sends_no_more,
    has_reset,
  };

  void on_ready(DescriptorWatch::Event event);
  void read_ready();
  void take_input(std::string_view bytes);
  void process(std::string_view bytes);
  void refuse(HttpResponse response);
  void end_of_input();
  void request_done();
  void begin_draining();
  void lose(bool has_read_all);
  void wait();
  bool may_read() const;
  std::size_t max_unsent() const;
  void begin_answer(const RequestHead& head);
  bool write_some();
  std::optional<SteadyTime> due() const;
  void watch_time();
  void count_held();
  void expired();

  HttpConnectionContext& context_;
  DescriptorWatch watch_;
  std::unique_ptr<ByteStream> stream_;
  RequestReader reader_;
  HttpResponder* responder_ = nullptr;
  DeadlineTimer timer_;
  ByteBudget::Share share_;
  std::string early_;  ///< came before the request under way was answered
  ResponseWriter writer_;
  std::size_t drained_bytes_ = 0;
  SteadyTime since_;          ///< the phase, or the request's first byte
  SteadyTime last_progress_;  ///< the last byte, in or out
  Phase phase_ = Phase::reading;
  Peer peer_ = Peer::sends;
  bool marked_ = false;
  bool served_ = false;   ///< it has had an answer
  bool trusted_ = false;  ///< a request of it was
};

}  // namespace bridge
