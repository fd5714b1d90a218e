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
#include "base/spare_memory.hpp"
#include "event/descriptor_watch.hpp"
#include "event/event_loop.hpp"
#include "http/request.hpp"
#include "http/response.hpp"
#include "json/received_text.hpp"
#include "sockets/peer_credentials.hpp"

namespace bridge {

class HttpConnection;

/// The unsent bytes of a connection, in the pieces in which they were pushed. Pure; unbounded: the
/// owner checks bytes().
class SendQueue {
 public:
  /// REQUIRES: not empty.
  void push(std::string piece) {
    bytes_ += piece.size();
    memory_ += memory_of(piece);
    pieces_.push_back(std::move(piece));
  }
  bool empty() const { return pieces_.empty(); }
  std::size_t bytes() const { return bytes_; }
  /// What the pieces take in memory, each until it is consumed whole.
  std::size_t memory() const { return memory_; }
  /// How many bytes have been consumed in total.
  std::uint64_t consumed() const { return consumed_; }

  /// Sets up to `room` of the vectors to the next pieces; returns how many.
  std::size_t gather(iovec* vectors, std::size_t room) {
    std::size_t count = 0;
    std::size_t offset = offset_;
    for (auto piece = pieces_.begin(); piece != pieces_.end() && count < room; ++piece) {
      vectors[count++] = {piece->data() + offset, piece->size() - offset};
      offset = 0;
    }
    return count;
  }
  /// `bytes` were written. REQUIRES: bytes <= bytes().
  void consume(std::size_t bytes) {
    consumed_ += bytes;
    bytes_ -= bytes;
    offset_ += bytes;
    while (!pieces_.empty() && offset_ >= pieces_.front().size()) {
      offset_ -= pieces_.front().size();
      memory_ -= memory_of(pieces_.front());
      pieces_.pop_front();
    }
  }

 private:
  static std::size_t memory_of(const std::string& piece) {
    return sizeof(std::string) + memory_of_text(piece);
  }

  std::deque<std::string> pieces_;
  std::size_t offset_ = 0;  ///< consumed bytes of the first piece
  std::size_t bytes_ = 0;
  std::size_t memory_ = 0;
  std::uint64_t consumed_ = 0;
};

/// One accepted connection as bytes, plain or through TLS. Never blocks. Does not own the
/// descriptor, which must outlive it. A part of its HttpConnection; the loop's thread only.
class ByteStream {
 public:
  enum class State {
    done,         ///< `bytes` were transferred
    wants_read,   ///< try again when the descriptor is readable
    wants_write,  ///< … or writable
    ended,        ///< the peer sends nothing more
    broken,       ///< a reset, or invalid TLS
  };
  struct Result {
    State state;
    std::size_t bytes;
  };

  virtual ~ByteStream() = default;
  virtual Result read(char* buffer, std::size_t size) = 0;
  virtual Result write(const iovec* pieces, std::size_t count) = 0;
  /// Whether bytes were read from the descriptor that read() has not returned.
  virtual bool has_pending() const { return false; }
  /// No further writes follow.
  virtual void finish() {}
};

std::unique_ptr<ByteStream> make_plain_stream(int descriptor);

/// The output of one connection: the responses to its requests, whole or as streams, queued until
/// the peer takes them.
///
/// Owned by the connection; the loop's thread only. Unbounded: the user checks
/// unsent().
class ResponseWriter {
 public:
  /// `date` is shared by all connections. Both outlive it.
  ResponseWriter(EventLoop& loop, DateHeader& date)
      : loop_(loop), date_(date), last_written_(loop.now()) {}

  /// Starts the response to this request.
  void begin(const RequestHead& head);
  /// The same, for a response that always has a body.
  void begin(bool keeps_connection, bool is_http_1_0) {
    keeps_connection_ = keeps_connection;
    is_http_1_0_ = is_http_1_0;
  }
  bool is_http_1_0() const { return is_http_1_0_; }
  /// After this response no request may follow.
  void close_after() { keeps_connection_ = false; }
  bool keeps_connection() const { return keeps_connection_; }

  /// Writes a response with its whole body.
  void respond(HttpResponse response);
  void begin_stream(const HttpResponse& head);
  void write_stream(std::string_view bytes);
  void end_stream();
  void push(std::string bytes);

  /// One write. Done: so many bytes were taken. Otherwise no more can be done for now.
  ByteStream::Result write_to(ByteStream& stream);
  /// The socket takes bytes again.
  void unblock() { is_blocked_ = false; }
  /// The socket takes no more for now.
  bool is_blocked() const { return is_blocked_; }

  std::size_t unsent() const { return unsent_.bytes(); }
  std::size_t memory() const { return unsent_.memory(); }
  bool is_empty() const { return unsent_.empty(); }
  /// When the last byte went to the kernel, or the first of the waiting ones was written.
  SteadyTime last_written() const { return last_written_; }
  /// Bytes passed to the kernel since the connection was opened.
  std::uint64_t sent() const { return unsent_.consumed(); }

 private:
  std::string head_of(const HttpResponse& response, ResponseFraming framing);

  EventLoop& loop_;
  DateHeader& date_;
  SendQueue unsent_;
  SteadyTime last_written_;
  bool is_blocked_ = false;
  bool keeps_connection_ = true;
  bool has_body_ = true;      ///< false: the response to HEAD
  bool is_http_1_0_ = false;  ///< a stream has no chunks, and ends with the connection
};

/// Answers a request that is not answered at once. Not owned by the connection.
class HttpResponder {
 public:
  /// All that was written has been passed to the kernel; more may be written.
  virtual void connection_drained() = 0;
  /// The caller is gone. The connection must not be used further. `has_read_all`: all that was
  /// written had reached it, as far as its kernel reports.
  virtual void connection_lost(bool has_read_all) = 0;
  /// Whether a caller that has closed its sending side counts as gone.
  virtual bool ends_with_input() const = 0;

 protected:
  ~HttpResponder() = default;
};

/// The decision about a request once its head is complete.
struct Admission {
  std::optional<HttpResponse> refusal{};  ///< sent at once; the body is not read
  /// The caller is authorized. For others as little as possible is buffered.
  bool is_trusted = false;
};

/// Why a request is refused while --max-buffered is used up.
inline constexpr std::string_view overloaded_reason =
    "overloaded: too much is buffered (--max-buffered)";

/// Handles requests; implemented by the server's owner.
class HttpRequests {
 public:
  /// Whether a caller of the Unix socket may connect.
  virtual bool admits(const PeerCredentials& peer) {
    static_cast<void>(peer);
    return true;
  }
  /// The head is complete. A body is accepted from a trusted caller only.
  virtual Admission request_begins(const HttpConnection& connection, const RequestHead& head,
                                   bool has_body) = 0;
  /// The response for a request that the engine itself refuses.
  virtual HttpResponse refusal(int status, std::string_view reason) const = 0;
  /// The request is complete. Answers with respond() or begin_stream(), or sets a responder that
  /// will.
  virtual void request(HttpConnection& connection, RequestHead head, ReceivedText body) = 0;

 protected:
  ~HttpRequests() = default;
};

/// Shared by all connections of a server. Outlives them.
struct HttpConnectionContext {
  EventLoop& loop;
  ByteBudget& budget;
  ByteCounts& counts;
  HttpRequests& requests;
  Deferred& flush;  ///< sends what was written
  std::size_t max_body;
  std::chrono::milliseconds stall;  ///< a peer that takes nothing for this long is dropped
  DateHeader date{};
  std::vector<HttpConnection*> dirty{};  ///< have something to do at the end of the turn
  ReadBuffer<64u << 10> read_buffer{};   ///< shared by all
};

/// One HTTP/1.1 connection: reads requests, one after the other, and writes responses.
///
/// Owned by HttpServer; the loop's thread only. A request has 10 s to send its head, 5 minutes for
/// all of it, and 30 s between two bytes. Memory: one request of at most max_body, 64 KiB that
/// arrived too early, and the responder's output, which the responder bounds by checking unsent().
/// While responses are unread no further request is read. From an untrusted caller: a head, 16 KiB
/// that arrived too early, and one small response.
class HttpConnection {
 public:
  /// Takes ownership of `descriptor`, which must be non-blocking. `peer`: of a Unix socket.
  HttpConnection(HttpConnectionContext& context, int descriptor, std::unique_ptr<ByteStream> stream,
                 std::optional<PeerCredentials> peer = std::nullopt);

  void start();
  /// Writes what is ready.
  void flush();
  /// Requests a flush() at the end of this turn.
  void mark();
  bool is_over() const { return phase_ == Phase::over; }

  // For the code that answers the request under way.
  void set_responder(HttpResponder* responder) { responder_ = responder; }
  void respond(HttpResponse response);
  void begin_stream(const HttpResponse& head);
  void write_stream(std::string_view bytes);
  void end_stream();
  /// Resets the connection without telling the responder.
  void drop();
  /// Resets the connection.
  void reset();
  std::size_t unsent() const { return writer_.unsent(); }
  /// What it takes in memory, at the end of its last turn.
  std::size_t held() const { return share_.held(); }
  /// The kernel takes no more for now.
  bool is_blocked() const { return writer_.is_blocked(); }
  /// The same, and it has taken nothing for this long.
  bool is_blocked_for(std::chrono::milliseconds time) const {
    return is_blocked() && last_written() + time <= context_.loop.now();
  }
  /// When the last byte went to the kernel, or the first of the waiting ones was written.
  SteadyTime last_written() const { return writer_.last_written(); }
  /// The process that has connected to the Unix socket; null: a caller of the port.
  const PeerCredentials* local_peer() const { return local_peer_ ? &*local_peer_ : nullptr; }
  /// The peer's address: `192.0.2.1`, `2001:db8::1`; empty if no longer known, or local.
  std::string remote_address() const;
  /// Whether all that was written has reached the peer's kernel.
  bool peer_has_all();
  /// Bytes written since it was opened, and how many of them the peer's kernel has acknowledged
  /// (with TLS or on a Unix socket: at least so many).
  std::uint64_t position() const { return writer_.sent() + writer_.unsent(); }
  std::uint64_t acknowledged();

  /// Whether the next process after an upgrade can answer the request under way.
  bool can_be_saved() const {
    return phase_ == Phase::answering && peer_ != Peer::has_reset && writer_.is_empty();
  }
  /// A plain connection whose request waits for its response. The descriptor keeps its owner.
  struct Saved {
    int descriptor = -1;
    std::string early;  ///< arrived before the response
    bool keeps_connection = true;
    bool is_http_1_0 = false;

    template <class A>
    void each_field(A& archive) {
      archive(descriptor, early, keeps_connection, is_http_1_0);
    }
  };
  /// REQUIRES: can_be_saved(), and nothing of the response was written.
  Saved save() const;
  /// Instead of start().
  void restore(Saved saved);

  /// Since when it could be closed in favour of another one: nothing is under way, or only an
  /// untrusted caller's request.
  std::optional<SteadyTime> spare_since() const;
  /// Since when an incomplete request has been under way.
  std::optional<SteadyTime> unfinished_since() const;
  /// Answers that request with 503, as far as possible at once. REQUIRES: unfinished_since().
  void reject();

 private:
  enum class Phase {
    reading,    ///< a request, or waiting for one
    answering,  ///< a request is being answered; further input is kept
    closing,    ///< the last response is being written
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
  void refuse_for_now(std::string_view reason);
  void end_of_input();
  void request_done();
  void begin_draining();
  void lose(bool has_read_all);
  void wait();
  bool may_read() const;
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
  std::string early_;  ///< arrived before the request under way was answered
  ResponseWriter writer_;
  std::size_t drained_bytes_ = 0;
  SteadyTime since_;          ///< the phase, or the request's first byte
  SteadyTime last_progress_;  ///< the last byte, in or out
  Phase phase_ = Phase::reading;
  Peer peer_ = Peer::sends;
  bool marked_ = false;
  bool served_ = false;   ///< it has sent a response
  bool trusted_ = false;  ///< one of its requests was trusted
  std::optional<PeerCredentials> local_peer_;
  std::uint64_t read_by_peer_ = 0;  ///< of a Unix socket: the last known acknowledged()
};

}  // namespace bridge
