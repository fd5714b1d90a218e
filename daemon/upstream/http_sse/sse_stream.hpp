#pragma once

#include <optional>
#include <string>

#include "event/deadline_timer.hpp"
#include "http/client/http_transfer.hpp"
#include "http/sse_parser.hpp"
#include "upstream/streamable_http/http_context.hpp"
#include "upstream/streamable_http/stream_messages.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// What the owner of an event stream hears: on the loop's thread, outside of curl, and never from
/// within a call of SseStream, but for what the end of its time leads to. Whoever is told may close
/// it.
class SseStreamOwner {
 public:
  /// The server has said where its messages are to be posted; `endpoint` is a whole URL of its
  /// origin.
  virtual void sse_stream_open(const std::string& endpoint) = 0;
  virtual void sse_stream_message(ReceivedText message) = 0;
  /// The answer to this request was over --max-frame.
  virtual void sse_stream_oversized_answer(UpstreamId id) = 0;
  /// It could not be opened, or broke. `challenge`: its WWW-Authenticate, if the status was 401 or
  /// 403.
  virtual void sse_stream_ended(Failure failure, const TokenChallenge& challenge) = 0;

 protected:
  ~SseStreamOwner() = default;
};

/// The event stream of the transport of 2024-11-05 (HTTP+SSE): a GET whose first event is
/// `endpoint`, and on which everything comes that the server has to say. It lives as long as the
/// session; the next one has a stream of its own. MCP 2024-11-05, "Transports", "HTTP with SSE";
/// BEHAVIOUR, "HTTP+SSE".
///
/// The loop's thread only. Memory: one event of at most --max-frame, the messages of one turn. No
/// event comes from within a call, and none after close().
class SseStream final : private TransferReceiver, private SseSink {
 public:
  /// Begins to open it.
  SseStream(EventLoop& loop, HttpContext& context, SseStreamOwner& owner);

  void close();
  bool is_open() const { return state_ == State::open; }
  /// Of the token it was opened with.
  int token_generation() const { return token_generation_; }

 private:
  enum class State : std::uint8_t {
    opening,  ///< what came first was no `endpoint` yet
    open,
    closed,
  };

  void begin_get();
  void head_line_received(bool complete) override;
  bool body_received(std::string_view bytes) override;
  void transfer_progressed(bool done, int result) override;
  void end(Failure failure);
  Failure failure_of_end(int result) const;
  void take_endpoint(const std::string& named);

  void on_event(std::string type, ReceivedText data) override;
  void on_retry(std::chrono::milliseconds) override {}
  void on_oversized_event() override;
  void on_oversized_event_end(std::string_view beginning, std::string_view end) override;

  HttpContext& context_;
  SseStreamOwner& owner_;
  DeadlineTimer timeout_;  ///< for the first event
  SseParser parser_;
  std::optional<std::string> named_endpoint_;  ///< as the server wrote it; not looked at yet
  StreamMessages messages_;
  State state_ = State::opening;
  int token_generation_ = 0;
  HttpTransfer transfer_;
};

}  // namespace bridge
