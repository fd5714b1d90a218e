// What the face serves, and what is answered without a message.
#include <utility>

#include "downstream/http/error_response.hpp"
#include "downstream/http/http_face.hpp"
#include "downstream/http/open_api.hpp"
#include "jsonrpc/error_codes.hpp"

namespace bridge {
namespace {

bool takes_messages(const RequestHead& head) {
  const Route& route = *find_route(HttpFace::routes(), head.path);
  return find_operation(route, head.method)->body == RequestBody::messages;
}

// These three are calls, not braces, for the table below to be read row by row.
Operation operation(std::string_view method, RequestBody body, Handler handler, std::string_view id,
                    std::string_view summary, Names parameters, Responses responses) {
  return {method, body, handler, id, summary, std::move(parameters), std::move(responses)};
}

Route route(std::string_view path, Operation only) {
  return {path, Access::trusted, "mcp", {std::move(only)}};
}

/// What an operator looks at.
Route report(std::string_view path, Access access, Handler handler, std::string_view id,
             std::string_view summary, Responses responses) {
  return {path,
          access,
          "operation",
          {operation("GET", RequestBody::none, handler, id, summary, {}, std::move(responses))},
          true};
}

}  // namespace

const Routes& HttpFace::routes() {
  using enum Access;
  using enum RequestBody;
  static const std::vector<Operation> mcp = {
      operation("GET", none, &HttpFace::open_stream, "openStream", "The session's event stream",
                {"RequiredSessionId", "ProtocolVersion", "LastEventId"},
                {{200, "Stream"}, {404, "Error"}, {406, "Error"}, {409, "Error"}, {503, "Error"}}),
      operation(
          "POST", messages, &HttpFace::post_messages, "postMessage",
          "Send a message or an array of messages",
          {"SessionId", "ProtocolVersion", "Method", "Name", "Prefer"},
          {{200, "Answer"}, {202, "Accepted"}, {404, "Error"}, {406, "Error"}, {504, "Error"}}),
      operation("DELETE", none, &HttpFace::end_session, "endSession", "End the session",
                {"RequiredSessionId"}, {{204, "Ended"}, {404, "Error"}})};
  static const Routes table = {
      {"/mcp", trusted, "mcp", mcp},
      {"/messages", trusted, "mcp", mcp, false, "/mcp"},
      route("/mcp/stream",
            operation("GET", none, &HttpFace::open_fan_out, "subscribe",
                      "Session notifications, and the answers to asynchronous POSTs, for any "
                      "number of subscribers",
                      {"LastEventId"}, {{200, "Stream"}, {406, "Error"}, {503, "Error"}})),
      route("/sse", operation("GET", none, &HttpFace::open_old_sse, "openOldStream",
                              "HTTP+SSE of 2024-11-05: the stream; its first event names where to "
                              "post",
                              {}, {{200, "Stream"}, {406, "Error"}, {503, "Error"}})),
      route("/message", operation("POST", messages, &HttpFace::post_old_sse, "postOldMessage",
                                  "HTTP+SSE of 2024-11-05: a message; its answer comes on the "
                                  "stream",
                                  {"OldSessionId"}, {{202, "Text"}, {404, "Error"}})),
      report("/healthz", anybody, &HttpFace::health, "health", "The daemon is alive",
             {{200, "Text"}}),
      report("/readyz", anybody, &HttpFace::readiness, "readiness",
             "The upstream can be reached, or was not needed yet", {{200, "Text"}, {503, "Text"}}),
      report("/metrics", trusted, &HttpFace::metrics, "metrics", "Prometheus exposition",
             {{200, "Text"}, {501, "Text"}}),
      report("/status", trusted, &HttpFace::status, "status",
             "The state of everything, as bridge/status answers", {{200, "Object"}}),
      report("/openapi.json", trusted, &HttpFace::open_api, "openApi", "This document",
             {{200, "Object"}})};
  return table;
}

Admission HttpFace::request_begins(const RequestHead& head, bool has_body) {
  Admission made = access_.admit(head, has_body, context_.loop.now());
  if (!made.refusal && made.is_trusted && context_.budget.over() && takes_messages(head))
    made.refusal = overloaded_response();
  if (made.refusal) add_cors_headers(*made.refusal, head);
  return made;
}

HttpResponse HttpFace::refusal(int status, std::string_view reason) const {
  return error_response(status, status == 503 ? json_rpc::bridge_error : json_rpc::invalid_request,
                        reason);
}

HttpResponse HttpFace::refusal_while_overloaded() const { return overloaded_response(); }

void HttpFace::request(HttpConnection& connection, RequestHead head, ReceivedText body) {
  const Route& route = *find_route(routes(), head.path);
  FaceRequest request{connection, head, std::move(body)};
  std::optional<HttpResponse> response =
      head.method == "OPTIONS" ? access_.preflight(head)
                               : (this->*find_operation(route, head.method)->handler)(request);
  if (!response) return;
  add_cors_headers(*response, head);
  connection.respond(std::move(*response));
}

void HttpFace::add_cors_headers(HttpResponse& response, const RequestHead& head) const {
  for (auto& header : access_.cors_headers(head)) response.headers.push_back(std::move(header));
}

std::optional<HttpResponse> HttpFace::health(FaceRequest&) { return text_response(200, "ok\n"); }

std::optional<HttpResponse> HttpFace::readiness(FaceRequest&) {
  return reports_.is_ready() ? text_response(200, "ready\n")
                             : text_response(503, "the upstream cannot be reached\n");
}

std::optional<HttpResponse> HttpFace::status(FaceRequest&) {
  return json_response(200, reports_.status());
}

std::optional<HttpResponse> HttpFace::metrics(FaceRequest&) {
  if (!reports_.metrics) return text_response(501, "metrics are not there\n");
  return HttpResponse{200, "text/plain; version=0.0.4; charset=utf-8", reports_.metrics(), {}};
}

std::optional<HttpResponse> HttpFace::open_api(FaceRequest&) {
  return json_response(200, open_api_document(routes()));
}

}  // namespace bridge
