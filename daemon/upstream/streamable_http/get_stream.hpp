#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "event/event_loop.hpp"
#include "http/client/http_transfer.hpp"
#include "http/sse_parser.hpp"
#include "json/json_text.hpp"
#include "json/received_text.hpp"
#include "json/reply.hpp"
#include "upstream/streamable_http/http_context.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// When the server stream is opened again (BEHAVIOUR, "Streamable HTTP: server stream"; the
/// server's `retry`: HTML, "Server-sent events"): at once, also after the first failure, then with
/// growing delays; never sooner than the server wants, and never more than two openings a second.
/// Pure but for its back-off.
class StreamPace {
 public:
  /// A new session: nothing of an older one counts.
  void reset() {
    was_good();
    retry_.reset();
    wait_once_.reset();
  }
  /// An opening begins.
  void begin(SteadyTime now) { begun_ = now; }
  bool has_lived_long(SteadyTime now) const { return now - begun_ >= std::chrono::seconds(30); }
  /// The stream was of use: failures before it no longer count.
  void was_good() {
    backoff_.reset();
    failures_ = 0;
  }
  /// It was not. False: so often in a row that it is given up; a negative `bound` is none.
  bool failed(int bound) { return ++failures_ < bound || bound < 0; }

  /// From now on.
  void set_retry(std::chrono::milliseconds delay) {
    retry_ = std::min<std::chrono::milliseconds>(delay, std::chrono::hours(1));
  }
  /// Retry-After of a refusal: for the next opening only.
  void wait_once(std::chrono::milliseconds delay) {
    wait_once_ = std::min<std::chrono::milliseconds>(delay, std::chrono::minutes(5));
  }

  SteadyTime earliest(SteadyTime now) const { return std::max(now, begun_ + between_openings); }
  /// `failed`: the last opening did.
  SteadyTime next(SteadyTime now, bool failed) {
    std::chrono::milliseconds delay = retry_.value_or(std::chrono::milliseconds(0));
    if (const auto wait = std::exchange(wait_once_, std::nullopt)) delay = std::max(delay, *wait);
    if (failed && failures_ > 1) delay = std::max(delay, backoff_.next());
    return earliest(now + delay);
  }

 private:
  /// A little more than half a second: two a second also as the server sees them arrive.
  static constexpr std::chrono::milliseconds between_openings{525};

  SteadyTime begun_{};
  int failures_ = 0;  ///< in a row
  Backoff backoff_;
  std::optional<std::chrono::milliseconds> retry_;
  std::optional<std::chrono::milliseconds> wait_once_;
};

/// What came on a stream of the server's own and was not taken yet: messages, and the requests
/// whose answers were over --max-frame. Pure. Memory: what came in one turn.
class StreamMessages {
 public:
  /// The data of an event. `{}` is what some servers keep their streams awake with.
  void add(ReceivedText data, std::string event_id = {}) {
    if (data.bytes.empty() || data.bytes == "{}") return;
    make_single_line(data);
    messages_.push_back({std::move(data), std::move(event_id)});
  }
  /// An event was over the limit: both ends of its data.
  void add_oversized(std::string_view beginning, std::string_view end) {
    if (const auto id = id_of_oversized_answer(beginning, end))
      oversized_answers_.push_back(static_cast<UpstreamId>(*id));
  }

  bool empty() const { return messages_.empty() && oversized_answers_.empty(); }
  std::optional<ReceivedText> next() {
    auto message = take(messages_);
    if (!message) return std::nullopt;
    event_id_ = std::move(message->event_id);
    return std::move(message->data);
  }
  /// Of the event that the last one came in, or of one before.
  const std::string& event_id() const { return event_id_; }
  std::optional<UpstreamId> next_oversized_answer() { return take(oversized_answers_); }
  void clear() {
    messages_.clear();
    oversized_answers_.clear();
    event_id_.clear();
  }

 private:
  struct Message {
    ReceivedText data;
    std::string event_id;
  };

  template <class T>
  static std::optional<T> take(std::deque<T>& queue) {
    if (queue.empty()) return std::nullopt;
    std::optional<T> first = std::move(queue.front());
    queue.pop_front();
    return first;
  }

  std::deque<Message> messages_;
  std::string event_id_;
  std::deque<UpstreamId> oversized_answers_;
};

/// What the owner of a server stream hears: on the loop's thread, outside of curl, and never from
/// within a call of UpstreamGetStream.
struct GetStreamEvents {
  /// Messages came (UpstreamGetStream::messages) or the state changed.
  std::function<void()> progressed;
  /// The upstream does not know the session whose stream was open before.
  std::function<void()> lost_session;
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
  UpstreamGetStream(EventLoop& loop, HttpContext& context, GetStreamEvents events);
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
  /// How the last try has failed, until that was handled.
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
  const GetStreamEvents events_;
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
