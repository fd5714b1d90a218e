// Sessions of the face, and the streams that callers open.
#include <algorithm>

#include "downstream/http/error_response.hpp"
#include "downstream/http/http_face.hpp"
#include "downstream/http/session_name.hpp"
#include "http/accept.hpp"
#include "http/sse_event.hpp"
#include "jsonrpc/error_codes.hpp"

namespace bridge {
namespace {

HttpResponse session_not_found() {
  return error_response(404, json_rpc::http_error, "Session not found");
}

HttpResponse full(std::string_view what) {
  HttpResponse response = error_response(503, json_rpc::bridge_error, what);
  response.headers.emplace_back("Retry-After", "5");
  return response;
}

HttpResponse no_stream_wanted() {
  return error_response(406, json_rpc::bridge_error,
                        "Not Acceptable: Accept must allow text/event-stream");
}

}  // namespace

DownstreamSession* HttpFace::find_session(const std::string& name) {
  const auto found = sessions_.find(name);
  if (found == sessions_.end() || found->second->is_over()) return nullptr;
  found->second->used();
  return found->second.get();
}

/// Null if there are too many.
DownstreamSession* HttpFace::add_session(DownstreamSession::Kind kind, const RequestHead& head) {
  const std::size_t living = sessions_.size() - context_.over_sessions.size();
  if (living >= context_.options.max_sessions && !end_longest_unused()) return nullptr;
  auto session = std::make_unique<DownstreamSession>(context_, kind, make_session_name(),
                                                     printable(head.header("user-agent"), 80));
  DownstreamSession& added = *session;
  sessions_.emplace(added.name(), std::move(session));
  context_.look_by(context_.loop.now() + context_.options.session_idle);
  added.start();
  return &added;
}

std::size_t HttpFace::streams() const {
  return fan_out_.size() + static_cast<std::size_t>(std::count_if(
                               sessions_.begin(), sessions_.end(),
                               [](const auto& entry) { return entry.second->stream().is_open(); }));
}

std::optional<HttpResponse> HttpFace::open_stream(HttpConnection& connection,
                                                  const RequestHead& head) {
  if (!accepts_stream(head.header("accept"))) return no_stream_wanted();
  const std::string name = head.header("mcp-session-id");
  if (name.empty())
    return error_response(400, json_rpc::bridge_error, "Bad Request: Mcp-Session-Id is needed");
  DownstreamSession* session = find_session(name);
  if (session == nullptr || session->kind() != DownstreamSession::Kind::streamable)
    return session_not_found();
  auto last = parse_event_id(head.header("last-event-id"));
  if (last && last->stream != SessionStream::number) {
    if (resume_exchange(connection, *session, *last, head)) return std::nullopt;
    last.reset();  // of a stream that nobody knows any more
  }
  // One that comes back has lost the connection, whatever it looks like from here.
  if (session->stream().is_open() && !last)
    return error_response(409, json_rpc::bridge_error,
                          "Conflict: this session has a stream already");
  if (!session->stream().is_open() && streams() >= context_.options.max_streams) {
    return full("too many streams are open (--http-max-streams)");
  }
  const bool primes = head.header("mcp-protocol-version") >= "2025-11-25";
  session->stream().open(connection, cors_headers(head), last, primes);
  session->opened();
  return std::nullopt;
}

/// The stream of a POST goes on here, or is told to its end.
bool HttpFace::resume_exchange(HttpConnection& connection, DownstreamSession& session, EventId last,
                               const RequestHead& head) {
  if (PendingPost* exchange = session.exchange_of_stream(last.stream)) {
    exchange->resume(connection, cors_headers(head), last);
    session.can_be_asked_now();
    return true;
  }
  if (!session.store().knows(last)) return false;
  EventStream stream(context_, connection, cors_headers(head));
  session.store().each_after(last, [&stream](const EventStore::Event& event) {
    stream.send(sse_event(to_text(event.id), {}, event.message));
  });
  stream.end();
  return true;
}

std::optional<HttpResponse> HttpFace::open_fan_out(HttpConnection& connection,
                                                   const RequestHead& head) {
  if (!accepts_stream(head.header("accept"))) return no_stream_wanted();
  if (streams() >= context_.options.max_streams)
    return full("too many streams are open (--http-max-streams)");
  fan_out_.subscribe(connection, cors_headers(head), head.header("last-event-id"));
  return std::nullopt;
}

std::optional<HttpResponse> HttpFace::open_old_sse(HttpConnection& connection,
                                                   const RequestHead& head) {
  if (!accepts_stream(head.header("accept"))) return no_stream_wanted();
  if (streams() >= context_.options.max_streams)
    return full("too many streams are open (--http-max-streams)");
  DownstreamSession* session = add_session(DownstreamSession::Kind::old_sse, head);
  if (session == nullptr) return full("too many sessions (--http-max-sessions)");
  session->stream().open(connection, cors_headers(head), std::nullopt, false,
                         sse_event({}, "endpoint", "/message?sessionId=" + session->name()));
  session->opened();
  return std::nullopt;
}

HttpResponse HttpFace::end_session(const RequestHead& head) {
  const std::string name = head.header("mcp-session-id");
  if (name.empty())
    return error_response(400, json_rpc::bridge_error, "Bad Request: Mcp-Session-Id is needed");
  DownstreamSession* session = find_session(name);
  if (session == nullptr) return session_not_found();
  session->end();
  return {204, {}, {}, {}};
}

}  // namespace bridge
