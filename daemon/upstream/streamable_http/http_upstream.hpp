#pragma once

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "auth/auth_options.hpp"
#include "upstream/streamable_http/delivery_queue.hpp"
#include "upstream/streamable_http/exchange.hpp"
#include "upstream/streamable_http/get_stream.hpp"
#include "upstream/streamable_http/session_delete.hpp"

namespace bridge {

/// The upstream over Streamable HTTP (MCP 2025-11-25, "Transports"): a POST for each message, and a
/// GET for what the server says by itself.
class HttpUpstream final : public Upstream, private ExchangeOwner, private GetStreamOwner {
 public:
  HttpUpstream(EventLoop& loop, HttpOptions options, const AuthOptions& auth, ByteBudget& budget,
               Log& log);
  ~HttpUpstream() override;

  void set_events(UpstreamEvents& events) override { events_ = &events; }
  void reconfigure(const UpstreamOptions& options) override;
  void send(Outgoing message) override;
  void abandon(UpstreamId id) override;
  void pause(UpstreamId id, bool paused) override;
  void session_opened(const std::string& protocol_version) override;
  void session_over() override;
  void refresh_connections() override;
  void give_up_unsent(const Failure& failure) override;
  void end(std::function<void()> done) override;
  std::string_view kind() const override { return "http"; }
  std::string_view target() const override { return context_.options().target; }
  UpstreamCounts counts() const override { return context_.counts(); }

  // For HTTP+SSE, which sends its messages through this.
  HttpContext& context() { return context_; }
  /// These have been answered, on whatever stream: theirs may end in their own time.
  void settle(const AnsweredRequests& answered);
  /// Ends all messages of a session that is lost; those that may be repeated are given back. Not
  /// from within a call of one of its events.
  void end_all(const Failure& failure);
  /// The answer to it has come on a stream of the server's own, but was over --max-frame. Not from
  /// within a call of one of its events.
  void end_oversized(UpstreamId id);
  /// `ready` is called, at once or from the loop, when there is a token or it is known why there is
  /// none. Not called after destruction.
  void with_token(std::function<void(const std::optional<Failure>&)> ready);
  /// Whether it is worth asking again with another token: this one may be out of use already.
  bool token_was_refused(int generation, const TokenChallenge& challenge);

 private:
  void exchange_progressed(UpstreamId id) override;
  bool exchange_unauthorized(const Exchange& exchange) override;
  void stream_progressed() override;
  void stream_lost_session() override;
  void stream_unauthorized(int status, const std::string& challenge, int token_generation) override;
  bool has_token();
  void fetch_token();
  void token_arrived(const TokenAnswer& answer);
  bool try_another_token(Exchange& exchange, Ending& ending);
  void begin_exchange(Outgoing message);
  void start_deliveries();
  void give_back(Outgoing message, Failure failure);
  void refuse(UpstreamId id);
  void report_soon();
  Exchange* find(UpstreamId id);
  void remove(UpstreamId id);
  void learn_from(const Exchange& exchange);
  void check_time();
  void watch_time(const Exchange& exchange);
  void drop_largest_answer();
  void end_largest_answer();
  void report_stream();
  void set_stream_state(ServerStream state);

  CurlLoop curl_;
  HttpContext context_;
  std::unique_ptr<TokenSource> tokens_;
  std::deque<Outgoing> awaiting_token_;  ///< requests; the others wait in deliveries_
  std::vector<std::function<void(const std::optional<Failure>&)>> others_awaiting_token_;
  bool fetching_token_ = false;
  UpstreamEvents* events_ = nullptr;
  std::unordered_map<UpstreamId, std::unique_ptr<Exchange>> exchanges_;
  DeliveryQueue deliveries_;
  std::vector<UpstreamId> refused_;  ///< had no room there; to be reported
  std::optional<Failure> given_up_;  ///< what waits for a token ends with it
  UpstreamGetStream stream_;
  ServerStream reported_ = ServerStream::off;
  DeadlineTimer clock_;        ///< of requests: far away, and seldom moved
  DeadlineTimer short_clock_;  ///< of what ends soon; cleared when nothing is under way
  Deferred soon_;              ///< for what must not be reported from within a call of ours
  DeadlineTimer relief_;       ///< when the buffers have been full for too long
  std::unique_ptr<SessionDelete> session_delete_;
  bool unreachable_ = false;
};

}  // namespace bridge
