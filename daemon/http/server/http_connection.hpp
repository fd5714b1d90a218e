#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_budget.hpp"
#include "base/byte_counts.hpp"
#include "base/spare_memory.hpp"
#include "event/descriptor_watch.hpp"
#include "event/event_loop.hpp"
#include "http/request_reader.hpp"
#include "http/response.hpp"
#include "http/server/response_writer.hpp"
#include "json/received_text.hpp"

namespace bridge {

class HttpConnection;

/// Who answers a request that is not answered at once. The connection does not own it.
class HttpResponder {
 public:
  /// All that was written has gone to the kernel; more may be written.
  virtual void connection_drained() = 0;
  /// The caller is gone. The connection must not be used any more. `has_read_all`: all that was
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
