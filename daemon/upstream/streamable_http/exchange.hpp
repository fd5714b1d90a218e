#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "http/client/http_transfer.hpp"
#include "http/sse_parser.hpp"
#include "upstream/message_clock.hpp"
#include "upstream/streamable_http/http_context.hpp"
#include "upstream/streamable_http/stream_messages.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// Resuming of an answer's stream that broke (MCP 2025-11-25, "Resumability and Redelivery"): the
/// time of the next GET, and the events received so far. Pure. Memory: the ids of the last 1024
/// events.
class Continuation {
 public:
  /// The server has set the delay.
  void set_retry(std::chrono::milliseconds delay) {
    retry_ = std::min<std::chrono::milliseconds>(delay, std::chrono::hours(1));
  }

  /// The stream broke: the delay before the next attempt, doubled after each fruitless one up to 30
  /// s, but never less than the server's.
  std::chrono::milliseconds next_delay() {
    begun_ = true;
    const auto delay = std::max(retry_, shortest_delay) * (1 << std::min(tries_++, 6));
    return std::min<std::chrono::milliseconds>(delay, std::max(retry_, longest_delay));
  }

  /// An event arrived, with this id if any. False: it is a repetition, after the stream was
  /// resumed.
  bool is_news(const std::string* event_id) {
    const bool was_seen = event_id != nullptr && !remember(*event_id);
    if (was_seen && begun_) return false;
    tries_ = 0;
    return true;
  }

  std::chrono::milliseconds retry() const { return retry_; }
  /// The ids of the last events, oldest first.
  const std::list<std::string>& seen() const { return order_; }
  void restore(const std::vector<std::string>& seen, std::chrono::milliseconds retry) {
    for (const std::string& event_id : seen) remember(event_id);
    set_retry(retry);
    begun_ = true;
  }

  /// Whether a refusal of the token may be answered with another token: once.
  bool may_renew_token() { return !std::exchange(token_renewed_, true); }

 private:
  /// The shortest delay, also if the server sets none.
  static constexpr std::chrono::milliseconds shortest_delay{100};
  static constexpr std::chrono::milliseconds longest_delay{30000};
  static constexpr std::size_t max_seen = 1024;

  bool remember(const std::string& event_id) {
    if (!seen_.insert(event_id).second) return false;
    order_.push_back(event_id);
    if (order_.size() > max_seen) {
      seen_.erase(order_.front());
      order_.pop_front();
    }
    return true;
  }

  std::chrono::milliseconds retry_{1000};
  int tries_ = 0;  ///< since the last event
  bool begun_ = false;
  bool token_renewed_ = false;
  std::list<std::string> order_;  ///< of seen_, oldest first; costs nothing while it is empty
  std::unordered_set<std::string> seen_;
};

/// The stream of an answer, over several connections: its events, and how it is continued. Pure.
struct AnswerStream {
  /// `last_event_id`: of an earlier process; empty: a new stream.
  AnswerStream(std::size_t max_event, const std::string& last_event_id)
      : parser(max_event, last_event_id), last_event(last_event_id) {}

  /// Whether a GET can name the last event.
  bool can_continue() const {
    return fits_header(parser.last_event_id(), header_limit::event_id, Blanks::inside);
  }
  bool has_unusable_id() const { return !parser.last_event_id().empty() && !can_continue(); }
  /// Its next connection begins.
  void restart() { parser.restart(parser.last_event_id()); }
  /// An event arrived: returns the id of the event before it; nullopt: it is a repetition.
  std::optional<std::string> take_event() {
    std::string before = std::exchange(last_event, parser.last_event_id());
    const bool is_news =
        continuation.is_news(parser.event_had_id() ? &parser.last_event_id() : nullptr);
    return is_news ? std::optional(std::move(before)) : std::nullopt;
  }

  SseParser parser;
  Continuation continuation;
  std::string last_event;  ///< id of the last event; empty: none
};

/// How an exchange has sent its last request. Pure but for curl's counters.
struct SentRequest {
  int token_generation = 0;  ///< AccessToken::generation of its token
  // Of the POST.
  SessionNamedBy session_named_by = SessionNamedBy::nothing;
  bool is_large = false;  ///< its handle is set up for that
  bool reached = false;   ///< it may have been sent

  /// Whether a byte of the POST may have been sent. Over HTTP/2 that is so as soon as there is a
  /// connection: curl does not count the bytes there, nor report what the server's GOAWAY excluded.
  bool has_left(CURL* handle, bool http2) const;
};

class HttpUpstream;

/// One message under way: a POST, its response, and if the response's stream breaks and can be
/// resumed, the GETs that continue it (MCP 2025-11-25, "Resumability and Redelivery"; BEHAVIOUR,
/// "Streamable HTTP: streams that break").
///
/// Owned by the ExchangeTable; the loop's thread only. Memory: the message until the first message
/// of its response (afterwards it is never sent again; while the buffers are full, only until the
/// response begins); a JSON body or an SSE event of at most --max-frame, whose reading may wait for
/// room (AnswerRoom); the messages of one turn.
/// Ends on its own, or by close(), which closes the response stream at once.
class Exchange final : private TransferReceiver, private SseSink {
 public:
  Exchange(HttpContext& context, HttpUpstream& owner, Outgoing&& message);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Sends it as a POST.
  void post();
  /// An earlier process did that: asks for the stream of its answer.
  void resume();
  /// Whether the next process can receive the answer: by resuming its stream, or on the server
  /// stream if that is resumed.
  bool survives_upgrade(bool server_stream_resumes) const;
  /// REQUIRES: survives_upgrade().
  SavedMessage save_message() const;
  /// Instead of post(). REQUIRES: constructed with this message.
  void restore(const SavedMessage& saved);
  /// Upstream::treat(). What the bridge itself does not read is not late, within bounds:
  /// MessageClock.
  void treat(Treatment how);
  /// The answer has arrived.
  void settle();
  /// The session is over: a stream to be resumed, or a response on another stream, will not come.
  /// check_time() ends it.
  void session_over() { session_is_over_ = true; }
  /// Ends it silently.
  void close();
  /// HttpContext::has_server_stream() has changed.
  void server_stream_changed();
  /// Ends it with this failure.
  void fail(Failure failure);

  /// The next received message; empty: none.
  std::optional<ReceivedText> next_message();
  bool has_messages() const { return !messages_.empty(); }
  bool has_ended() const { return phase_ == Phase::ended || phase_ == Phase::over; }
  /// How it ended. REQUIRES: has_ended(), all messages taken.
  Ending take_ending();
  /// The message, to be sent again though it was answered; nullopt if its bytes are gone.
  std::optional<Outgoing> take_back();

  /// Resumes, times out or ends draining when due; `next`: when to call again.
  void check_time(SteadyTime now, SteadyTime& next);
  /// When it times out.
  SteadyTime deadline() const;

  /// Whether its deadline is short: it is not a request that waits for an answer.
  bool ends_soon() const {
    return phase_ == Phase::draining || phase_ == Phase::waiting_to_continue || waits_in_vain() ||
           lacks_stream() || !is_request();
  }

  UpstreamId id() const { return message_.id; }
  OutgoingKind kind() const { return message_.kind; }
  bool is_request() const { return message_.kind == OutgoingKind::request; }
  /// A job's request, or one whose stream stays open (which has --request-timeout until its
  /// deadline is lifted).
  bool is_endless() const { return message_.endless || message_.stays_open || clock_.is_held(); }
  /// It was answered: its end is not reported.
  bool is_settled() const { return phase_ == Phase::draining || phase_ == Phase::over; }
  bool was_reached() const { return request_.reached; }
  std::size_t accumulated() const {
    return transfer_.body().size() + (stream_ ? stream_->parser.pending_bytes() : 0);
  }
  /// AnswerRoom::admit() has named it.
  void read_on() {
    if (!clock_.is_paused()) transfer_.proceed();
  }
  /// The event after which its stream can be resumed; empty: not possible, or not all messages were
  /// taken.
  std::string_view last_event() const;
  /// The event before the one that contained the last taken message; empty: none.
  std::string_view event_before() const { return messages_.event_id(); }
  const ResponseHead& head() const { return transfer_.head(); }
  bool opens_session() const { return message_.opens_session; }
  /// Its token was refused: whether another one may be accepted.
  bool refuse_token() { return context_.refuse_token(request_.token_generation, transfer_); }
  /// Whether a session id in its answer names the session.
  bool may_name_session() const {
    return head().is_success() && !session_is_over_ && is_stateful();
  }
  /// Sent in a session, as in revisions before 2026-07-28; other messages stand alone.
  bool is_stateful() const { return message_.notes.stateful; }

 private:
  /// Bytes of undelivered messages above which reading waits for their delivery, so that receivers
  /// can pause.
  static constexpr std::size_t most_undelivered = 256 << 10;

  enum class Phase : std::uint8_t {
    posting,              ///< the POST is being sent, the answer has not begun
    answering,            ///< the answer is being received
    waiting_to_continue,  ///< its stream broke; until due_
    continuing,           ///< a GET resumes it
    awaiting_elsewhere,   ///< accepted: the answer comes on another stream, until due_
    draining,             ///< answered; its stream may continue until due_
    ended,                ///< to be reported
    over,                 ///< answered, and its stream has ended
  };

  static int before_request(void* self, char*, char*, int, int);

  SessionNamedBy named_by() const;
  void begin_get();
  bool is_unusable_session() const;
  void forget_body();
  void begin_stream(const std::string& last_event_id);
  void take_body();
  void head_line_received(bool complete) override;
  void body_begins() override;
  bool body_received(std::string_view bytes) override;
  bool has_enough() override;
  void transfer_progressed(bool done, int result) override;
  void close_transfer();

  MessageTimeouts timeouts() const;
  bool may_continue() const;
  bool waits_in_vain() const;
  /// The answer is awaited on another stream, but there is no server stream.
  bool lacks_stream() const {
    return phase_ == Phase::awaiting_elsewhere && due_ != SteadyTime::max();
  }
  bool is_given_back() const;
  void transfer_done(int result);
  void refused();
  void answer_complete();
  bool denies_session() const;
  void end_without_session();
  bool is_refused_by_body() const;
  bool may_be_answered_elsewhere() const;
  bool is_only_receipt() const;
  bool was_taken(const Failure& failure) const;
  void accepted();
  bool try_to_continue();
  bool has_unusable_event_id() const;
  bool follow_redirection();
  void end_in_vain();
  void time_out(SteadyTime now);
  void finish();
  void finish(Failure&& failure) {
    note_failure(std::move(failure));
    end_failed(is_given_back());
  }
  void end_failed(bool give_back);
  /// Sets how it will end. From within curl: curl then ends the transfer.
  void note_failure(Failure&& failure);

  void on_event(std::string type, ReceivedText data) override;
  void on_retry(std::chrono::milliseconds delay) override;
  void on_oversized_event() override;

  HttpContext& context_;
  HttpUpstream& owner_;
  Outgoing message_;
  Phase phase_ = Phase::posting;
  SteadyTime due_{};  ///< of the phase
  bool session_is_over_ = false;
  bool something_came_ = false;
  SentRequest request_;
  MessageClock clock_;
  StreamMessages messages_;  ///< each with the id of the event before its own
  // Rare data is allocated separately, because an Exchange is made for each call.
  std::unique_ptr<AnswerStream> stream_;  ///< if the answer is a stream
  std::unique_ptr<Ending> failed_end_;    ///< if it has failed, or will
  HeldAnswer held_;
  HttpTransfer transfer_;
};

}  // namespace bridge
