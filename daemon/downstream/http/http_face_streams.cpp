// Sessions of the face, and the streams that callers open.
#include <algorithm>

#include "downstream/http/error_response.hpp"
#include "downstream/http/http_face.hpp"
#include "downstream/http/modern_rules.hpp"
#include "downstream/http/session_name.hpp"
#include "http/accept.hpp"
#include "http/sse_event.hpp"
#include "jsonrpc/error_codes.hpp"

namespace bridge {
namespace {

/// MCP 2026-07-28, Streamable HTTP, "Earlier Streamable HTTP Revisions".
HttpResponse not_of_this_revision() {
  HttpResponse response =
      error_response(405, json_rpc::bridge_error,
                     "Method Not Allowed: MCP 2026-07-28 has no sessions; POST alone is answered");
  response.headers.emplace_back("Allow", "POST, OPTIONS");
  return response;
}

}  // namespace
DownstreamSession* HttpFace::find_session(const std::string& name,
                                          std::optional<DownstreamSession::Kind> kind) {
  const auto found = sessions_.find(name);
  if (found == sessions_.end() || found->second->is_over()) return nullptr;
  if (kind && found->second->kind() != *kind) return nullptr;
  found->second->used();
  return found->second.get();
}

/// Null if there are too many.
DownstreamSession* HttpFace::add_session(DownstreamSession::Kind kind, const RequestHead& head) {
  const auto living = std::count_if(sessions_.begin(), sessions_.end(),
                                    [](const auto& entry) { return !entry.second->is_over(); });
  if (static_cast<std::size_t>(living) >= context_.options.max_sessions && !end_longest_unused())
    return nullptr;
  auto session = std::make_unique<DownstreamSession>(context_, kind, make_session_name(),
                                                     printable(head.header("user-agent"), 80));
  DownstreamSession& added = *session;
  sessions_.emplace(added.name(), std::move(session));
  context_.sweep_by(context_.loop.now() + context_.options.session_idle);
  added.start();
  return &added;
}

std::size_t HttpFace::streams() const {
  const auto of_sessions = std::count_if(sessions_.begin(), sessions_.end(), [](const auto& entry) {
    return entry.second->stream().is_open();
  });
  const auto listens = std::count_if(modern_posts_.begin(), modern_posts_.end(),
                                     [](const auto& entry) { return entry.second->listens(); });
  return fan_out_.size() + static_cast<std::size_t>(of_sessions + listens);
}

std::optional<HttpResponse> HttpFace::open_stream(FaceRequest& request) {
  const RequestHead& head = request.head;
  if (names_modern_version(head)) return not_of_this_revision();
  if (!accepts_stream(head.header("accept"))) return no_stream_wanted();
  const std::string name = head.header("mcp-session-id");
  if (name.empty())
    return error_response(400, json_rpc::bridge_error, "Bad Request: Mcp-Session-Id is needed");
  DownstreamSession* session = find_session(name, DownstreamSession::Kind::streamable);
  if (session == nullptr) return session_not_found();
  auto last = parse_event_id(head.header("last-event-id"));
  if (last && last->stream != SessionStream::number) {
    if (resume_post(request, *session, *last)) return std::nullopt;
    last.reset();  // of a stream that nobody knows any more
  }
  // A reader that resumes has lost its connection, even if that still looks open from here: it
  // takes over.
  if (session->stream().is_open() && !last)
    return error_response(409, json_rpc::bridge_error,
                          "Conflict: this session has a stream already");
  if (!session->stream().is_open() && streams() >= context_.options.max_streams) {
    return full_response("too many streams are open (--http-max-streams)");
  }
  session->stream().open(request.connection, access_.cors_headers(head), last,
                         primes_streams(head));
  session->opened();
  return std::nullopt;
}

/// The stream of a POST goes on here, or is told to its end.
bool HttpFace::resume_post(FaceRequest& request, DownstreamSession& session, EventId last) {
  EventStream::Headers headers = access_.cors_headers(request.head);
  if (PendingPost* post = session.post_of_stream(last.stream)) {
    post->resume(request.connection, std::move(headers), last);
    session.can_be_asked_now();
    return true;
  }
  if (!session.store().knows(last)) return false;
  EventStream stream(context_, request.connection, std::move(headers));
  session.store().each_after(last, [&stream](const EventStore::Event& event) {
    stream.send(sse_event(to_text(event.id), {}, event.message));
  });
  stream.end();
  return true;
}

std::optional<HttpResponse> HttpFace::open_fan_out(FaceRequest& request) {
  const RequestHead& head = request.head;
  if (!accepts_stream(head.header("accept"))) return no_stream_wanted();
  if (streams() >= context_.options.max_streams)
    return full_response("too many streams are open (--http-max-streams)");
  fan_out_.subscribe(request.connection, access_.cors_headers(head), head.header("last-event-id"));
  return std::nullopt;
}

std::optional<HttpResponse> HttpFace::open_old_sse(FaceRequest& request) {
  const RequestHead& head = request.head;
  if (!accepts_stream(head.header("accept"))) return no_stream_wanted();
  if (streams() >= context_.options.max_streams)
    return full_response("too many streams are open (--http-max-streams)");
  DownstreamSession* session = add_session(DownstreamSession::Kind::old_sse, head);
  if (session == nullptr) return full_response("too many sessions (--http-max-sessions)");
  session->stream().open(request.connection, access_.cors_headers(head), std::nullopt, false,
                         sse_event({}, "endpoint", "/message?sessionId=" + session->name()));
  session->opened();
  return std::nullopt;
}

std::optional<HttpResponse> HttpFace::end_session(FaceRequest& request) {
  if (names_modern_version(request.head)) return not_of_this_revision();
  const std::string name = request.head.header("mcp-session-id");
  if (name.empty())
    return error_response(400, json_rpc::bridge_error, "Bad Request: Mcp-Session-Id is needed");
  DownstreamSession* session = find_session(name);
  if (session == nullptr) return session_not_found();
  session->end();
  return HttpResponse{204, {}, {}, {}};
}

}  // namespace bridge
