#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "event/event_loop.hpp"
#include "http/client/http_transfer.hpp"
#include "http/sse_parser.hpp"
#include "json/received_text.hpp"
#include "upstream/streamable_http/http_context.hpp"
#include "upstream/streamable_http/stream_messages.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// When the server stream is reopened (BEHAVIOUR, "Streamable HTTP: server stream"; the server's
/// `retry`: HTML, "Server-sent events"): at once, also after the first failure, then with growing
/// delays; never earlier than the server wants, at most two openings a second. Pure but for its
/// back-off.
class StreamPace {
 public:
  /// A new session: starts afresh.
  void reset() {
    was_good();
    retry_.reset();
    wait_once_.reset();
  }
  /// An opening begins.
  void begin(SteadyTime now) { begun_ = now; }
  bool has_lived_long(SteadyTime now) const { return now - begun_ >= std::chrono::seconds(30); }
  /// The stream was useful: earlier failures no longer count.
  void was_good() {
    backoff_.reset();
    failures_ = 0;
  }
  /// The opening failed. False: too many consecutive failures; a negative `bound`: no limit.
  bool failed(int bound) { return ++failures_ < bound || bound < 0; }

  /// For all later openings.
  void set_retry(std::chrono::milliseconds delay) {
    retry_ = std::min<std::chrono::milliseconds>(delay, std::chrono::hours(1));
  }
  /// Retry-After of a refusal: for the next opening only.
  void wait_once(std::chrono::milliseconds delay) {
    wait_once_ = std::min<std::chrono::milliseconds>(delay, std::chrono::minutes(5));
  }

  SteadyTime earliest(SteadyTime now) const { return std::max(now, begun_ + between_openings); }
  /// `failed`: whether the last opening failed.
  SteadyTime next(SteadyTime now, bool failed) {
    std::chrono::milliseconds delay = retry_.value_or(std::chrono::milliseconds(0));
    if (const auto wait = std::exchange(wait_once_, std::nullopt)) delay = std::max(delay, *wait);
    if (failed && failures_ > 1) delay = std::max(delay, backoff_.next());
    return earliest(now + delay);
  }

 private:
  /// A little more than half a second, so that the server also sees at most two a second.
  static constexpr std::chrono::milliseconds between_openings{525};

  SteadyTime begun_{};
  int failures_ = 0;  ///< consecutive
  Backoff backoff_;
  std::optional<std::chrono::milliseconds> retry_;
  std::optional<std::chrono::milliseconds> wait_once_;
};

class HttpUpstream;

/// The GET for the upstream's own messages, kept open during the session (MCP 2025-11-25,
/// "Listening for Messages from the Server"; BEHAVIOUR, "Streamable HTTP: server stream"): reopened
/// at once, then with back-off, at most twice a second.
///
/// The loop's thread only; owned by HttpUpstream. Memory: one event of at most --max-frame, the
/// messages of one turn, 64 KiB of a refusal. It stays closed only after a refusal that says the
/// server has none, or after --stream-retries consecutive failures; see state().
class UpstreamGetStream final : private TransferReceiver, private SseSink {
 public:
  UpstreamGetStream(EventLoop& loop, HttpContext& context, HttpUpstream& owner);
  /// `resumed_after`: of an earlier daemon's session: its last event; may be empty. None: the
  /// session is new.
  void open(std::optional<std::string> resumed_after = std::nullopt);
  /// Closes the connection and resumes on a new one.
  void reopen();
  void close();
  /// The upstream is reachable: if the last attempt was not answered, the next one is made now.
  void retry_soon();
  /// Bytes were released: reads on if it waits for that.
  void look_for_room();

  ServerStream state() const { return state_; }
  /// What a refused attempt since the last call means for the session; nullopt: none was refused.
  std::optional<SessionVerdict> take_refusal();
  /// The same for a refusal because the session is unknown.
  bool take_loss() { return take(LastTry::lost_session); }
  StreamMessages& messages() { return messages_; }
  /// Of the last taken message; if all are taken, of the last event.
  const std::string& last_event_id() const {
    return messages_.empty() ? parser_.last_event_id() : messages_.event_id();
  }

 private:
  /// The state of the stream in this session.
  enum class Opened : std::uint8_t {
    never,
    before,     ///< not open yet
    silent,     ///< open, without data so far
    with_data,  ///< something was
  };
  /// The unprocessed failure of the last attempt.
  enum class LastTry : std::uint8_t {
    of_no_note,
    unreachable,  ///< no connection
    refused,
    suspicious,    ///< refused, perhaps because the session is unknown
    unclear,       ///< the same, if messages are refused too
    lost_session,  ///< refused because the session is unknown
  };

  bool take(LastTry outcome);

  void connect();
  void has_none(std::string_view why);
  void begin_get();
  void head_line_received(bool complete) override;
  bool body_received(std::string_view bytes) override;
  bool has_enough() override {
    return state_ == ServerStream::open &&
           context_.pauses_stream(transfer_, parser_.pending_bytes());
  }
  void count_held() { share_.set(parser_.pending_bytes() + messages_.bytes()); }
  void transfer_progressed(bool done, int result) override;
  void ended(int result);
  void refused();
  void connect_later(bool failed);

  void on_event(std::string type, ReceivedText data) override;
  void on_retry(std::chrono::milliseconds delay) override { pace_.set_retry(delay); }
  void on_oversized_event() override;
  void on_oversized_event_end(std::string_view beginning, std::string_view end) override;

  HttpContext& context_;
  HttpUpstream& owner_;
  DeadlineTimer timer_;
  StreamPace pace_;
  SseParser parser_;
  StreamMessages messages_;
  ServerStream state_ = ServerStream::off;
  Opened opened_ = Opened::never;
  LastTry last_try_ = LastTry::of_no_note;
  bool said_none_ = false;  ///< logged once per daemon
  int token_generation_ = 0;
  std::uint64_t oversized_ = 0;
  ByteBudget::Share share_;
  HttpTransfer transfer_;
};

}  // namespace bridge
