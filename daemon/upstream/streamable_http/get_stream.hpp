#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "event/deadline_timer.hpp"
#include "http/client/http_transfer.hpp"
#include "http/sse_parser.hpp"
#include "upstream/streamable_http/http_context.hpp"
#include "upstream/streamable_http/stream_messages.hpp"
#include "upstream/streamable_http/stream_pace.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// What the owner of a server stream hears: on the loop's thread, outside of curl, and never from
/// within a call of UpstreamGetStream.
class GetStreamOwner {
 public:
  /// Messages came (UpstreamGetStream::messages) or the state changed.
  virtual void stream_progressed() = 0;
  /// The upstream does not know the session whose stream was open before.
  virtual void stream_lost_session() = 0;

 protected:
  ~GetStreamOwner() = default;
};

/// The GET on which the upstream speaks by itself, kept open for the session's life (MCP
/// 2025-11-25, "Listening for Messages from the Server"; BEHAVIOUR, "Streamable HTTP: server
/// stream"): reopened at once, then with back-off, never more than two openings a second.
///
/// The loop's thread only; owned by HttpUpstream, as its owner is. Memory: one event of at most
/// --max-frame, the messages of one turn, of a refusal 64 KiB. No error ends it but a refusal that
/// says there is none, or --stream-retries failures in a row; state() says so.
class UpstreamGetStream final : private TransferReceiver, private SseSink {
 public:
  UpstreamGetStream(EventLoop& loop, HttpContext& context, GetStreamOwner& owner);
  /// For a new session: nothing of an older one is resumed.
  void open();
  /// For one that another daemon has opened: resumed behind this event, if there is one.
  void open(const std::string& last_event_id);
  /// Closes the connection and opens another, resuming.
  void reopen();
  void close();
  /// Others reach the upstream: if the last try could not, the next one need not wait longer.
  void retry_soon();

  ServerStream state() const { return state_; }
  /// Whether a try to open it was answered with a refusal since this was asked last.
  bool take_refusal();
  StreamMessages& messages() { return messages_; }
  /// Of the last message that was taken; when all are, of the last event.
  const std::string& last_event_id() const {
    return messages_.empty() ? parser_.last_event_id() : messages_.event_id();
  }

 private:
  /// What there was of the stream in this session.
  enum class Opened : std::uint8_t {
    never,
    before,     ///< the one under way is not open yet
    silent,     ///< it is, and nothing was said on it
    with_data,  ///< something was
  };
  /// How the last try has failed, until somebody has acted on it.
  enum class LastTry : std::uint8_t {
    of_no_note,
    unreachable,  ///< it found no connection
    refused,      ///< it was answered, but with a refusal
  };

  void begin(const std::string& last_event_id, Opened opened);
  void connect();
  void has_none(std::string_view why);
  void begin_get();
  void head_line_received(bool complete) override;
  bool body_received(std::string_view bytes) override;
  void transfer_progressed(bool done, int result) override;
  void ended(int result);
  void refused();
  void connect_later(bool failed);

  void on_event(std::string type, ReceivedText data) override;
  void on_retry(std::chrono::milliseconds delay) override { pace_.set_retry(delay); }
  void on_oversized_event() override;
  void on_oversized_event_end(std::string_view beginning, std::string_view end) override;

  HttpContext& context_;
  GetStreamOwner& owner_;
  DeadlineTimer timer_;
  StreamPace pace_;
  SseParser parser_;
  StreamMessages messages_;
  ServerStream state_ = ServerStream::off;
  Opened opened_ = Opened::never;
  LastTry last_try_ = LastTry::of_no_note;
  bool said_none_ = false;  ///< in the log, once in the daemon's life
  int token_generation_ = 0;
  std::uint64_t oversized_ = 0;
  HttpTransfer transfer_;
};

}  // namespace bridge
