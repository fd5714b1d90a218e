#include "auth/token_endpoint.hpp"

#include <doctest/doctest.h>

#include "auth/access_token.hpp"
#include "auth/discovery.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

TokenGrant granted(const std::string& body) {
  return std::get<TokenGrant>(read_token_response(200, body));
}

std::string refused(int status, const std::string& body) {
  return std::get<TokenRefusal>(read_token_response(status, body)).reason;
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
        R"({"access_token":"a\u0000"})", R"({"access_token":"t","token_type":"DPoP"})"})
    CHECK_MESSAGE(refused(200, body) != "", body);
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

TEST_CASE("a token request names the resource, and the client as the server wants it") {
  OAuthClient client;
  client.id = "me";
  client.secret = "s&cret";
  client.place = SecretPlace::basic;
  const std::string resource = "https://h/mcp";
  const TokenForm basic = credentials_form(client, resource, "");
  CHECK(basic.body == "grant_type=client_credentials&resource=https%3A%2F%2Fh%2Fmcp");
  CHECK(basic.authorization == basic_credentials("me", "s&cret"));

  client.place = SecretPlace::body;
  const TokenForm post = credentials_form(client, resource, "a b");
  CHECK(post.body ==
        "grant_type=client_credentials&resource=https%3A%2F%2Fh%2Fmcp&scope=a%20b&client_id=me&"
        "client_secret=s%26cret");
  CHECK(post.authorization == "");

  client.place = SecretPlace::assertion;
  client.secret = "a.b.c";
  const TokenForm signed_one = credentials_form(client, resource, "");
  CHECK(signed_one.body ==
        "grant_type=client_credentials&resource=https%3A%2F%2Fh%2Fmcp&client_id=me"
        "&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer&"
        "client_assertion=a.b.c");
  CHECK(signed_one.authorization == "");
}

TEST_CASE("an assertion is exchanged for a token, with a client or without") {
  OAuthClient client;
  const TokenForm alone = assertion_form(client, "a.b.c", "https://h/mcp", "x");
  CHECK(alone.body ==
        "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=a.b.c&resource="
        "https%3A%2F%2Fh%2Fmcp&scope=x");
  CHECK(secrets_of(alone) == std::vector<std::string>{"a.b.c"});
  client.id = "me";
  CHECK(assertion_form(client, "a", "", "").body.ends_with("&assertion=a&client_id=me"));
  client.secret = "s";
  client.place = SecretPlace::basic;
  CHECK(assertion_form(client, "a", "", "").authorization == basic_credentials("me", "s"));
}

TEST_CASE("a refresh names its client, and the secrets of a form are known") {
  OAuthClient client;
  client.id = "me";
  CHECK(refresh_form(client, "rt", "https://r").body ==
        "grant_type=refresh_token&refresh_token=rt&resource=https%3A%2F%2Fr&client_id=me");
  client.secret = "s s";
  client.place = SecretPlace::body;
  const auto secrets =
      secrets_of(code_form(client, "the code", "verifier", "http://x", "https://r"));
  for (const char* secret : {"the code", "verifier", "s s"})
    CHECK(std::find(secrets.begin(), secrets.end(), secret) != secrets.end());
}
