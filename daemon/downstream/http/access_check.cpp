#include "downstream/http/access_check.hpp"

#include <fmt/format.h>

#include <utility>

#include "downstream/http/posted_messages.hpp"
#include "http/request.hpp"
#include "json/reply.hpp"
#include "text/characters.hpp"
#include "text/secret_forms.hpp"

namespace bridge {

std::string fault_of(const FrontendOptions& options) {
  if (options.certificate.empty() != options.private_key.empty()) {
    return "--http-cert and --http-key go together";
  }
  if (!options.address || options.address->is_loopback() || options.insecure) return {};
  const bool no_tls = options.certificate.empty();
  const bool no_token = options.token_file.empty();
  if (!no_tls && !no_token) return {};
  return fmt::format(
      "--http: {} can be reached from outside and has no {}; give {}, bind 127.0.0.1, or say "
      "--http-insecure",
      options.address->host,
      no_tls && no_token ? "TLS and no token"
      : no_tls           ? "TLS"
                         : "token",
      no_tls && no_token ? "--http-cert, --http-key and --http-token-file"
      : no_tls           ? "--http-cert and --http-key"
                         : "--http-token-file");
}

namespace {

/// In any case of letters.
bool begins_with(std::string_view text, std::string_view prefix) {
  return equal_ignoring_case(text.substr(0, prefix.size()), prefix);
}

}  // namespace

std::string_view bearer_of(std::string_view authorization) {
  constexpr std::string_view scheme = "bearer ";
  if (!begins_with(authorization, scheme)) return {};
  authorization.remove_prefix(scheme.size());
  while (authorization.starts_with(" ")) authorization.remove_prefix(1);
  return authorization;
}

bool BearerToken::admits(std::string_view authorization, SteadyTime now) {
  if (!file_) return true;
  file_->look(now);
  const std::string_view token = bearer_of(authorization);
  return !file_->token().empty() && equal_in_constant_time(token, file_->token());
}

namespace {

HttpResponse refuse(int status, std::string_view reason) {
  return error_response(status, json_rpc::bridge_error, reason);
}

/// A request without a token gets no error code (RFC 6750, section 3.1).
HttpResponse with_challenge(HttpResponse response, bool has_token) {
  response.headers.emplace_back("WWW-Authenticate",
                                std::string("Bearer realm=\"mcp-session-bridge\"") +
                                    (has_token ? ", error=\"invalid_token\"" : ""));
  return response;
}

HttpResponse unauthorized(bool has_token) {
  return with_challenge(error_response(401, json_rpc::http_error,
                                       has_token ? "Unauthorized: the bearer token is wrong"
                                                 : "Unauthorized: a bearer token is needed"),
                        has_token);
}

}  // namespace

HttpResponse grant_refused(GrantEnd end) {
  return with_challenge(
      json_response(401, error_reply("null", definitive_failure_of(ErrorKind::denied,
                                                                   std::string(text_of(end))))),
      true);
}

namespace {

/// A caller without a valid token may not send a body: it would only fill the buffers.
Admission admit_without_token(bool has_body) {
  if (!has_body) return {};
  return {refuse(413, "Content Too Large: this request takes no body")};
}

std::optional<HttpResponse> body_fault(const RequestHead& head) {
  if (!is_json_type(head.header("content-type")))
    return refuse(415, "Unsupported Media Type: Content-Type must be application/json");
  const std::string coding = head.header("content-encoding");
  if (!coding.empty() && coding != "identity")
    return refuse(415, "Unsupported Media Type: the body must not be compressed");
  return std::nullopt;
}

/// `route` is null if there is none at its path.
std::optional<HttpResponse> fault_of(const Route* route, const RequestHead& head) {
  if (route == nullptr) return refuse(404, "Not Found: there is nothing at this path");
  const Operation* operation = find_operation(*route, head.method);
  if (operation == nullptr) {
    HttpResponse response = refuse(405, "Method Not Allowed");
    response.headers.emplace_back("Allow", allowed_methods(*route));
    return response;
  }
  if (operation->body == RequestBody::messages) return body_fault(head);
  if (!names_known_version(head)) {
    return refuse(400,
                  "Bad Request: unsupported MCP-Protocol-Version (2024-11-05, 2025-03-26, "
                  "2025-06-18, 2025-11-25 and 2026-07-28 are)");
  }
  return std::nullopt;
}

constexpr std::string_view allowed_headers =
    "Authorization, Content-Type, Accept, Mcp-Session-Id, MCP-Protocol-Version, Last-Event-ID, "
    "Prefer, Mcp-Method, Mcp-Name";

/// Bytes of header names that a preflight response repeats.
constexpr std::size_t most_mirrored = 4096;

bool is_mirrored_parameter(std::string_view name) {
  constexpr std::string_view prefix = "mcp-param-";
  return name.size() > prefix.size() && begins_with(name, prefix) && name.find(':') == name.npos &&
         is_header_line(std::string(name) + ':');
}

/// Of the headers that a page asks for, those that mirror tool parameters (MCP 2026-07-28,
/// Streamable HTTP, "Custom Headers from Tool Parameters"): the tools define which there are.
std::string mirrored_parameters(const RequestHead& head) {
  const std::string asked = head.header("access-control-request-headers");
  std::string names;
  std::string_view rest = asked;
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    std::string_view name = rest.substr(0, comma);
    rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 1);
    while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
    if (is_mirrored_parameter(name) && names.size() + name.size() < most_mirrored)
      names.append(", ").append(name);
  }
  return names;
}

}  // namespace

AccessCheck::AccessCheck(const Routes& routes, const FrontendOptions& options)
    : routes_(routes),
      token_(options.token_file),
      sites_{options.address && options.address->is_loopback(), options.allow_hosts,
             options.allow_origins} {}

Admission AccessCheck::admit(const RequestHead& head, bool has_body, SteadyTime now, bool is_local,
                             const std::optional<std::variant<GrantHold, GrantEnd>>& grant) {
  const Route* route = find_route(routes_, head.path);
  const bool is_preflight = head.method == "OPTIONS" && route != nullptr;
  if (route != nullptr && route->access == Access::anybody &&
      (is_preflight || find_operation(*route, head.method) != nullptr)) {
    return admit_without_token(has_body);
  }
  if (auto fault = site_fault(head, is_local)) return {std::move(fault)};
  // A browser sends the preflight without its token.
  if (is_preflight) return admit_without_token(has_body);
  if (const auto* const end = grant ? std::get_if<GrantEnd>(&*grant) : nullptr)
    return {grant_refused(*end)};
  const std::string authorization = head.header("authorization");
  if (!is_local && !grant && !token_.admits(authorization, now))
    return {unauthorized(!bearer_of(authorization).empty())};
  return {fault_of(route, head), true};
}

std::optional<HttpResponse> AccessCheck::site_fault(const RequestHead& head, bool is_local) const {
  const std::string host = head.header("host");
  const std::string origin = head.header("origin");
  if (!is_local && !sites_.admits_host(host))
    return refuse(403, "Forbidden: this Host is not served here (--http-allow-host)");
  if (is_local ? !origin.empty() && !sites_.is_listed(origin) : !sites_.admits_origin(origin, host))
    return refuse(403, "Forbidden: this Origin is not admitted (--http-allow-origin)");
  return std::nullopt;
}

HttpResponse::Headers AccessCheck::cors_headers(const RequestHead& head) const {
  const std::string origin = head.header("origin");
  if (origin.empty() || !sites_.is_listed(origin)) return {};
  return {{"Access-Control-Allow-Origin", origin},
          {"Access-Control-Expose-Headers",
           "Mcp-Session-Id, WWW-Authenticate, Retry-After, Preference-Applied"},
          {"Vary", "Origin"}};
}

HttpResponse AccessCheck::preflight(const RequestHead& head) const {
  HttpResponse response{204, {}, {}, {}};
  const std::string methods = allowed_methods(*find_route(routes_, head.path));
  response.headers.emplace_back("Allow", methods);
  if (!sites_.is_listed(head.header("origin"))) return response;
  response.headers.emplace_back("Access-Control-Allow-Methods", methods);
  response.headers.emplace_back("Access-Control-Allow-Headers",
                                std::string(allowed_headers) + mirrored_parameters(head));
  response.headers.emplace_back("Access-Control-Max-Age", "600");
  return response;
}

}  // namespace bridge
