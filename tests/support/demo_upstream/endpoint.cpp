#include "endpoint.hpp"

#include "json_text.hpp"
#include "methods.hpp"
#include "protocol_versions.hpp"
#include "tools.hpp"

namespace demo {
namespace {

const std::string kSessionHeader = "Mcp-Session-Id";

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_loopback_origin(std::string_view origin) {
  const auto scheme_end = origin.find("://");
  if (scheme_end == std::string_view::npos) return false;
  const auto host = origin.substr(scheme_end + 3);
  const auto name = host.substr(0, host.front() == '[' ? host.find(']') + 1 : host.find(':'));
  return name == "localhost" || name == "127.0.0.1" || name == "[::1]";
}

/// The key and the event's number in `Last-Event-ID: KEY-NUMBER`.
std::pair<std::string_view, std::uint64_t> split_event_id(std::string_view id) {
  const auto dash = id.rfind('-');
  if (dash == std::string_view::npos) return {{}, 0};
  return {id.substr(0, dash), static_cast<std::uint64_t>(json::integer(id.substr(dash + 1), 0))};
}

/// Runs a long tool and appends its response, unless it was cancelled.
std::string finish_call(const LongCall& call) {
  const auto reply = run_long_tool(call);
  call.session->end_call(call.call);
  return reply ? reply->message(Message::parse(call.body).id) : std::string();
}

}  // namespace

Endpoint::Endpoint(Upstream& upstream)
    : upstream_(upstream),
      stateless_session_(std::make_shared<Session>("", upstream.options.streams)) {}

Answer Endpoint::handle(const HttpRequest& request, const Message& message,
                        const Handling& handling) {
  if (auto refusal = refused(request, message)) return std::move(*refusal);
  if (request.method() == "POST") return post(request, message, handling);
  if (request.method() == "GET") return get(request, handling);
  if (request.method() == "DELETE") return remove(request);
  return rpc_error(405, -32000, "Method not allowed.");
}

std::optional<Answer> Endpoint::refused(const HttpRequest& request, const Message& message) const {
  if (!upstream_.token.accepts(request.header("Authorization"))) {
    auto answer = rpc_error(401, -32000, "Unauthorized");
    answer.headers.emplace_back("WWW-Authenticate", R"(Bearer error="invalid_token")");
    return answer;
  }
  const auto origin = request.header("Origin");
  if (!origin.empty() && !is_loopback_origin(origin)) {
    return rpc_error(403, -32000, "Invalid Origin header");
  }
  const auto version = request.header("MCP-Protocol-Version");
  if (!version.empty() && !is_known_version(version) && message.method != "initialize") {
    return rpc_error(400, -32000, "Bad Request: Unsupported protocol version");
  }
  return std::nullopt;
}

Endpoint::SessionPointer Endpoint::session_of(const HttpRequest& request) const {
  if (upstream_.options.stateless) return stateless_session_;
  const auto id = request.header(kSessionHeader);
  return id.empty() ? nullptr : upstream_.sessions.find(id);
}

Answer Endpoint::unknown_session(const HttpRequest& request) const {
  if (upstream_.options.unknown_session_as_events) {
    auto answer = rpc_error(400, -32000, "Bad Request: Server not initialized");
    answer.content_type = "text/event-stream";
    answer.body = "event: message\ndata: " + answer.body + "\n\n";
    return answer;
  }
  if (upstream_.options.unknown_session_status == 400) {
    // As in server-everything: without any id.
    return Answer::json(
        R"({"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}})",
        400);
  }
  if (request.header(kSessionHeader).empty()) {
    return rpc_error(400, -32000, "Bad Request: Mcp-Session-Id header is required");
  }
  return rpc_error(404, -32001, "Session not found");
}

Answer Endpoint::post(const HttpRequest& request, const Message& message,
                      const Handling& handling) {
  const auto accept = request.header("Accept");
  if (!has(accept, "application/json") || !has(accept, "text/event-stream")) {
    return rpc_error(406, -32000,
                     "Not Acceptable: Client must accept both application/json and "
                     "text/event-stream");
  }
  if (!has(request.header("Content-Type"), "application/json")) {
    return rpc_error(415, -32000, "Unsupported Media Type: Content-Type must be application/json");
  }
  if (message.kind == Message::Kind::kBatch) return rpc_error(400, -32600, "Batches are not taken");
  if (message.kind == Message::Kind::kNone) return rpc_error(400, -32700, "Parse error");
  if (message.method == "initialize") return initialize(request, message, handling);

  const auto session = session_of(request);
  if (!session) return unknown_session(request);
  if (message.kind == Message::Kind::kAnswer) return take_answer(request, message, *session);
  if (message.kind == Message::Kind::kNotification) {
    if (message.method == "notifications/cancelled") {
      session->cancel(json::member(message.params, "requestId"));
    }
    return Answer::empty(202);
  }
  const auto tool = json::inside(json::member(message.params, "name"));
  if (message.method == "tools/call" && is_long_tool(tool)) {
    return answer_later(session, request, message, handling);
  }
  const auto reply = answer_request(message, session, upstream_);
  return answer_at_once(reply.message(message.id), session, request, handling);
}

Answer Endpoint::initialize(const HttpRequest& request, const Message& message,
                            const Handling& handling) {
  if (!request.header(kSessionHeader).empty() && session_of(request)) {
    return rpc_error(400, -32600, "Invalid Request: Server already initialized", message.id);
  }
  ++upstream_.initializes;
  const bool stateless = upstream_.options.stateless;
  const auto session = stateless ? stateless_session_ : upstream_.sessions.create();
  const auto reply = Reply::result(initialize_result(message));
  auto answer = answer_at_once(reply.message(message.id), session, request, handling);
  if (!stateless) answer.headers.emplace_back(kSessionHeader, session->id());
  return answer;
}

Answer Endpoint::take_answer(const HttpRequest& request, const Message& message, Session& session) {
  SeenAnswer entry;
  entry.at_ms = monotonic_ms();
  entry.id = message.id;
  entry.session_id = session.id();
  entry.body = request.body();
  upstream_.answers.add(std::move(entry));
  session.deliver_answer(message.id, request.body());
  return Answer::empty(202);
}

Answer Endpoint::answer_at_once(const std::string& reply, const SessionPointer& session,
                                const HttpRequest& request, const Handling& handling) const {
  if (upstream_.options.answers != Answers::kSse && !handling.part) return Answer::json(reply);
  if (!upstream_.options.streams.event_ids && !handling.part) {
    auto answer = Answer::events(nullptr);
    answer.body = "event: message\n" + data_lines(reply) + '\n';
    answer.chunked = true;
    return answer;
  }
  const auto stream = session->new_stream();
  const auto ticket = stream->attach(request.descriptor(), std::nullopt);
  stream->append(reply);
  stream->finish();
  return Answer::events(stream_body(stream, ticket, handling.part.value_or(StreamPart{})));
}

Answer Endpoint::answer_later(const SessionPointer& session, const HttpRequest& request,
                              const Message& message, const Handling& handling) {
  LongCall call{session, session->begin_call(message.id), session->server_stream(),
                std::string(request.body())};
  if (upstream_.options.answers == Answers::kJson && !handling.part) {
    auto reply = finish_call(call);
    // A JSON body must not be empty; a stream just ends.
    return reply.empty() ? rpc_error(200, -32000, "Cancelled", message.id)
                         : Answer::json(std::move(reply));
  }
  call.out = session->new_stream();
  const auto ticket = call.out->attach(request.descriptor(), std::nullopt);
  call.out->on_abandoned([running = call.call] { running->cancel(); });
  upstream_.pool.run([call] {
    if (const auto reply = finish_call(call); !reply.empty()) call.out->append(reply);
    call.out->finish();
  });
  return Answer::events(stream_body(call.out, ticket, handling.part.value_or(StreamPart{})));
}

Answer Endpoint::get(const HttpRequest& request, const Handling& handling) {
  if (!upstream_.options.server_stream || upstream_.options.stateless) {
    return rpc_error(405, -32000, "Method not allowed.");
  }
  if (!has(request.header("Accept"), "text/event-stream")) {
    return rpc_error(406, -32000, "Not Acceptable: Client must accept text/event-stream");
  }
  const auto session = session_of(request);
  if (!session) return unknown_session(request);

  auto stream = session->server_stream();
  std::optional<std::uint64_t> after;
  if (upstream_.options.streams.event_ids) {
    const auto [key, number] = split_event_id(request.header("Last-Event-ID"));
    if (const auto resumed = session->find_stream(key)) {
      stream = resumed;
      after = number;
    }
  }
  const auto ticket = stream->attach(request.descriptor(), after);
  if (ticket == 0) return rpc_error(409, -32000, "Conflict: Only one SSE stream is allowed");
  return Answer::events(stream_body(stream, ticket, handling.part.value_or(StreamPart{})));
}

Answer Endpoint::remove(const HttpRequest& request) {
  if (upstream_.options.stateless) return rpc_error(405, -32000, "Method not allowed.");
  const auto session = session_of(request);
  if (!session || !upstream_.sessions.remove(session->id())) return unknown_session(request);
  ++upstream_.deletes;
  return Answer::empty(200);
}

}  // namespace demo
