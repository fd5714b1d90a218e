#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "clients/http/bearer_token.hpp"
#include "clients/http/face_session.hpp"
#include "clients/http/fan_out.hpp"
#include "clients/http/http_server.hpp"
#include "clients/http/lone_client.hpp"
#include "clients/http/posted_messages.hpp"
#include "clients/http/site_check.hpp"

namespace bridge {

/// What the face tells of the daemon, asked for when somebody asks.
struct FaceReports {
  std::function<std::string()> status;   ///< JSON
  std::function<std::string()> metrics;  ///< Prometheus exposition; may be empty: 501
  std::function<bool()> is_ready;
};

/// The same session as a remote MCP server (product section 10): Streamable HTTP on /mcp, HTTP+SSE
/// of 2024-11-05 on /sse, a fan-out of notifications, and what an operator looks at.
///
/// It turns requests into clients' lines and answers into responses; what a message is about is the
/// router's. Owned by the daemon; the loop's thread only. Bounds: --http-max-sessions,
/// --http-max-streams, and --http-max-sessions and --http-max-streams and 64 connections, or what
/// is left of the file descriptors.
class HttpFace final : public HttpRequests, public NotificationReaders {
 public:
  /// Takes the port; throws StartError (73, and 78 for its files). REQUIRES: options.address.
  HttpFace(asio::io_context& loop, Turn& turn, ClientIdSource& ids, NotificationFeed& feed,
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
  void request(HttpConnection& connection, RequestHead head, std::string body) override;

  void ring_grew() override;
  void acknowledge_read() override;

 private:
  struct Posting {
    std::unique_ptr<PostExchange> exchange;
    FaceSession* session;  ///< null: a lone client's
    LoneClient* client;
  };

  // Who may ask for what: face_routes.cpp.
  Admission admission(const RequestHead& head, bool has_body);
  std::optional<HttpResponse> fault_of(const RequestHead& head);
  std::optional<HttpResponse> check_post(const RequestHead& head);
  EventStream::Headers cors_headers(const RequestHead& head) const;
  HttpResponse preflight(const RequestHead& head) const;
  HttpResponse report(const RequestHead& head) const;

  // Sessions and their streams: face_streams.cpp.
  FaceSession* find_session(const std::string& name);
  FaceSession* add_session(FaceSession::Kind kind, const RequestHead& head);
  std::optional<HttpResponse> open_stream(HttpConnection& connection, const RequestHead& head);
  bool resume_exchange(HttpConnection& connection, FaceSession& session, EventId last,
                       const RequestHead& head);
  std::optional<HttpResponse> open_fan_out(HttpConnection& connection, const RequestHead& head);
  std::optional<HttpResponse> open_old_sse(HttpConnection& connection, const RequestHead& head);
  HttpResponse end_session(const RequestHead& head);
  std::size_t streams() const;

  // Messages: face_posts.cpp.
  std::optional<HttpResponse> post(HttpConnection& connection, const RequestHead& head,
                                   std::string body);
  HttpResponse post_old_sse(const RequestHead& head, std::string body);
  std::optional<HttpResponse> post_in_session(HttpConnection& connection, FaceSession& session,
                                              const RequestHead& head, PostedMessages posted,
                                              bool is_new);
  std::optional<HttpResponse> post_alone(HttpConnection& connection, const RequestHead& head,
                                         PostedMessages posted);
  PostExchange& add_exchange(HttpConnection& connection, FaceSession* session,
                             const RequestHead& head, PostedMessages& posted,
                             EventStream::Headers headers, std::string new_session = {});
  bool answers_later(const RequestHead& head, const PostedMessages& posted) const;

  void tidy();
  void look_around();
  void end_in_time(FaceSession& session, SessionEnd why);
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
  DeadlineTimer patrol_;
  bool budget_is_used_up_ = false;
  SteadyTime budget_used_up_at_{};
  std::unique_ptr<HttpServer> server_;  ///< its connections go after those who answer on them
  std::map<std::string, std::unique_ptr<FaceSession>, std::less<>> sessions_;
  std::map<ClientId, std::unique_ptr<LoneClient>> lone_clients_;
  std::map<std::uint64_t, Posting> postings_;  ///< in the order of their beginning
  std::uint64_t last_exchange_ = 0;
};

}  // namespace bridge
