#include <algorithm>
#include <utility>
#include <variant>

#include "downstream/http/http_frontend.hpp"
#include "downstream/http/posted_messages.hpp"
#include "downstream/http/routes.hpp"
#include "grant/grant_key.hpp"
#include "http/request.hpp"
#include "json/reply.hpp"

namespace bridge {

// The routes of the frontend, and the responses that need no message.

namespace {

// These three are calls, not braces, so that the table below can be read row by row.
Operation operation(std::string_view method, RequestBody body, Handler handler, std::string_view id,
                    std::string_view summary, Names parameters, Responses responses) {
  return {method, body, handler, id, summary, std::move(parameters), std::move(responses)};
}

Route route(std::string_view path, Operation only) {
  return {path, Access::trusted, "mcp", {std::move(only)}};
}

/// A report for operators.
Route report(std::string_view path, Access access, Handler handler, std::string_view id,
             std::string_view summary, Responses responses) {
  return {path,
          access,
          "operation",
          {operation("GET", RequestBody::none, handler, id, summary, {}, std::move(responses))},
          true};
}

}  // namespace

const Routes& HttpFrontend::routes() {
  using enum Access;
  using enum RequestBody;
  static const std::vector<Operation> mcp = {
      operation("GET", none, &HttpFrontend::open_stream, "openStream", "The session's event stream",
                {"RequiredSessionId", "ProtocolVersion", "LastEventId"},
                {{200, "Stream"}, {404, "Error"}, {406, "Error"}, {409, "Error"}, {503, "Error"}}),
      operation(
          "POST", messages, &HttpFrontend::post_messages, "postMessage",
          "Send a message or an array of messages",
          {"SessionId", "ProtocolVersion", "Method", "Name", "Prefer"},
          {{200, "Answer"}, {202, "Accepted"}, {404, "Error"}, {406, "Error"}, {504, "Error"}}),
      operation("DELETE", none, &HttpFrontend::end_session, "endSession", "End the session",
                {"RequiredSessionId"}, {{204, "Ended"}, {404, "Error"}})};
  static const Routes table = {
      {"/mcp", trusted, "mcp", mcp},
      {"/messages", trusted, "mcp", mcp, false, "/mcp"},
      route("/mcp/stream",
            operation("GET", none, &HttpFrontend::open_fan_out, "subscribe",
                      "Session notifications, and the answers to asynchronous POSTs, for any "
                      "number of subscribers",
                      {"LastEventId"}, {{200, "Stream"}, {406, "Error"}, {503, "Error"}})),
      route("/sse", operation("GET", none, &HttpFrontend::open_old_sse, "openOldStream",
                              "HTTP+SSE of 2024-11-05: the stream; its first event names where to "
                              "post",
                              {}, {{200, "Stream"}, {406, "Error"}, {503, "Error"}})),
      route("/message", operation("POST", messages, &HttpFrontend::post_old_sse, "postOldMessage",
                                  "HTTP+SSE of 2024-11-05: a message; its answer comes on the "
                                  "stream",
                                  {"OldSessionId"}, {{202, "Text"}, {404, "Error"}})),
      report("/healthz", anybody, &HttpFrontend::health, "health", "The daemon is alive",
             {{200, "Text"}}),
      report("/readyz", anybody, &HttpFrontend::readiness, "readiness",
             "The upstream can be reached, or was not needed yet", {{200, "Text"}, {503, "Text"}}),
      report("/metrics", trusted, &HttpFrontend::metrics, "metrics", "Prometheus exposition",
             {{200, "Text"}, {403, "Text"}, {501, "Text"}}),
      report("/status", trusted, &HttpFrontend::status, "status",
             "The state of everything, as bridge/status answers", {{200, "Object"}}),
      report("/openapi.json", trusted, &HttpFrontend::open_api, "openApi", "This document",
             {{200, "Object"}})};
  return table;
}

bool HttpFrontend::admits(const PeerCredentials& peer) {
  if (context_.options.peers.admits(peer)) return true;
  ++context_.counts.refused;
  context_.log.peer(LogLevel::warning, "client not allowed",
                    "HTTP caller of uid {} (pid {}) is not allowed to connect", peer.uid, peer.pid);
  return false;
}

namespace {

/// nullopt: the request has none.
std::optional<std::variant<GrantHold, GrantEnd>> verified_grant(ClientEvents& events,
                                                                const RequestHead& head) {
  const std::string authorization = head.header("authorization");
  // A grant that cannot be read must not leave its holder with more rights.
  if (authorization.find(GrantKey::prefix) == authorization.npos) return std::nullopt;
  const bool is_one = head.count("authorization") == 1;
  return events.verify_grant(is_one ? bearer_of(authorization) : std::string_view());
}

}  // namespace

Admission HttpFrontend::request_begins(const HttpConnection& connection, const RequestHead& head,
                                       bool has_body) {
  Admission made =
      access_.admit(head, has_body, context_.loop.now(), connection.local_peer() != nullptr,
                    verified_grant(context_.events, head));
  if (made.refusal) add_cors_headers(*made.refusal, head);
  return made;
}

HttpResponse HttpFrontend::refusal(int status, std::string_view reason) const {
  return error_response(status, status == 503 ? json_rpc::bridge_error : json_rpc::invalid_request,
                        reason);
}

void HttpFrontend::request(HttpConnection& connection, RequestHead head, ReceivedText body) {
  const Route& route = *find_route(routes(), head.path);
  FrontendRequest request{connection, head, std::move(body), context_.caller_of(connection)};
  std::optional<HttpResponse> response;
  // It may have ended since the request began.
  auto grant =
      route.access == Access::trusted ? verified_grant(context_.events, head) : std::nullopt;
  if (grant && std::holds_alternative<GrantEnd>(*grant)) {
    response = grant_refused(std::get<GrantEnd>(*grant));
  } else if (head.method == "OPTIONS") {
    response = access_.preflight(head);
  } else {
    if (grant) {
      request.caller.grant = std::get<GrantHold>(std::move(*grant));
      request.caller.is_anonymous = false;
    }
    response = (this->*find_operation(route, head.method)->handler)(request);
  }
  if (!response) return;
  add_cors_headers(*response, head);
  connection.respond(std::move(*response));
}

void HttpFrontend::add_cors_headers(HttpResponse& response, const RequestHead& head) const {
  for (auto& header : access_.cors_headers(head)) response.headers.push_back(std::move(header));
}

std::optional<HttpResponse> HttpFrontend::health(FrontendRequest&) {
  return text_response(200, "ok\n");
}

std::optional<HttpResponse> HttpFrontend::readiness(FrontendRequest&) {
  return reports_.is_ready()
             ? text_response(200, "ready\n")
             : text_response(503, "the last try to reach or to use the upstream has failed\n");
}

std::optional<HttpResponse> HttpFrontend::status(FrontendRequest& request) {
  return json_response(200, reports_.status(request.caller));
}

std::optional<HttpResponse> HttpFrontend::metrics(FrontendRequest& request) {
  if (!reports_.metrics) return text_response(501, "metrics are not there\n");
  if (!context_.events.may_look(request.caller)) {
    return text_response(403,
                         "the policy of this daemon allows this caller nothing; ask its operator "
                         "for a rule\n");
  }
  return HttpResponse{200, "text/plain; version=0.0.4; charset=utf-8", reports_.metrics(), {}};
}

std::optional<HttpResponse> HttpFrontend::open_api(FrontendRequest&) {
  return json_response(200, open_api_document(routes()));
}

// Messages that callers send to the frontend.

namespace {

/// The response if the caller waits for none of the upstream; an array of nothing but faults gets
/// those.
std::optional<HttpResponse> response_at_once(const PostedMessages& posted) {
  if (posted.is_for_later) {
    HttpResponse response = json_response(202, accepted_body(posted.request_ids));
    response.headers.emplace_back("Preference-Applied", "respond-async");
    return response;
  }
  if (!posted.request_ids.empty()) return std::nullopt;
  if (posted.faults.empty() || !posted.messages.empty()) return HttpResponse{202, {}, {}, {}};
  return json_response(400, answer_body(std::vector<std::string>(posted.faults), true));
}

bool asks_the_bridge(const PostedMessages& posted) {
  return std::all_of(posted.messages.begin(), posted.messages.end(), [](const Frame& message) {
    return message.is_request() && message.method.starts_with("bridge/");
  });
}

/// Whether it asks the bridge, opens a session, or cancels: all that takes little or gives room.
bool takes_little(const PostedMessages& posted) {
  return asks_the_bridge(posted) ||
         std::all_of(posted.messages.begin(), posted.messages.end(), [](const Frame& message) {
           return message.method == "initialize" || message.method == "notifications/initialized" ||
                  message.method == "notifications/cancelled";
         });
}

/// The responses, and the faults of an array, come on the session's stream.
void expect_later(DownstreamSession& session, PostedMessages& posted) {
  for (const std::string& id : posted.request_ids) session.expect_later(id);
  for (std::string& fault : posted.faults) session.stream().push(std::move(fault));
}

}  // namespace

/// All buffers are full, or HTTP callers leave so much unread that the rest is for others.
bool HttpFrontend::has_no_room() const {
  const std::size_t half = context_.budget.limit() / 2;
  if (context_.budget.used() <= half) return false;
  if (context_.budget.over()) return true;
  return server_->held() + clients_.unfetched_bytes() > half;
}

/// `initialize` is always answered at once: its response opens the session. So is a body that
/// only asks the bridge, unless the caller requests otherwise: that is how later answers are
/// collected.
bool HttpFrontend::answers_later(const RequestHead& head, const PostedMessages& posted) const {
  if (posted.initializes || posted.request_ids.empty()) return false;
  if (head.header_has("prefer", "respond-async")) return true;
  return context_.options.answers_later && !asks_the_bridge(posted);
}

std::optional<HttpResponse> HttpFrontend::post_messages(FrontendRequest& request) {
  auto read = read_posted(std::move(request.body));
  if (const auto* fault = std::get_if<FrameFault>(&read))
    return error_response(400, fault->code, fault->reason);
  PostedMessages& posted = std::get<PostedMessages>(read);
  if (has_no_room() && !takes_little(posted)) return overloaded_response();
  if (is_modern(request.head, posted)) return post_modern(request, std::move(posted));
  if (!names_known_version(request.head)) return unknown_version(request.head, posted);
  posted.is_for_later = answers_later(request.head, posted);
  const std::string name = request.head.header("mcp-session-id");
  if (name.empty() && !posted.initializes) {
    Post::Asked asked = asked_of(request, posted);
    return post_alone(request, std::move(posted), std::move(asked),
                      LonePost::Leaving::changes_nothing);
  }
  DownstreamSession* session =
      name.empty()
          ? clients_.add_session(DownstreamSession::Kind::streamable, request.caller,
                                 user_agent(request.head))
          : clients_.find_session(request.caller, name, DownstreamSession::Kind::streamable);
  if (session == nullptr)
    return name.empty() ? full_response("too many sessions (--http-max-sessions)")
                        : session_not_found();
  if (name.empty()) session->opens_with(posted.request_ids.front());
  return post_in_session(request, *session, std::move(posted), name.empty());
}

Post::Asked HttpFrontend::asked_of(FrontendRequest& request, PostedMessages& posted) const {
  Post::Asked asked;
  asked.ids = std::move(posted.ids);
  asked.answers = posted.faults;
  asked.is_batch = posted.is_batch;
  asked.form = answer_form(request.head.header("accept"));
  asked.primes = primes_streams(request.head);
  asked.headers = access_.cors_headers(request.head);
  return asked;
}

/// From here on every response finds its caller. Responses for later come on streams; that of a
/// request kept as a job, which `response` names, can also be collected.
void HttpFrontend::deliver(ClientId client, PostedMessages& posted,
                           std::optional<HttpResponse>& response) {
  std::string jobs;
  bool some_are_kept = false;
  for (Frame& message : posted.messages) {
    if (!posted.is_for_later || !message.is_request()) {
      context_.events.client_message(client, std::move(message));
      continue;
    }
    const std::string job = context_.events.client_request_for_later(client, std::move(message));
    jobs += jobs.empty() ? "" : ", ";
    jobs += job.empty() ? "-" : job;
    some_are_kept = some_are_kept || !job.empty();
  }
  if (some_are_kept) response->headers.emplace_back("Bridge-Jobs", jobs);
}

std::optional<HttpResponse> HttpFrontend::post_in_session(FrontendRequest& request,
                                                          DownstreamSession& session,
                                                          PostedMessages posted, bool is_new) {
  const bool is_taken = std::any_of(posted.request_ids.begin(), posted.request_ids.end(),
                                    [&](const std::string& id) { return session.awaits(id); });
  if (is_taken)
    return error_response(400, json_rpc::invalid_request,
                          "Invalid Request: a request of this id is in flight");
  std::optional<HttpResponse> response = response_at_once(posted);
  if (posted.is_for_later) {
    expect_later(session, posted);
  } else if (!response) {
    Post::Asked asked = asked_of(request, posted);
    if (is_new) asked.new_session = session.name();
    session.begin_post(request.connection, std::move(asked));
  }
  deliver(session.identity().id, posted, response);
  return response;
}

/// The POST is a client of its own.
std::optional<HttpResponse> HttpFrontend::post_alone(FrontendRequest& request,
                                                     PostedMessages posted, Post::Asked asked,
                                                     LonePost::Leaving leaving) {
  LonePost& added = clients_.add_post(leaving, request.caller, user_agent(request.head));
  const ClientId id = added.identity().id;
  std::optional<HttpResponse> response = response_at_once(posted);
  if (!response) added.begin(request.connection, std::move(asked));
  context_.announce(added);
  deliver(id, posted, response);
  // No further messages follow: the router finishes this client with its last response.
  context_.events.client_half_closed(id);
  return response;
}

/// Ignores everything about sessions: the session id, Last-Event-ID, and whether the response may
/// come elsewhere.
std::optional<HttpResponse> HttpFrontend::post_modern(FrontendRequest& request,
                                                      PostedMessages posted) {
  if (auto fault = modern_fault(request.head, posted, context_.events.headers_of_tools()))
    return fault;
  const Frame& message = posted.messages.front();
  const bool listens = message.is_request() && message.method == "subscriptions/listen";
  if (listens) {
    if (auto refusal = stream_refusal(request.head)) return refusal;
    // Before a new client is added, what the others have read must be acknowledged.
    context_.feed.acknowledge_read();
  }
  Post::Asked asked = asked_of(request, posted);
  asked.status_tells_errors = true;
  asked.listens = listens;
  if (asked.form == AnswerForm::json && accepts_stream(request.head.header("accept")))
    asked.form = AnswerForm::either;
  return post_alone(request, std::move(posted), std::move(asked), LonePost::Leaving::cancels);
}

std::optional<HttpResponse> HttpFrontend::post_old_sse(FrontendRequest& request) {
  DownstreamSession* session = clients_.find_session(
      request.caller, request.head.parameter("sessionId").value_or(std::string()),
      DownstreamSession::Kind::old_sse);
  if (session == nullptr) return session_not_found();
  auto read = read_posted(std::move(request.body));
  if (const auto* fault = std::get_if<FrameFault>(&read))
    return error_response(400, fault->code, fault->reason);
  PostedMessages& posted = std::get<PostedMessages>(read);
  if (has_no_room() && !takes_little(posted)) return overloaded_response();
  if (!names_known_version(request.head)) return unknown_version(request.head, posted);
  std::optional<HttpResponse> response = text_response(202, "Accepted");
  expect_later(*session, posted);
  deliver(session->identity().id, posted, response);
  return response;
}

}  // namespace bridge
