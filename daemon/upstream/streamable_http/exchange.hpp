#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>

#include "http/client/redirection.hpp"
#include "http/client/response_head.hpp"
#include "http/sse_parser.hpp"
#include "upstream/streamable_http/exchange_clock.hpp"
#include "upstream/streamable_http/http_context.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

class Exchange;

/// What the owner of exchanges hears of one; outside of curl.
class ExchangeOwner {
 public:
  /// Messages came (Exchange::next_message), or it ended (Exchange::has_ended).
  virtual void exchange_progressed(UpstreamId id) = 0;
  /// The continuation of its answer was refused with 401 or 403: is there another token to try?
  virtual bool exchange_unauthorized(const Exchange& exchange) = 0;

 protected:
  ~ExchangeOwner() = default;
};

/// One message on its way: a POST, its answer, and if the answer's stream breaks and can be
/// resumed, the GETs that continue it (MCP 2025-11-25, "Resumability and Redelivery"; BEHAVIOUR,
/// "Streamable HTTP: streams that break").
///
/// Owned by HttpUpstream. Memory: the message until its answer begins; a JSON body or an SSE event
/// of at most --max-frame; the messages of one turn. Ends by itself or by its destruction, which
/// closes the answer stream at once.
class Exchange final : private CurlTransfer, private SseSink {
 public:
  Exchange(HttpContext& context, ExchangeOwner& owner, Outgoing message);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void start();
  /// Stops or continues receiving. What the bridge itself does not read cannot be late, within
  /// bounds: ExchangeClock.
  void pause(bool paused);
  /// The answer has come.
  void settle();
  /// Its session has been forgotten: what waits to be continued, or for its answer on
  /// another stream, waits in vain. check_time() ends it.
  void session_forgotten();
  /// There is a server stream now, or there is none any more (HttpContext::has_server_stream).
  void server_stream_changed();
  /// Ends it with this failure.
  void fail(Failure failure);

  /// The next message that came; empty if there is none.
  std::optional<std::string> next_message();
  bool has_messages() const { return !messages_.empty(); }
  bool has_ended() const { return ended_; }
  /// How it ended. REQUIRES: has_ended(), all messages taken.
  Ending take_ending();

  /// Resumes, times out or ends the draining, if it is time; `next` is when to ask again.
  void check_time(SteadyTime now, SteadyTime& next);
  /// When it is over if nothing happens.
  SteadyTime deadline() const;

  /// Whether its deadline is near by its nature: no request that waits for its answer.
  bool ends_soon() const {
    return settled_ || resume_at_ || no_stream_since_ || message_.kind != OutgoingKind::request;
  }

  UpstreamId id() const { return message_.id; }
  bool is_request() const { return message_.kind == OutgoingKind::request; }
  bool is_settled() const { return settled_; }
  bool was_reached() const { return reached_; }
  std::size_t accumulated() const {
    return body_.size() + (parser_ ? parser_->pending_bytes() : 0);
  }
  const ResponseHead& head() const { return head_; }
  bool opens_session() const { return message_.opens_session; }
  /// Of the token it was sent with (HttpContext::token_generation).
  int token_generation() const { return token_generation_; }
  /// Of the session it was sent in (HttpContext::session_generation).
  int session_generation() const { return session_generation_; }

 private:
  struct Callbacks;

  void begin_post();
  void begin_resume();
  void begin_get();
  void prepare_handle();
  bool has_left() const;
  ExchangePatience patience() const;
  bool may_resume() const;
  bool names_unusable_session() const;
  void release_handle();
  void head_complete();
  std::size_t take_body(std::string_view bytes);
  void took_bytes();
  void transfer_progressed(bool done, int result) override;
  void transfer_done(int result);
  void answer_complete();
  bool try_resume();
  bool has_unusable_event_id() const;
  bool is_answer_nowhere(SteadyTime now) const;
  bool follow_redirect();
  void end(std::optional<Failure> failure);
  bool remember_event(const std::string& event_id);

  void on_event(std::string type, std::string data) override;
  void on_retry(std::chrono::milliseconds delay) override;
  void on_oversized_event() override;

  HttpContext& context_;
  ExchangeOwner& owner_;
  Outgoing message_;
  CurlHandle handle_;
  HeaderList headers_;
  bool running_ = false;  ///< curl has it
  bool carried_session_ = false;
  int token_generation_ = 0;
  int session_generation_ = 0;

  ResponseHead head_;
  bool body_begun_ = false;
  std::string body_;
  std::unique_ptr<SseParser> parser_;
  ByteBudget::Share share_;
  std::deque<std::string> messages_;
  std::optional<Failure> failed_in_callback_;
  std::array<char, 256> error_text_{};  ///< curl's CURL_ERROR_SIZE
  Redirection redirection_;

  bool reached_ = false;
  bool answer_begun_ = false;
  bool something_came_ = false;
  bool settled_ = false;
  bool ended_ = false;
  bool awaited_elsewhere_ = false;  ///< 202 to a request: its answer comes on another stream
  bool resuming_ = false;
  bool reauthorized_ = false;
  std::optional<Failure> failure_;
  SessionVerdict verdict_ = SessionVerdict::kept;

  std::chrono::milliseconds retry_{1000};
  int resumptions_failed_ = 0;
  std::optional<SteadyTime> resume_at_;
  /// Its answer is awaited on another stream, and there has been no server stream since then.
  std::optional<SteadyTime> no_stream_since_;
  std::deque<std::string> seen_events_;  ///< the last ones, oldest first
  std::unordered_set<std::string> seen_event_set_;

  ExchangeClock clock_;
  std::optional<SteadyTime> drain_until_;
};

}  // namespace bridge
