// Who may ask the face for what, and what is answered without a message.
#include <algorithm>
#include <array>

#include "downstream/http/error_response.hpp"
#include "downstream/http/http_face.hpp"
#include "downstream/http/open_api.hpp"
#include "http/accept.hpp"
#include "jsonrpc/error_codes.hpp"
#include "mcp/handshake.hpp"

namespace bridge {
namespace {

struct Route {
  std::string_view path;
  std::string_view methods;  ///< for `Allow`
  bool is_open = false;      ///< for anybody: neither token nor Host nor Origin is looked at
};

constexpr std::array<Route, 10> routes = {{
    {"/mcp", "GET, POST, DELETE, OPTIONS"},
    {"/messages", "GET, POST, DELETE, OPTIONS"},
    {"/mcp/stream", "GET, OPTIONS"},
    {"/sse", "GET, OPTIONS"},
    {"/message", "POST, OPTIONS"},
    {"/healthz", "GET, HEAD, OPTIONS", true},
    {"/readyz", "GET, HEAD, OPTIONS", true},
    {"/metrics", "GET, HEAD, OPTIONS"},
    {"/status", "GET, HEAD, OPTIONS"},
    {"/openapi.json", "GET, HEAD, OPTIONS"},
}};

const Route* route_of(const std::string& path) {
  const auto found = std::find_if(routes.begin(), routes.end(),
                                  [&](const Route& one) { return one.path == path; });
  return found == routes.end() ? nullptr : &*found;
}

bool allows(const Route& route, std::string_view method) {
  std::string_view rest = route.methods;
  while (!rest.empty()) {
    const auto comma = rest.find(", ");
    if (rest.substr(0, comma) == method) return true;
    rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 2);
  }
  return false;
}

}  // namespace

EventStream::Headers HttpFace::cors_headers(const RequestHead& head) const {
  const std::string origin = head.header("origin");
  if (origin.empty() || !sites_.is_listed(origin)) return {};
  return {{"Access-Control-Allow-Origin", origin},
          {"Access-Control-Expose-Headers",
           "Mcp-Session-Id, WWW-Authenticate, Retry-After, Preference-Applied"},
          {"Vary", "Origin"}};
}

HttpResponse HttpFace::refusal(int status, std::string_view reason) const {
  return error_response(status, status == 503 ? json_rpc::bridge_error : json_rpc::invalid_request,
                        reason);
}

HttpResponse HttpFace::refusal_while_overloaded() const { return overloaded_response(); }

Admission HttpFace::request_begins(const RequestHead& head, bool has_body) {
  Admission made = admission(head, has_body);
  if (made.refusal) {
    for (auto& header : cors_headers(head)) made.refusal->headers.push_back(std::move(header));
  }
  return made;
}

Admission HttpFace::admission(const RequestHead& head, bool has_body) {
  const Route* route = route_of(head.path);
  // Whoever has not shown a token has nothing to send: it would only fill the buffers.
  const auto without_token = [&]() -> Admission {
    if (!has_body) return {};
    return {error_response(413, json_rpc::bridge_error,
                           "Content Too Large: this request takes no body")};
  };
  if (route != nullptr && route->is_open && allows(*route, head.method)) return without_token();
  const std::string host = head.header("host");
  if (!sites_.admits_host(host)) {
    return {error_response(403, json_rpc::bridge_error,
                           "Forbidden: this Host is not served here (--http-allow-host)")};
  }
  if (!sites_.admits_origin(head.header("origin"), host)) {
    return {error_response(403, json_rpc::bridge_error,
                           "Forbidden: this Origin is not admitted (--http-allow-origin)")};
  }
  // A browser asks before it may show its token.
  if (head.method == "OPTIONS" && route != nullptr) return without_token();
  if (!token_.admits(head.header("authorization"), context_.loop.now())) {
    HttpResponse response =
        error_response(401, json_rpc::http_error, "Unauthorized: a bearer token is needed");
    response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"mcp-session-bridge\"");
    return {std::move(response)};
  }
  return {fault_of(head), true};
}

std::optional<HttpResponse> HttpFace::fault_of(const RequestHead& head) {
  const Route* route = route_of(head.path);
  if (route == nullptr)
    return error_response(404, json_rpc::bridge_error, "Not Found: there is nothing at this path");
  if (!allows(*route, head.method)) {
    HttpResponse response = error_response(405, json_rpc::bridge_error, "Method Not Allowed");
    response.headers.emplace_back("Allow", std::string(route->methods));
    return response;
  }
  const std::string version = head.header("mcp-protocol-version");
  if (!version.empty() && !is_known_legacy_version(version)) {
    return error_response(400, json_rpc::bridge_error,
                          "Bad Request: unsupported MCP-Protocol-Version (2024-11-05, 2025-03-26, "
                          "2025-06-18 and 2025-11-25 are)");
  }
  return head.method == "POST" ? check_post(head) : std::nullopt;
}

std::optional<HttpResponse> HttpFace::check_post(const RequestHead& head) {
  if (!is_json_type(head.header("content-type"))) {
    return error_response(415, json_rpc::bridge_error,
                          "Unsupported Media Type: Content-Type must be application/json");
  }
  const std::string coding = head.header("content-encoding");
  if (!coding.empty() && coding != "identity") {
    return error_response(415, json_rpc::bridge_error,
                          "Unsupported Media Type: the body must not be compressed");
  }
  return context_.budget.over() ? std::optional(overloaded_response()) : std::nullopt;
}

HttpResponse HttpFace::preflight(const RequestHead& head) const {
  HttpResponse response{204, {}, {}, {}};
  const std::string methods(route_of(head.path)->methods);
  response.headers.emplace_back("Allow", methods);
  if (!sites_.is_listed(head.header("origin"))) return response;
  response.headers.emplace_back("Access-Control-Allow-Methods", methods);
  response.headers.emplace_back("Access-Control-Allow-Headers",
                                "Authorization, Content-Type, Accept, Mcp-Session-Id, "
                                "MCP-Protocol-Version, Last-Event-ID, Prefer");
  response.headers.emplace_back("Access-Control-Max-Age", "600");
  return response;
}

HttpResponse HttpFace::report(const RequestHead& head) const {
  if (head.path == "/healthz") return text_response(200, "ok\n");
  if (head.path == "/readyz")
    return reports_.is_ready() ? text_response(200, "ready\n")
                               : text_response(503, "the upstream cannot be reached\n");
  if (head.path == "/status") return json_response(200, reports_.status());
  if (head.path == "/openapi.json") return json_response(200, open_api_document());
  if (!reports_.metrics) return text_response(501, "metrics are not there\n");
  return {200, "text/plain; version=0.0.4; charset=utf-8", reports_.metrics(), {}};
}

void HttpFace::request(HttpConnection& connection, RequestHead head, std::string body) {
  std::optional<HttpResponse> response;
  if (head.method == "OPTIONS") {
    response = preflight(head);
  } else if (head.path == "/mcp/stream") {
    response = open_fan_out(connection, head);
  } else if (head.path == "/sse") {
    response = open_old_sse(connection, head);
  } else if (head.path == "/message") {
    response = post_old_sse(head, std::move(body));
  } else if (head.path != "/mcp" && head.path != "/messages") {
    response = report(head);
  } else if (head.method == "POST") {
    response = post(connection, head, std::move(body));
  } else if (head.method == "GET") {
    response = open_stream(connection, head);
  } else {
    response = end_session(head);
  }
  if (!response) return;
  for (auto& header : cors_headers(head)) response->headers.push_back(std::move(header));
  connection.respond(std::move(*response));
}

}  // namespace bridge
