#include "auth/token_endpoint.hpp"

#include <doctest/doctest.h>

#include "auth/access_token.hpp"
#include "auth/discovery.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

TokenGrant granted(const std::string& body) {
  const auto response = read_token_response(200, body);
  REQUIRE(std::holds_alternative<TokenGrant>(response));
  return std::get<TokenGrant>(response);
}

std::string refused(int status, const std::string& body) {
  const auto response = read_token_response(status, body);
  REQUIRE(std::holds_alternative<TokenRefusal>(response));
  return std::get<TokenRefusal>(response).reason;
}

}  // namespace

TEST_CASE("a granted token and its life") {
  const TokenGrant grant =
      granted(R"( {"access_token":"t","token_type":"BEARER","expires_in":3600,"x":[1]} )");
  CHECK(grant.token == "t");
  CHECK(grant.expires_in == 3600s);
  CHECK(granted(R"({"access_token":"t"})").expires_in == std::nullopt);
  CHECK(granted(R"({"access_token":"t","expires_in":"60"})").expires_in == 60s);
  CHECK(granted(R"({"access_token":"t","expires_in":60.5})").expires_in == 60s);
  CHECK(granted(R"({"access_token":"t","expires_in":99999999999999})").expires_in ==
        std::chrono::hours(365 * 24));
  for (const char* odd : {"null", "-1", "[]", "\"soon\"", "\"\"", "1e9"}) {
    CHECK(granted(std::string(R"({"access_token":"t","expires_in":)") + odd + "}").expires_in ==
          std::nullopt);
  }
}

TEST_CASE("a refused token request in the server's words") {
  CHECK(refused(400, R"({"error":"invalid_scope","error_description":"no"})") ==
        "HTTP 400: invalid_scope: no");
  CHECK(refused(401, R"({"error":"invalid_client"})") == "HTTP 401: invalid_client");
  CHECK(refused(200, R"({"error":"invalid_client"})") == "HTTP 200: invalid_client");
  CHECK(refused(503, "<html>down</html>") == "HTTP 503");
  CHECK(refused(302, "") == "HTTP 302");
}

TEST_CASE("an answer that holds no usable token") {
  for (const char* body :
       {"", "[]", "{", "{} {}", "{}", R"({"access_token":""})", R"({"access_token":7})",
        R"({"access_token":"a b"})", R"({"access_token":"a\nX: y"})",
        R"({"access_token":"a\u0000"})", R"({"access_token":"t","token_type":"DPoP"})"}) {
    CAPTURE(body);
    CHECK(refused(200, body) != "");
  }
}

TEST_CASE("a token is replaced at four fifths of its life or half a minute before its end") {
  const auto asked = TokenLife::Time{} + 100s;
  const auto life = [&](std::chrono::seconds expires_in) {
    return TokenLife::of(asked, asked + 100ms, expires_in);
  };
  CHECK(life(3600s).refresh == asked + 3570s);
  CHECK(life(3600s).expires == asked + 3600s);
  CHECK(life(150s).refresh == asked + 120s);
  CHECK(life(100s).refresh == asked + 80s);
  CHECK(life(10s).refresh == asked + 8s);
  CHECK(life(10s).is_refresh_due(asked + 8s));
  CHECK(!life(10s).is_over(asked + 9999ms));
  CHECK(life(10s).is_over(asked + 10s));
}

TEST_CASE("a token that has expired on its way counts for a second, one without an end for ever") {
  const auto asked = TokenLife::Time{} + 100s;
  const TokenLife life = TokenLife::of(asked, asked + 5s, 0s);
  CHECK(!life.is_over(asked + 5999ms));
  CHECK(life.is_over(asked + 6s));
  CHECK(life.refresh < life.expires);
  const TokenLife endless = TokenLife::of(asked, asked, std::nullopt);
  CHECK(!endless.is_over(asked + std::chrono::hours(100'000)));
  CHECK(!endless.is_refresh_due(asked + std::chrono::hours(100'000)));
}

TEST_CASE("the metadata of a resource and of a server") {
  const auto resource = read_resource_metadata(
      R"({"resource":"https://h/mcp","authorization_servers":["https://a",1,"https:\/\/b"],"scopes_supported":["x","y"]})");
  REQUIRE(resource);
  CHECK(resource->resource == "https://h/mcp");
  CHECK(resource->authorization_servers == std::vector<std::string>{"https://a", "https://b"});
  CHECK(scope_of(resource->scopes_supported) == "x y");
  CHECK(read_resource_metadata("{}")->authorization_servers.empty());
  CHECK(!read_resource_metadata("[]"));
  CHECK(!read_resource_metadata("{\"resource\":\"\xff\"}"));
  std::string many = R"({"authorization_servers":["a")";
  for (int i = 0; i < 1000; ++i) many += ",\"a\"";
  CHECK(read_resource_metadata(many + "]}")->authorization_servers.size() == 64);

  const auto server =
      read_server_metadata(R"({"issuer":"https://a","token_endpoint":"https://a/t"})");
  REQUIRE(server);
  CHECK(server->issuer == "https://a");
  CHECK(server->token_endpoint == "https://a/t");
  CHECK(!wants_secret_in_body(*server));
}

TEST_CASE("a server without metadata has the default endpoints of 2025-03-26 at its origin") {
  const ServerMetadata server = default_server_metadata("https://h:8443");
  CHECK(server.issuer == "https://h:8443");
  CHECK(server.authorization_endpoint == "https://h:8443/authorize");
  CHECK(server.token_endpoint == "https://h:8443/token");
  CHECK(server.registration_endpoint == "https://h:8443/register");
  CHECK(server.code_challenge_methods == std::vector<std::string>{"S256"});
  CHECK(server.revocation_endpoint.empty());
  CHECK(server.device_authorization_endpoint.empty());
}

TEST_CASE("the secret goes into the body only if the server takes it nowhere else") {
  const auto wants = [](const std::string& methods) {
    return wants_secret_in_body(
        *read_server_metadata(R"({"token_endpoint_auth_methods_supported":)" + methods + "}"));
  };
  CHECK(wants(R"(["client_secret_post"])"));
  CHECK(wants(R"(["private_key_jwt","client_secret_post"])"));
  CHECK(!wants(R"(["client_secret_post","client_secret_basic"])"));
  CHECK(!wants(R"(["private_key_jwt"])"));
  CHECK(!wants("[]"));
  CHECK(!wants("\"client_secret_post\""));
}

TEST_CASE("scopes are joined without repeating one") {
  CHECK(joined_scopes("b c", "a  b ") == "b c a");
  CHECK(joined_scopes("", "a") == "a");
  CHECK(joined_scopes("a", "") == "a");
}
