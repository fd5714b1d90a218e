#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>

#include "../../options_helpers.hpp"
#include "downstream/http/access_check.hpp"
#include "downstream/http/http_frontend.hpp"
#include "downstream/http/routes.hpp"
#include "json/json_text.hpp"

namespace bridge {
namespace {

constexpr SteadyTime start = SteadyTime{} + std::chrono::hours(1);

RequestHead head_of(const std::string& request_line, const std::string& headers = {}) {
  return std::get<RequestHead>(
      parse_request_head(request_line + " HTTP/1.1\r\nHost: localhost" + headers));
}

/// A check as used by the frontend, on a loopback address.
struct Door {
  explicit Door(std::string token_file = {}, std::vector<std::string> origins = {}) {
    options.address = ListenAddress{"127.0.0.1", 0};
    options.token_file = std::move(token_file);
    options.allow_origins = std::move(origins);
    check.emplace(HttpFrontend::routes(), options);
  }
  Admission admit(const RequestHead& head, bool has_body = false) {
    return check->admit(head, has_body, start);
  }
  /// The status of a refusal; 0: admitted.
  int status(const RequestHead& head, bool has_body = false) {
    const Admission made = admit(head, has_body);
    return made.refusal ? made.refusal->status : 0;
  }

  FrontendOptions options;
  std::optional<AccessCheck> check;
};

std::string header_of(const HttpResponse& response, const std::string& name) {
  for (const auto& [its_name, value] : response.headers) {
    if (its_name == name) return value;
  }
  return {};
}

TEST_CASE("on the Unix socket neither Host nor token counts, and a web page must be listed") {
  Door door("/no/token", {"https://listed.example"});
  const struct {
    std::string headers;
    int status;
  } rows[] = {{"", 0},
              {"\r\nAuthorization: Bearer wrong", 0},
              {"\r\nOrigin: https://listed.example", 0},
              {"\r\nOrigin: http://localhost", 403},
              {"\r\nOrigin: null", 403}};
  for (const auto& [headers, status] : rows) {
    CAPTURE(headers);
    const auto head = std::get<RequestHead>(
        parse_request_head("GET /status HTTP/1.1\r\nHost: evil.example" + headers));
    const Admission made = door.check->admit(head, false, start, true);
    CHECK((made.refusal ? made.refusal->status : 0) == status);
    CHECK(door.check->admit(head, false, start).refusal);
  }
}

TEST_CASE("each path says which methods it takes") {
  std::map<std::string, std::string> allowed;
  for (const Route& route : HttpFrontend::routes())
    allowed[std::string(route.path)] = allowed_methods(route);
  CHECK(allowed == std::map<std::string, std::string>{
                       {"/mcp", "GET, POST, DELETE, OPTIONS"},
                       {"/messages", "GET, POST, DELETE, OPTIONS"},
                       {"/mcp/stream", "GET, OPTIONS"},
                       {"/sse", "GET, OPTIONS"},
                       {"/message", "POST, OPTIONS"},
                       {"/healthz", "GET, HEAD, OPTIONS"},
                       {"/readyz", "GET, HEAD, OPTIONS"},
                       {"/metrics", "GET, HEAD, OPTIONS"},
                       {"/status", "GET, HEAD, OPTIONS"},
                       {"/openapi.json", "GET, HEAD, OPTIONS"},
                   });
}

TEST_CASE("a path or a method that is not in the table is refused, with what is allowed") {
  Door door;
  CHECK(door.status(head_of("GET /elsewhere")) == 404);
  CHECK(door.status(head_of("OPTIONS /elsewhere")) == 404);
  CHECK(door.status(head_of("GET /mcp/")) == 404);
  for (const char* method : {"PUT", "HEAD", "PATCH", "get"}) {
    const Admission made = door.admit(head_of(std::string(method) + " /mcp"));
    REQUIRE_MESSAGE(made.refusal, method);
    CHECK(made.refusal->status == 405);
    CHECK(header_of(*made.refusal, "Allow") == "GET, POST, DELETE, OPTIONS");
  }
  CHECK(door.status(head_of("POST /healthz")) == 405);
  CHECK(door.status(head_of("HEAD /status")) == 0);
}

TEST_CASE("what anybody may ask is only told whether the daemon lives") {
  const TemporaryFile token("secret");
  Door door(token.path());
  std::set<std::string> open;
  for (const Route& route : HttpFrontend::routes()) {
    if (route.access == Access::anybody) open.insert(std::string(route.path));
    for (const Operation& operation : route.operations) {
      const std::string line = std::string(operation.method) + ' ' + std::string(route.path);
      CHECK_MESSAGE(door.status(head_of(line)) == (route.access == Access::anybody ? 0 : 401),
                    line);
      CHECK_FALSE_MESSAGE(door.admit(head_of(line)).is_trusted, line);
    }
  }
  CHECK(open == std::set<std::string>{"/healthz", "/readyz"});
  CHECK(door.status(head_of("GET /status", "\r\nAuthorization: Bearer secret")) == 0);
  CHECK(door.admit(head_of("GET /status", "\r\nAuthorization: Bearer secret")).is_trusted);
  // A peer without a token sends no body.
  CHECK(door.status(head_of("GET /healthz"), true) == 413);
  CHECK(door.status(head_of("OPTIONS /mcp"), true) == 413);
  CHECK(door.status(head_of("POST /mcp"), true) == 401);
}

TEST_CASE("a missing token is asked for, and a wrong one is called wrong (RFC 6750, section 3.1)") {
  const TemporaryFile token("secret");
  Door door(token.path());
  const std::string challenge = "Bearer realm=\"mcp-session-bridge\"";
  const std::string needed = "Unauthorized: a bearer token is needed";
  const struct {
    const char* headers;
    std::string challenge, said;
  } rows[] = {
      {"", challenge, needed},
      {"\r\nAuthorization: Basic c2VjcmV0", challenge, needed},
      {"\r\nAuthorization: Bearer ", challenge, needed},
      {"\r\nAuthorization: Bearer other", challenge + ", error=\"invalid_token\"",
       "Unauthorized: the bearer token is wrong"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.headers);
    const Admission made = door.admit(head_of("GET /status", row.headers));
    REQUIRE(made.refusal);
    CHECK(made.refusal->status == 401);
    CHECK(header_of(*made.refusal, "WWW-Authenticate") == row.challenge);
    CHECK(made.refusal->body.find(row.said) != std::string::npos);
  }
}

TEST_CASE("a foreign site is refused before its token is looked at") {
  const TemporaryFile token("secret");
  Door door(token.path(), {"https://app.example"});
  CHECK(door.status(head_of("GET /status", "\r\nOrigin: http://evil.example")) == 403);
  CHECK(door.status(head_of("OPTIONS /mcp", "\r\nOrigin: http://evil.example")) == 403);
  CHECK(door.status(head_of("GET /healthz", "\r\nOrigin: http://evil.example")) == 0);
  CHECK(door.status(head_of("OPTIONS /mcp", "\r\nOrigin: https://app.example")) == 0);
  const HttpResponse answer =
      door.check->preflight(head_of("OPTIONS /mcp", "\r\nOrigin: https://app.example"));
  CHECK(answer.status == 204);
  CHECK(header_of(answer, "Access-Control-Allow-Methods") == "GET, POST, DELETE, OPTIONS");
}

TEST_CASE("what is POSTed is JSON, as it is, in a version that is known") {
  Door door;
  const std::string json = "\r\nContent-Type: application/json";
  CHECK(door.status(head_of("POST /mcp", json), true) == 0);
  CHECK(door.status(head_of("POST /mcp"), true) == 415);
  CHECK(door.status(head_of("POST /message", json + "\r\nContent-Encoding: gzip"), true) == 415);
  CHECK(door.status(head_of("POST /mcp", json + "\r\nContent-Encoding: identity"), true) == 0);
  CHECK(door.status(head_of("GET /mcp", "\r\nMCP-Protocol-Version: 1999-01-01")) == 400);
  CHECK(door.status(head_of("GET /mcp", "\r\nMCP-Protocol-Version: 2025-06-18")) == 0);
  CHECK(door.status(head_of("GET /status", "\r\nMCP-Protocol-Version: 2026-07-28")) == 0);
}

TEST_CASE("a page may send the headers that mirror a body, and is told of no others") {
  Door door({}, {"https://app.example"});
  const auto allowed = [&door](const std::string& asked) {
    const HttpResponse answer = door.check->preflight(head_of("OPTIONS /mcp",
                                                              "\r\nOrigin: https://app.example\r\n"
                                                              "Access-Control-Request-Headers: " +
                                                                  asked));
    return header_of(answer, "Access-Control-Allow-Headers");
  };
  CHECK(allowed("x").find(", Mcp-Method, Mcp-Name") != std::string::npos);
  CHECK(allowed("mcp-method, Mcp-Param-Region,mcp-param-x-1")
            .ends_with(", Mcp-Name, Mcp-Param-Region, mcp-param-x-1"));
  CHECK(allowed("x-other, mcp-param-, mcp-param-a:b, mcp-param-a b").ends_with(", Mcp-Name"));
  CHECK(allowed("mcp-param-" + std::string(8000, 'a')).ends_with(", Mcp-Name"));
}

/// A member of an object in the document, which exists.
std::string_view inside(std::string_view object, std::string_view name) {
  const auto member = find_member(object, name);
  REQUIRE_MESSAGE(member, name);
  return *member;
}

TEST_CASE("the API's description says of each operation what it takes and how it refuses") {
  // That the document is valid and has all that it refers to, test_face_sdk has a validator check.
  const std::string document = open_api_document(HttpFrontend::routes());
  CHECK(inside(inside(document, "info"), "version") == "\"" MCP_BRIDGE_VERSION "\"");
  for (const Route& route : HttpFrontend::routes()) {
    const std::string_view methods = inside(inside(document, "paths"), route.path);
    for (const Operation& operation : route.operations) {
      std::string method(operation.method);
      for (char& c : method) c = static_cast<char>(std::tolower(c));
      const std::string_view described = inside(methods, method);
      const std::string_view responses = inside(described, "responses");
      const bool is_trusted = route.access == Access::trusted;
      for (const char* status : {"401", "403"})
        CHECK(find_member(responses, status).has_value() == is_trusted);
      CHECK(find_member(described, "security").has_value() != is_trusted);
      const bool takes_body = operation.body == RequestBody::messages;
      CHECK(find_member(described, "requestBody").has_value() == takes_body);
      CHECK(find_member(responses, "415").has_value() == takes_body);
      for (const auto& [status, name] : operation.responses)
        CHECK(find_member(responses, std::to_string(status)).has_value());
    }
  }
}

}  // namespace
}  // namespace bridge
