#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "downstream/http/bearer_token.hpp"
#include "downstream/http/downstream_session.hpp"
#include "downstream/http/fan_out.hpp"
#include "downstream/http/posted_messages.hpp"
#include "downstream/http/sessionless_client.hpp"
#include "http/server/http_server.hpp"
#include "http/site_check.hpp"

namespace bridge {

/// What the face tells of the daemon, asked for when somebody asks.
struct FaceReports {
  std::function<std::string()> status;   ///< JSON
  std::function<std::string()> metrics;  ///< Prometheus exposition; may be empty: 501
  std::function<bool()> is_ready;
};

/// The same session as a remote MCP server (BEHAVIOUR, "HTTP face"): Streamable HTTP on /mcp,
/// HTTP+SSE of 2024-11-05 on /sse, a fan-out of notifications, and what an operator looks at.
///
/// It turns requests into clients' lines and answers into responses; what a message is about is the
/// router's. Owned by the daemon; the loop's thread only. Bounds: --http-max-sessions,
/// --http-max-streams, and --http-max-sessions and --http-max-streams and 64 connections, or what
/// is left of the file descriptors.
class HttpFace final : public HttpRequests, public NotificationReaders {
 public:
  /// Takes the port; throws StartError (73, and 78 for its files). REQUIRES: options.address.
  /// `flush` is scheduled for flush() to be called.
  HttpFace(EventLoop& loop, Deferred& flush, ClientIdSource& ids, NotificationFeed& feed,
           ByteBudget& budget, ClientEvents& events, Log& log, FaceOptions options,
           FaceReports reports);
  ~HttpFace();

  void start();
  /// SIGHUP: takes the certificate anew, if it is well.
  void reload();
  void stop_accepting();
  /// Writes what is ready, and drops what is over.
  void flush();
  /// A last comment on every stream, and the end of all connections.
  void close_all();
  const ClientCounts& counts() const { return context_.counts; }
  /// The subscribers of /mcp/stream, of whom --http-fanout makes onlookers.
  RequestOnlookers& onlookers() { return fan_out_; }
  /// `http://127.0.0.1:8080`, as it is bound.
  const std::string& url() const { return url_; }

  Admission request_begins(const RequestHead& head, bool has_body) override;
  HttpResponse refusal(int status, std::string_view reason) const override;
  HttpResponse refusal_while_overloaded() const override;
  void request(HttpConnection& connection, RequestHead head, std::string body) override;

  void ring_grew() override;
  void acknowledge_read() override;

 private:
  struct Posting {
    std::unique_ptr<PendingPost> exchange;
    DownstreamSession* session;  ///< null: a lone client's
    SessionlessClient* client;
  };

  // Who may ask for what: face_routes.cpp.
  Admission admission(const RequestHead& head, bool has_body);
  std::optional<HttpResponse> fault_of(const RequestHead& head);
  std::optional<HttpResponse> check_post(const RequestHead& head);
  EventStream::Headers cors_headers(const RequestHead& head) const;
  HttpResponse preflight(const RequestHead& head) const;
  HttpResponse report(const RequestHead& head) const;

  // Sessions and their streams: face_streams.cpp.
  DownstreamSession* find_session(const std::string& name);
  DownstreamSession* add_session(DownstreamSession::Kind kind, const RequestHead& head);
  std::optional<HttpResponse> open_stream(HttpConnection& connection, const RequestHead& head);
  bool resume_exchange(HttpConnection& connection, DownstreamSession& session, EventId last,
                       const RequestHead& head);
  std::optional<HttpResponse> open_fan_out(HttpConnection& connection, const RequestHead& head);
  std::optional<HttpResponse> open_old_sse(HttpConnection& connection, const RequestHead& head);
  HttpResponse end_session(const RequestHead& head);
  std::size_t streams() const;

  // Messages: face_posts.cpp.
  std::optional<HttpResponse> post(HttpConnection& connection, const RequestHead& head,
                                   std::string body);
  HttpResponse post_old_sse(const RequestHead& head, std::string body);
  std::optional<HttpResponse> post_in_session(HttpConnection& connection,
                                              DownstreamSession& session, const RequestHead& head,
                                              PostedMessages posted, bool is_new);
  std::optional<HttpResponse> post_alone(HttpConnection& connection, const RequestHead& head,
                                         PostedMessages posted);
  PendingPost& add_exchange(HttpConnection& connection, DownstreamSession* session,
                            const RequestHead& head, PostedMessages& posted,
                            EventStream::Headers headers, std::string new_session = {});
  bool answers_later(const RequestHead& head, const PostedMessages& posted) const;

  void reap();
  void sweep();
  void end_in_time(DownstreamSession& session, SessionEnd why);
  void cancel(const Posting& posting, const std::vector<std::string>& raw_ids);
  void relieve_budget();
  std::optional<SteadyTime> make_room(SteadyTime now);
  bool end_longest_unused();

  FaceContext context_;
  FanOut fan_out_;
  FaceReports reports_;
  BearerToken token_;
  SiteCheck sites_;
  std::string url_;
  DeadlineTimer sweep_timer_;
  bool budget_is_used_up_ = false;
  SteadyTime budget_used_up_at_{};
  std::unique_ptr<HttpServer> server_;  ///< its connections go after those who answer on them
  std::map<std::string, std::unique_ptr<DownstreamSession>, std::less<>> sessions_;
  std::map<ClientId, std::unique_ptr<SessionlessClient>> sessionless_clients_;
  std::map<std::uint64_t, Posting> postings_;  ///< in the order of their beginning
  std::uint64_t last_exchange_ = 0;
};

}  // namespace bridge
