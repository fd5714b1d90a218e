#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "downstream/http/access_check.hpp"
#include "downstream/http/fan_out.hpp"
#include "downstream/http/frontend_clients.hpp"
#include "downstream/http/posted_messages.hpp"
#include "downstream/http/routes.hpp"
#include "http/server/http_server.hpp"
#include "sockets/path_keeper.hpp"

namespace bridge {

/// The daemon's reports that the frontend serves.
struct FrontendReports {
  std::function<std::string(const ClientIdentity&)> status;  ///< JSON, as it may see it
  std::function<std::string()> metrics;  ///< Prometheus exposition; may be empty: 501
  std::function<bool()> is_ready;
};

/// The HTTP frontend: the same session as a remote MCP server (BEHAVIOUR, "HTTP frontend").
/// Streamable HTTP on /mcp, HTTP+SSE of 2024-11-05 on /sse, a fan-out of notifications, reports.
///
/// It turns requests into clients' messages and answers into responses; the router decides what a
/// message belongs to. Owned by the daemon; the loop's thread only. Bounds: --http-max-sessions and
/// --http-max-streams; connections: the sum of both and 64 more, or what the other parts leave of
/// the file descriptors.
class HttpFrontend final : public HttpRequests, public NotificationReaders {
 public:
  /// Binds the port; throws StartError (73, and 78 for its files). `socket`: the one of
  /// options.socket. REQUIRES: options.is_on().
  /// `flush` is scheduled when flush() is to be called.
  HttpFrontend(EventLoop& loop, Deferred& flush, ClientIdSource& ids, NotificationFeed& feed,
               ByteBudget& budget, ClientEvents& events, Log& log, FrontendOptions options,
               FrontendReports reports, std::optional<ListeningSocket> socket = std::nullopt);
  ~HttpFrontend();

  void start();
  /// The listening descriptor, for the next process.
  int listener() const { return server_->listener(); }
  /// The Unix socket, for the next process, too.
  ListeningSocket::Saved save_socket() const;
  /// SIGHUP: reads the certificate again; a faulty one is ignored.
  void reload();
  /// Which of the ring's entries the subscribers of /mcp/stream see; null: all.
  void show_only(std::shared_ptr<const RingFilter> filter) {
    fan_out_.show_only(std::move(filter));
  }
  void stop_accepting();
  /// Writes all that is ready.
  void flush();
  /// Sends a last comment on every stream, and closes all connections.
  void close_all();

  // For an upgrade.
  /// Answers each waiting caller that accepts a stream by one, which can be resumed.
  void pause();
  /// Like close_all(), but what can be resumed is kept, without its callers.
  void close_for_upgrade();
  struct Saved {
    std::uint64_t last_post = 0;
    FanOut::Saved fan_out;
    std::vector<DownstreamSession::Saved> sessions;

    template <class A>
    void each_field(A& archive) {
      archive(last_post, fan_out, sessions);
    }
  };
  Saved save() const;
  /// Returns the sessions, as the clients that the router knew.
  std::vector<ClientChannel*> restore(Saved saved);

  const ClientCounts& counts() const { return context_.counts; }
  /// The subscribers of /mcp/stream, which --http-fanout makes onlookers.
  RequestOnlookers& onlookers() { return fan_out_; }
  /// `http://127.0.0.1:8080/mcp`, with the bound address, and `http+unix://%2Frun%2Fx.sock/mcp`.
  std::vector<std::string> urls() const;
  /// The table of what it serves.
  static const Routes& routes();

  bool admits(const PeerCredentials& peer) override;
  Admission request_begins(const HttpConnection& connection, const RequestHead& head,
                           bool has_body) override;
  HttpResponse refusal(int status, std::string_view reason) const override;
  void request(HttpConnection& connection, RequestHead head, ReceivedText body) override;

  void ring_grew() override;
  void acknowledge_read() override;

 private:
  std::unique_ptr<HttpServer> make_server(Deferred& flush);

  // Answered without a message: http_frontend_routes.cpp.
  std::optional<HttpResponse> health(FrontendRequest& request);
  std::optional<HttpResponse> readiness(FrontendRequest& request);
  std::optional<HttpResponse> status(FrontendRequest& request);
  std::optional<HttpResponse> metrics(FrontendRequest& request);
  std::optional<HttpResponse> open_api(FrontendRequest& request);
  void add_cors_headers(HttpResponse& response, const RequestHead& head) const;

  // Streams.
  std::optional<HttpResponse> open_stream(FrontendRequest& request);
  std::optional<HttpResponse> open_fan_out(FrontendRequest& request);
  std::optional<HttpResponse> open_old_sse(FrontendRequest& request);
  std::optional<HttpResponse> end_session(FrontendRequest& request);
  bool resume_post(FrontendRequest& request, DownstreamSession& session, EventId last);
  std::optional<HttpResponse> stream_refusal(const RequestHead& head) const;
  /// Whether its client supports events without data (MCP 2025-11-25, "Sending Messages").
  static bool primes_streams(const RequestHead& head) {
    return head.header("mcp-protocol-version") >= "2025-11-25";
  }

  // Messages: http_frontend_routes.cpp.
  std::optional<HttpResponse> post_messages(FrontendRequest& request);
  std::optional<HttpResponse> post_old_sse(FrontendRequest& request);
  std::optional<HttpResponse> post_in_session(FrontendRequest& request, DownstreamSession& session,
                                              PostedMessages posted, bool is_new);
  std::optional<HttpResponse> post_alone(FrontendRequest& request, PostedMessages posted,
                                         Post::Asked asked, LonePost::Leaving leaving);
  std::optional<HttpResponse> post_modern(FrontendRequest& request, PostedMessages posted);
  bool has_no_room() const;
  Post::Asked asked_of(FrontendRequest& request, PostedMessages& posted) const;
  bool answers_later(const RequestHead& head, const PostedMessages& posted) const;
  void deliver(ClientId client, PostedMessages& posted, std::optional<HttpResponse>& response);

  FrontendContext context_;
  FanOut fan_out_;
  FrontendReports reports_;
  AccessCheck access_;
  std::string url_;  ///< of the port; empty: none
  std::optional<ListeningSocket> socket_;
  std::optional<PathKeeper> keeper_;    ///< of the socket
  std::unique_ptr<HttpServer> server_;  ///< its connections are destroyed after their responders
  FrontendClients clients_;
};

}  // namespace bridge
