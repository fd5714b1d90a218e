#include "downstream/http/http_frontend.hpp"

#include <algorithm>
#include <utility>

#include "base/start_error.hpp"
#include "downstream/http/posted_messages.hpp"
#include "http/request.hpp"
#include "http/sse_parser.hpp"
#include "json/reply.hpp"
#include "text/characters.hpp"

namespace bridge {

namespace {

constexpr std::string_view last_words = "the bridge is shutting down";
constexpr std::string_view words_at_upgrade = "the bridge is being upgraded";

/// Null: without TLS.
std::unique_ptr<TlsServer> tls_of(const FrontendOptions& frontend) {
  if (frontend.certificate.empty()) return nullptr;
  return std::make_unique<TlsServer>(frontend.certificate, frontend.private_key);
}

}  // namespace

HttpFrontend::HttpFrontend(EventLoop& loop, Deferred& flush, ClientIdSource& ids,
                           NotificationFeed& feed, ByteBudget& budget, ClientEvents& events,
                           Log& log, FrontendOptions options, FrontendReports reports,
                           std::optional<ListeningSocket> socket)
    : context_{loop, ids, feed, budget, events, log, std::move(options)},
      fan_out_(context_),
      reports_(std::move(reports)),
      access_(routes(), context_.options),
      socket_(std::move(socket)),
      server_(make_server(flush)),
      clients_(context_, *server_) {
  context_.fan_out = &fan_out_;
  context_.clients = &clients_;
  if (!socket_) return;
  // An abstract socket has no file permissions.
  context_.options.peers.own_user_only = socket_->is_abstract();
  keeper_.emplace(loop, log, *socket_,
                  [this] { server_->start_local(socket_->take_descriptor()); });
}

std::unique_ptr<HttpServer> HttpFrontend::make_server(Deferred& flush) {
  const FrontendOptions& frontend = context_.options;
  auto tls = tls_of(frontend);
  ListeningPort port = frontend.inherited_listener
                           ? ListeningPort::kept(*frontend.inherited_listener)
                       : frontend.address ? ListeningPort::open(*frontend.address)
                                          : ListeningPort::none();
  if (port.descriptor >= 0) url_ = (tls ? "https://" : "http://") + port.authority;
  return std::make_unique<HttpServer>(
      HttpConnectionContext{context_.loop, context_.budget, context_.counts, *this, flush,
                            frontend.max_frame, frontend.stall},
      std::move(port), std::move(tls),
      std::min(frontend.wanted_connections(), frontend.max_connections), context_.log);
}

HttpFrontend::~HttpFrontend() = default;

void HttpFrontend::start() {
  server_->start();
  if (socket_) {
    server_->start_local(socket_->take_descriptor());
    keeper_->start();
  }
  for (const std::string& url : urls())
    context_.log.event(LogLevel::info, "http frontend", "HTTP frontend on {}", url);
  if (url_.empty()) return;
  // The line of earlier versions, for scripts that read the port from it; bridge/status has it.
  context_.log.event(LogLevel::info, "http frontend", "HTTP face on {}/mcp", url_);
}

std::vector<std::string> HttpFrontend::urls() const {
  std::vector<std::string> all;
  if (!url_.empty()) all.push_back(url_ + "/mcp");
  if (socket_) all.push_back("http+unix://" + percent_encoded(socket_->name()) + "/mcp");
  return all;
}

ListeningSocket::Saved HttpFrontend::save_socket() const {
  return socket_ ? socket_->save(server_->local_listener()) : ListeningSocket::Saved{};
}

void HttpFrontend::reload() {
  const FrontendOptions& frontend = context_.options;
  if (frontend.certificate.empty()) return;
  try {
    server_->set_tls(tls_of(frontend));
  } catch (const StartError& error) {
    context_.log.event(LogLevel::error, "reload", "SIGHUP: the certificate stays as it was: {}",
                       error.what());
  }
}

void HttpFrontend::stop_accepting() {
  if (keeper_) keeper_->stop();
  server_->stop_accepting();
}

void HttpFrontend::flush() {
  clients_.note_budget();
  server_->flush();
}

void HttpFrontend::ring_grew() {
  fan_out_.ring_grew();
  clients_.ring_grew();
}

void HttpFrontend::acknowledge_read() { clients_.acknowledge_read(); }

void HttpFrontend::close_all() {
  fan_out_.close_all(last_words);
  clients_.close_all(last_words);
  server_->close_all();
}

// The streams that callers open.

namespace {

/// MCP 2026-07-28, Streamable HTTP, "Earlier Streamable HTTP Revisions".
HttpResponse not_of_this_revision() {
  HttpResponse response =
      error_response(405, json_rpc::bridge_error,
                     "Method Not Allowed: MCP 2026-07-28 has no sessions; POST alone is answered");
  response.headers.emplace_back("Allow", "POST, OPTIONS");
  return response;
}

/// The stream of a POST has ended, and its client has all of it. Clients that resume it (the SDKs
/// do after a cancellation) take 405 as "no stream"; after an empty stream, 404 or 409 they go on.
HttpResponse stream_is_over() {
  HttpResponse response = error_response(405, json_rpc::bridge_error,
                                         "Method Not Allowed: this stream has ended, and there is "
                                         "nothing after this Last-Event-ID");
  response.headers.emplace_back("Allow", "POST, DELETE, OPTIONS");
  return response;
}

}  // namespace

/// Why no further stream is opened for this caller; nullopt if one may be.
std::optional<HttpResponse> HttpFrontend::stream_refusal(const RequestHead& head) const {
  if (!accepts_stream(head.header("accept"))) return no_stream_wanted();
  if (fan_out_.size() + clients_.open_streams() < context_.options.max_streams) return std::nullopt;
  return full_response("too many streams are open (--http-max-streams)");
}

std::optional<HttpResponse> HttpFrontend::open_stream(FrontendRequest& request) {
  const RequestHead& head = request.head;
  if (names_modern_version(head)) return not_of_this_revision();
  if (!accepts_stream(head.header("accept"))) return no_stream_wanted();
  const std::string name = head.header("mcp-session-id");
  if (name.empty())
    return error_response(400, json_rpc::bridge_error, "Bad Request: Mcp-Session-Id is needed");
  DownstreamSession* session =
      clients_.find_session(request.caller, name, DownstreamSession::Kind::streamable);
  if (session == nullptr) return session_not_found();
  auto last = parse_event_id(head.header("last-event-id"));
  if (last && last->stream != SessionStream::number) {
    if (resume_post(request, *session, *last)) return std::nullopt;
    if (session->store().has_given_out(*last)) return stream_is_over();
    last.reset();  // of an unknown stream
  }
  // A reader that resumes has lost its connection, even if that still looks open on this side: it
  // takes over.
  if (session->stream().is_open() && !last)
    return error_response(409, json_rpc::bridge_error,
                          "Conflict: this session has a stream already");
  if (!session->stream().is_open()) {
    if (auto refusal = stream_refusal(head)) return refusal;
  }
  session->stream().open(request.connection, access_.cors_headers(head), last,
                         primes_streams(head));
  return std::nullopt;
}

/// Resumes the stream of a POST on this connection, or sends the rest of it; false if nothing is
/// left of it.
bool HttpFrontend::resume_post(FrontendRequest& request, DownstreamSession& session, EventId last) {
  HttpResponse::Headers headers = access_.cors_headers(request.head);
  if (SessionPost* post = session.post_of_stream(last.stream)) {
    post->resume(request.connection, std::move(headers), last);
    session.can_be_asked_now();
    return true;
  }
  if (!session.store().has_after(last)) return false;
  EventStream stream(context_, request.connection, std::move(headers));
  stream.replay(session.store(), last);
  stream.end();
  return true;
}

std::optional<HttpResponse> HttpFrontend::open_fan_out(FrontendRequest& request) {
  const RequestHead& head = request.head;
  if (request.caller.grant) {
    return error_response(
        403, json_rpc::bridge_error,
        "Forbidden: this stream has everybody's messages; open a session's stream");
  }
  if (request.connection.local_peer() != nullptr && context_.events.has_policy()) {
    return error_response(403, json_rpc::bridge_error,
                          "Forbidden: with a policy this stream is for callers of the port; open a "
                          "session's stream");
  }
  if (auto refusal = stream_refusal(head)) return refusal;
  fan_out_.subscribe(request.connection, access_.cors_headers(head), head.header("last-event-id"));
  return std::nullopt;
}

std::optional<HttpResponse> HttpFrontend::open_old_sse(FrontendRequest& request) {
  const RequestHead& head = request.head;
  if (auto refusal = stream_refusal(head)) return refusal;
  DownstreamSession* session =
      clients_.add_session(DownstreamSession::Kind::old_sse, request.caller, user_agent(head));
  if (session == nullptr) return full_response("too many sessions (--http-max-sessions)");
  session->stream().open(request.connection, access_.cors_headers(head), std::nullopt, false,
                         sse_event({}, "endpoint", "/message?sessionId=" + session->name()));
  return std::nullopt;
}

std::optional<HttpResponse> HttpFrontend::end_session(FrontendRequest& request) {
  if (names_modern_version(request.head)) return not_of_this_revision();
  const std::string name = request.head.header("mcp-session-id");
  if (name.empty())
    return error_response(400, json_rpc::bridge_error, "Bad Request: Mcp-Session-Id is needed");
  DownstreamSession* session = clients_.find_session(request.caller, name);
  if (session == nullptr) return session_not_found();
  session->end();
  return HttpResponse{204, {}, {}, {}};
}

/// A caller that accepts a stream can come back for the rest of it.
void HttpFrontend::pause() {
  for (auto& [name, session] : clients_.sessions()) {
    for (const auto& post : session->posts()) {
      if (!post->survives_upgrade()) post->become_stream();
    }
  }
}

void HttpFrontend::close_for_upgrade() {
  pause();
  fan_out_.close_all(words_at_upgrade);
  const std::vector<const SessionPost*> left = clients_.close_for_upgrade(words_at_upgrade);
  server_->close_others([&left](const HttpConnection& connection) {
    return std::any_of(left.begin(), left.end(), [&connection](const SessionPost* post) {
      return post->moves_with(connection);
    });
  });
}

HttpFrontend::Saved HttpFrontend::save() const {
  Saved saved{context_.last_post, fan_out_.save(), {}};
  for (const auto& [name, session] : clients_.sessions()) {
    if (session->survives_upgrade({})) saved.sessions.push_back(session->save());
  }
  return saved;
}

std::vector<ClientChannel*> HttpFrontend::restore(Saved saved) {
  context_.last_post = saved.last_post;
  fan_out_.restore(std::move(saved.fan_out));
  std::vector<ClientChannel*> clients;
  for (DownstreamSession::Saved& one : saved.sessions)
    clients.push_back(&clients_.restore_session(std::move(one)));
  return clients;
}

}  // namespace bridge
