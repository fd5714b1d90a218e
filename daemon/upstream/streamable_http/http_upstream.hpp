#pragma once

#include <functional>
#include <memory>

#include "auth/auth_options.hpp"
#include "http/client/http_transfer.hpp"
#include "upstream/streamable_http/exchange_table.hpp"
#include "upstream/streamable_http/get_stream.hpp"
#include "upstream/streamable_http/http_context.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// The DELETE that ends the session (MCP 2025-11-25, "Session Management"). Its result is ignored;
/// it takes at most 2 s. The loop's thread only; `context` outlives it.
class SessionDelete final : private TransferReceiver {
 public:
  /// Starts at once; `done` is called once, from the loop, unless this is destroyed before.
  SessionDelete(HttpContext& context, std::function<void()> done);
  SessionDelete(const SessionDelete&) = delete;
  SessionDelete& operator=(const SessionDelete&) = delete;

 private:
  void begin();
  bool body_received(std::string_view) override { return true; }
  void transfer_progressed(bool done, int result) override;

  HttpContext& context_;
  std::function<void()> done_;
  SteadyTime deadline_;
  HttpTransfer transfer_;
};

/// The upstream over Streamable HTTP (MCP 2025-11-25, "Transports"; BEHAVIOUR, "Streamable HTTP"):
/// a POST for each message, and a GET for the server's own messages.
///
/// The loop's thread only; owned by the daemon, or by the SseUpstream. Memory: an Exchange per
/// message under way, and UnsentMessages. Timeouts are those of HttpOptions, in milliseconds,
/// enforced by ExchangeTable, UpstreamGetStream and the token's source. Every result of a message
/// is a value, an Ending.
class HttpUpstream final : public Upstream {
 public:
  HttpUpstream(EventLoop& loop, HttpOptions options, const AuthOptions& auth, ByteBudget& budget,
               Log& log);
  ~HttpUpstream() override;

  void reconfigure(const UpstreamOptions& options) override;
  void send(Outgoing&& message) override;
  void abandon(UpstreamId id) override;
  std::optional<Outgoing> take_back(UpstreamId id) override;
  void treat(UpstreamId id, Treatment how) override;
  ReportedEvents reported_events(UpstreamId id) const override;
  bool session_opened(const OpenedSession& session) override;
  std::optional<SessionReference> session_reference() const override;
  bool names_session() const override;
  bool survives_upgrade(std::optional<UpstreamId> id) const override;
  std::vector<SavedMessage> save_messages() const override;
  bool restore(SavedMessage&& message) override;
  void session_over() override;
  void refresh_connections() override;
  void give_up_unsent(const Failure& failure) override;
  void end(std::function<void()> done) override;
  AccessToken* token() override { return &token_; }
  std::vector<std::string> secrets() const override;

  // For HTTP+SSE, which sends messages through this.
  HttpContext& context() { return context_; }
  /// These requests were answered on some stream; their own streams may end later.
  void settle(const AnsweredRequests& answered);
  /// Ends all messages of a lost session; those that may be repeated are given back. Not from
  /// within a call of one of its events.
  void end_all(const Failure& failure);
  /// The answer came on the server's own stream, but was over --max-frame. Not from within a call
  /// of one of its events.
  void end_oversized(UpstreamId id);

  // From its parts: from the loop, outside of curl, never from within a call of them.
  /// Messages arrived (AnswerReader::next_message()), or it ended (ExchangeState::has_ended()).
  void exchange_progressed(UpstreamId id);
  /// Messages arrived, the state changed, or an attempt was refused.
  void stream_progressed();

 private:
  void look_for_room();
  void exchange_ended(Exchange& exchange);
  void token_arrived(const std::optional<Failure>& failure);
  bool try_another_token(Exchange& exchange, Ending& ending);
  void end_session();
  void begin_unsent();
  void drop_overdue();
  /// Whether the next process resumes the server stream after its last event.
  bool stream_resumes() const;
  void begin_unsent_with_token();
  void report_soon();
  void remove(UpstreamId id);
  void learn_from(const Exchange& exchange);
  void report_stream();
  void set_stream_state(ServerStream state);

  CurlLoop curl_;
  AccessToken token_;
  HttpContext context_;
  DeadlineTimer room_;  ///< set when bytes were released that something waits for
  UnsentMessages unsent_;
  ExchangeTable exchanges_;
  UpstreamGetStream stream_;
  UndeliveredEndings undelivered_;
  Deferred soon_;  ///< for reports that must not be made from within a call
  std::unique_ptr<SessionDelete> session_delete_;
  std::optional<std::string> resumed_after_;  ///< by a server stream that waits for the token
  bool is_in_session_ = false;                ///< with a reference to it
  bool unreachable_ = false;                  ///< the last message found no connection
};

}  // namespace bridge
