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
#include "upstream/upstream.hpp"

namespace bridge {

/// How an answer's stream that broke is continued (MCP 2025-11-25, "Resumability and Redelivery"):
/// when the next GET may be made, and which of its events came before. Pure. Memory: the ids of the
/// last 1024 events.
class Continuation {
 public:
  /// The server has said how long to wait.
  void set_retry(std::chrono::milliseconds delay) {
    retry_ = std::min<std::chrono::milliseconds>(delay, std::chrono::hours(1));
  }

  /// The stream broke: how long to wait now. Twice as long after each try that brought nothing, up
  /// to 30 s, but never less than the server wants.
  std::chrono::milliseconds next_delay() {
    begun_ = true;
    const auto delay = std::max(retry_, shortest_delay) * (1 << std::min(tries_++, 6));
    return std::min<std::chrono::milliseconds>(delay, std::max(retry_, longest_delay));
  }

  /// An event came, with this id if it had one. False: it came before, and is sent again because
  /// the stream was continued.
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

  /// Whether a refusal of the token may be met with another one: once.
  bool may_renew_token() { return !std::exchange(token_renewed_, true); }

 private:
  /// A server that asks for no delay at all is not asked in a loop.
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

/// One message under way: a POST, its response, and if the response's stream breaks and can be
/// resumed, the GETs that continue it (MCP 2025-11-25, "Resumability and Redelivery"; BEHAVIOUR,
/// "Streamable HTTP: streams that break").
///
/// Owned by the ExchangeTable; the loop's thread only. Memory: the message until the first message
/// of its response (then it is never sent again), or while the buffers are full only until the
/// response begins; a JSON body or an SSE event of at most --max-frame; the messages of one turn.
/// Ends on its own, or by close(), which closes the response stream at once.
class Exchange final : private TransferReceiver, private SseSink {
 public:
  /// Messages came (next_message()), or it ended (has_ended()): told on the loop's thread, outside
  /// of curl, and never from within a call of Exchange.
  using Progressed = std::function<void(UpstreamId id)>;

  Exchange(HttpContext& context, const Progressed& progressed, Outgoing&& message);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void start();
  /// Whether the next process can await its answer: behind the last event that came, or
  /// on the server stream, if that is resumed.
  bool survives_upgrade(bool server_stream_resumes) const;
  /// REQUIRES: that.
  SavedMessage save() const;
  /// Instead of start(). REQUIRES: it was made of this message.
  void restore(SavedMessage saved);
  /// Stops or continues receiving. What the bridge itself does not read cannot be late, within
  /// bounds: MessageClock.
  void pause(bool paused);
  /// As if it had been sent as Outgoing::endless.
  void lift_deadline() { message_.endless = true; }
  /// Upstream::hold_deadline().
  void hold_deadline(bool held) {
    if (held) {
      clock_.hold(context_.now());
    } else {
      clock_.release(context_.now());
    }
  }
  /// The answer has come.
  void settle();
  /// Its session is over: a stream to be continued, or a response on another stream, will not come.
  /// check_time() ends it.
  void session_over() { session_is_over_ = true; }
  /// Nothing more is to be heard of it.
  void close();
  /// There is a server stream now, or there is no longer one (HttpContext::has_server_stream).
  void server_stream_changed();
  /// Ends it with this failure.
  void fail(Failure failure);

  /// The next message that came; empty if there is none.
  std::optional<ReceivedText> next_message();
  bool has_messages() const { return !messages_.empty(); }
  bool has_ended() const { return phase_ == Phase::ended || phase_ == Phase::over; }
  /// How it ended. REQUIRES: has_ended(), all messages taken.
  Ending take_ending();

  /// Continues, times out or ends the draining, if it is time; `next` is when to ask again.
  void check_time(SteadyTime now, SteadyTime& next);
  /// When it is over if nothing happens.
  SteadyTime deadline() const;

  /// Whether its deadline is near by its nature: no request that waits for its answer.
  bool ends_soon() const {
    return phase_ == Phase::draining || phase_ == Phase::waiting_to_continue || waits_in_vain() ||
           lacks_stream() || !is_request();
  }

  UpstreamId id() const { return message_.id; }
  OutgoingKind kind() const { return message_.kind; }
  bool is_request() const { return message_.kind == OutgoingKind::request; }
  /// A job's, or one whose stream stays open (that has --request-timeout until it is lifted).
  bool is_endless() const { return message_.endless || message_.stays_open || clock_.is_held(); }
  /// It was answered: its end is not reported.
  bool is_settled() const { return phase_ == Phase::draining || phase_ == Phase::over; }
  bool was_reached() const { return reached_; }
  std::size_t accumulated() const {
    return transfer_.body().size() + (parser_ ? parser_->pending_bytes() : 0);
  }
  /// The event behind which its stream can be resumed; empty: it cannot, or not all that came was
  /// taken.
  std::string_view last_event() const;
  /// The event before the one in which the message came that was taken last; empty: none.
  std::string_view event_before() const { return event_before_; }
  const ResponseHead& head() const { return transfer_.head(); }
  bool opens_session() const { return message_.opens_session; }
  /// Of the token it was sent with (AccessToken::generation).
  int token_generation() const { return token_generation_; }
  /// Whether the answer came from a public address (public_address.hpp), and not through a proxy.
  bool is_peer_public() const;
  /// Whether a session id in its answer is that of the session.
  bool may_name_session() const {
    return head().is_success() && !session_is_over_ && is_stateful();
  }
  /// Sent in a session, as revisions before 2026-07-28 have it; other messages stand alone.
  bool is_stateful() const { return message_.notes.stateful; }

 private:
  struct StreamMessage {
    StreamMessage(ReceivedText&& its_text, std::string&& before)
        : text(std::move(its_text)), event_before(std::move(before)) {}

    ReceivedText text;
    std::string event_before;  ///< the id of the event before its own
  };
  /// Bytes of undelivered messages: more is read after their delivery, when their receivers have
  /// had a chance to pause.
  static constexpr std::size_t most_undelivered = 256 << 10;

  enum class Phase : std::uint8_t {
    posting,              ///< the POST is under way, its answer has not begun
    answering,            ///< the answer comes
    waiting_to_continue,  ///< its stream broke; until due_
    continuing,           ///< a GET goes on with it
    awaiting_elsewhere,   ///< it was accepted: the answer comes on another stream; not after due_
    draining,             ///< it is answered; its stream may go on until due_
    ended,                ///< to be told
    over,                 ///< it was answered, and its stream has ended
  };

  static int before_request(void* self, char*, char*, int, int);

  void begin_post();
  void begin_get();
  bool has_left() const;
  bool is_unusable_session() const;
  void forget_body();
  void add_message(ReceivedText&& message, std::string&& event_before = {});
  void head_line_received(bool complete) override;
  void body_begins() override;
  bool body_received(std::string_view bytes) override;
  bool has_enough() const override { return undelivered_ > most_undelivered; }
  void transfer_progressed(bool done, int result) override;
  void close_transfer();

  MessageTimeouts timeouts() const;
  bool may_continue() const;
  bool waits_in_vain() const;
  /// Its answer is awaited on another stream, and there is no server stream.
  bool lacks_stream() const {
    return phase_ == Phase::awaiting_elsewhere && due_ != SteadyTime::max();
  }
  bool is_given_back() const;
  void transfer_done(int result);
  void refused();
  void answer_complete();
  void accepted();
  bool try_to_continue();
  bool has_unusable_event_id() const;
  bool follow_redirection();
  void end_in_vain();
  void time_out(SteadyTime now);
  void end();
  void end(Failure&& failure) { end(std::move(failure), is_given_back()); }
  void end(Failure&& failure, bool give_back);
  /// From within curl, which ends the transfer then.
  void fail_in_callback(Failure&& failure) {
    failed_in_callback_ = std::make_unique<Failure>(std::move(failure));
  }

  void on_event(std::string type, ReceivedText data) override;
  void on_retry(std::chrono::milliseconds delay) override;
  void on_oversized_event() override;

  HttpContext& context_;
  const Progressed& progressed_;
  Outgoing message_;
  Phase phase_ = Phase::posting;
  bool reached_ = false;                                       ///< the POST may have left
  bool has_large_upload_ = false;                              ///< as its handle was told
  SessionNamedBy session_named_by_ = SessionNamedBy::nothing;  ///< in the POST
  bool session_is_over_ = false;
  int token_generation_ = 0;
  SteadyTime due_{};  ///< of the present phase
  MessageClock clock_;

  std::unique_ptr<SseParser> parser_;  ///< of an answer that is a stream
  Continuation continuation_;
  std::list<StreamMessage> messages_;  ///< costs nothing while it is empty, unlike a deque
  std::size_t undelivered_ = 0;        ///< bytes of these
  std::string last_event_;             ///< that was parsed; empty: none
  std::string event_before_;           ///< the message that was taken last
  bool something_came_ = false;
  // What few of them have stands apart: one is made for each call.
  std::unique_ptr<Failure> failed_in_callback_;
  std::unique_ptr<Ending> failed_end_;
  ByteBudget::Share share_;
  HttpTransfer transfer_;
};

}  // namespace bridge
