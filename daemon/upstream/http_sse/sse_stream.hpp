#pragma once

#include <deque>
#include <optional>
#include <string>

#include "event/deadline_timer.hpp"
#include "http/client/redirection.hpp"
#include "http/client/response_head.hpp"
#include "http/sse_parser.hpp"
#include "upstream/streamable_http/http_context.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

class SseStreamOwner {
 public:
  /// The server has said where its messages are to be posted; `endpoint` is a whole URL of its
  /// origin.
  virtual void sse_stream_open(const std::string& endpoint) = 0;
  virtual void sse_stream_message(std::string message) = 0;
  /// The answer to this request was over --max-frame.
  virtual void sse_stream_oversized_answer(UpstreamId id) = 0;
  /// It could not be opened, or broke. `challenge`: its WWW-Authenticate, if the status was 401 or
  /// 403.
  virtual void sse_stream_ended(Failure failure, const std::string& challenge) = 0;

 protected:
  ~SseStreamOwner() = default;
};

/// The event stream of the transport of 2024-11-05 (HTTP+SSE): a GET whose first event is
/// `endpoint`, and on which everything comes that the server has to say. It lives as long as the
/// session.
///
/// The loop's thread only. Memory: one event of at most --max-frame, the messages of one turn. No
/// event comes from within a call, and none after close().
class SseStream final : private CurlTransfer, private SseSink {
 public:
  SseStream(EventLoop& loop, HttpContext& context, SseStreamOwner& owner);
  ~SseStream();

  /// REQUIRES: it is closed.
  void open();
  void close();
  bool is_open() const { return !endpoint_.empty(); }
  /// Of the token it was opened with.
  int token_generation() const { return token_generation_; }

 private:
  struct Callbacks;

  void begin_get();
  void release_handle();
  void transfer_progressed(bool done, int result) override;
  void end(Failure failure);
  Failure failure_of_end(int result) const;
  bool take_endpoint();

  void on_event(std::string type, std::string data) override;
  void on_retry(std::chrono::milliseconds) override {}
  void on_oversized_event() override;
  void on_oversized_event_end(std::string_view beginning, std::string_view end) override;

  HttpContext& context_;
  SseStreamOwner& owner_;
  DeadlineTimer patience_;  ///< for the first event
  CurlHandle handle_;
  HeaderList headers_;
  bool running_ = false;
  Redirection redirection_;
  ResponseHead head_;
  SseParser parser_;
  std::string body_;                           ///< of a refusal
  std::optional<std::string> named_endpoint_;  ///< as the server wrote it
  std::string endpoint_;
  std::deque<std::string> messages_;
  std::deque<UpstreamId> oversized_answers_;
  int token_generation_ = 0;
  std::uint64_t opening_ = 0;  ///< grows with open() and close(): what is reported may change both
};

}  // namespace bridge
