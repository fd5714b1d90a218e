#pragma once

#include <memory>
#include <optional>
#include <string>

#include "event/event_loop.hpp"
#include "http/client/http_transfer.hpp"
#include "http/sse_parser.hpp"
#include "upstream/streamable_http/get_stream.hpp"
#include "upstream/streamable_http/http_context.hpp"
#include "upstream/streamable_http/http_upstream.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

class SseUpstream;

/// The event stream of the transport of 2024-11-05 (HTTP+SSE): a GET whose first event is
/// `endpoint`, and which carries all messages of the server. It lives as long as the session; the
/// next session has its own. MCP 2024-11-05, "Transports", "HTTP with SSE"; BEHAVIOUR, "HTTP+SSE".
///
/// Owned by SseUpstream; the loop's thread only. Memory: one event of at most --max-frame, 256 KiB
/// of messages and those of one piece more. Reports outside of curl, never from within a call or
/// after close(), which its owner may call meanwhile.
class SseStream final : private TransferReceiver, private SseSink {
 public:
  /// Starts opening it.
  SseStream(EventLoop& loop, HttpContext& context, SseUpstream& owner);

  void close();
  bool is_open() const { return state_ == State::open; }
  /// The server has answered with an event stream.
  bool has_begun() const {
    return transfer_.head().complete && transfer_.head().status == 200 &&
           transfer_.head().is_event_stream();
  }
  /// Its token was refused: whether another one may be accepted.
  bool refuse_token() { return context_.refuse_token(token_generation_, transfer_); }
  /// Bytes were released: reads on if it waits for that.
  void look_for_room() {
    if (is_open() && !has_enough()) transfer_.proceed();
  }

 private:
  /// Bytes of undelivered messages above which reading waits for their delivery.
  static constexpr std::size_t most_undelivered = 256 << 10;

  enum class State : std::uint8_t {
    opening,  ///< no `endpoint` event yet
    open,
    closed,
  };

  void begin_get();
  void head_line_received(bool complete) override;
  bool body_received(std::string_view bytes) override;
  bool has_enough() override {
    return is_open() && (messages_.bytes() > most_undelivered ||
                         context_.pauses_stream(transfer_, parser_.pending_bytes()));
  }
  void count_held() { share_.set(parser_.pending_bytes() + messages_.bytes()); }
  void transfer_progressed(bool done, int result) override;
  void end_stream(Failure failure);
  Failure failure_of_end(int result) const;
  void take_endpoint(const std::string& named);

  void on_event(std::string type, ReceivedText data) override;
  void on_retry(std::chrono::milliseconds) override {}
  void on_oversized_event() override;
  void on_oversized_event_end(std::string_view beginning, std::string_view end) override;

  HttpContext& context_;
  SseUpstream& owner_;
  DeadlineTimer timeout_;  ///< for the first event
  SseParser parser_;
  std::optional<std::string> named_endpoint_;  ///< as the server wrote it; not checked yet
  StreamMessages messages_;
  State state_ = State::opening;
  int token_generation_ = 0;
  ByteBudget::Share share_;
  HttpTransfer transfer_;
};

/// The upstream over HTTP+SSE, the transport of 2024-11-05, or over Streamable HTTP, whichever the
/// server has (MCP 2025-11-25, "Transports", backwards compatibility).
///
/// Messages go through an HttpUpstream in both cases. With HTTP+SSE an `initialize` opens the event
/// stream first, messages go to the endpoint that it names, and a broken stream is a lost session.
/// A server that answers the first `initialize` with 400, 404 or 405 without a JSON-RPC error is
/// tried with HTTP+SSE, which is then kept if it works. BEHAVIOUR, "HTTP+SSE".
///
/// The loop's thread only; owned by the daemon. Memory: that of its HttpUpstream and its SseStream,
/// one `initialize`, and what one turn refuses. Timeouts are those of its parts.
class SseUpstream final : public Upstream, private UpstreamEvents {
 public:
  /// `only_sse`: HTTP+SSE is configured.
  SseUpstream(EventLoop& loop, const HttpOptions& options, const AuthOptions& auth,
              ByteBudget& budget, Log& log, bool only_sse);

  void reconfigure(const UpstreamOptions& options) override { http_.reconfigure(options); }
  void send(Outgoing&& message) override;
  std::optional<Outgoing> take_back(UpstreamId id) override { return http_.take_back(id); }
  void abandon(UpstreamId id) override;
  void treat(UpstreamId id, Treatment how) override { http_.treat(id, how); }
  ReportedEvents reported_events(UpstreamId id) const override {
    return speaks_sse() ? ReportedEvents{} : http_.reported_events(id);
  }
  bool session_opened(const OpenedSession& session) override;
  std::optional<SessionReference> session_reference() const override;
  bool names_session() const override {
    return speaks_sse() ? has_open_stream() : http_.names_session();
  }
  bool survives_upgrade(std::optional<UpstreamId> id) const override;
  std::vector<SavedMessage> save_messages() const override {
    return speaks_sse() ? std::vector<SavedMessage>() : http_.save_messages();
  }
  bool restore(SavedMessage&& message) override {
    return !speaks_sse() && http_.restore(std::move(message));
  }
  void session_over() override;
  void refresh_connections() override { http_.refresh_connections(); }
  void give_up_unsent(const Failure& failure) override { http_.give_up_unsent(failure); }
  void end(std::function<void()> done) override;
  AccessToken* token() override { return http_.token(); }
  std::vector<std::string> secrets() const override { return http_.secrets(); }

 private:
  enum class Mode {
    unknown,  ///< Streamable HTTP, unless its first answer suggests otherwise
    trying,   ///< that answer came; the event stream is being opened
    http,
    found_sse,  ///< by that attempt
    only_sse,   ///< configured
  };

  AnsweredRequests upstream_message(std::optional<UpstreamId> origin,
                                    ReceivedText message) override;
  void message_ended(UpstreamId id, Ending ending) override;
  void server_stream_changed(ServerStream state) override;
  void server_stream_refused(SessionVerdict verdict) override;
  void upstream_reachable() override { events_->upstream_reachable(); }
  void upstream_lost_session() override { events_->upstream_lost_session(); }

  void set_mode(Mode mode);
  // From the SseStream.
  friend class SseStream;
  /// The server has named the URL for messages, which is of its origin.
  void stream_opened(const std::string& endpoint);
  void stream_message(ReceivedText message);
  /// The stream could not be opened, or broke.
  void stream_ended(Failure failure);

  bool speaks_sse() const { return mode_ != Mode::unknown && mode_ != Mode::http; }
  bool asks_for_fallback(const Ending& ending) const;
  bool has_open_stream() const { return stream_ && stream_->is_open(); }
  void open_stream(Outgoing initialize);
  void close_stream();
  void opening_failed(Failure failure);
  void refuse(Outgoing message);
  void catch_up();

  EventLoop& loop_;
  Log& log_;
  HttpUpstream http_;
  Deferred soon_;                      ///< for reports that must not be made from within a call
  DeadlineTimer room_;                 ///< set when bytes were released that something waits for
  std::unique_ptr<SseStream> stream_;  ///< of this session; possibly refused
  Mode mode_ = Mode::unknown;
  std::optional<Outgoing> initialize_;  ///< waits for the stream
  std::optional<Ending> first_ending_;  ///< while trying: of the one sent by Streamable HTTP
  bool token_renewed_ = false;          ///< in this opening of the stream
  UndeliveredEndings undelivered_;
  bool session_forgotten_ = false;  ///< its requests are still under way
  bool session_opened_ = false;     ///< the server stream's state is to be reported
};

}  // namespace bridge
