#include "http/client/web_url.hpp"

#include <doctest/doctest.h>

#include "auth/token_endpoint.hpp"
#include "text/base64.hpp"
#include "text/characters.hpp"

using namespace bridge;
using namespace std::string_literals;

TEST_CASE("base64, with padding and for URLs") {
  CHECK(base64("") == "");
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64("foobar") == "Zm9vYmFy");
  CHECK(base64("\xfb\xff\xfe") == "+//+");
  CHECK(base64url("\xfb\xff\xfe") == "-__-");
  CHECK(base64url("\0\xff"s) == "AP8");
}

TEST_CASE("everything but unreserved characters is percent-encoded") {
  CHECK(percent_encoded("azAZ09-._~") == "azAZ09-._~");
  CHECK(percent_encoded("a b+c&d=e%/:?\n\xc3\xa9") == "a%20b%2Bc%26d%3De%25%2F%3A%3F%0A%C3%A9");
  CHECK(percent_encoded("\0"s) == "%00");
}

TEST_CASE("client id and secret are encoded before they are joined") {
  CHECK(basic_credentials("id", "secret") == "Basic aWQ6c2VjcmV0");
  CHECK(basic_credentials("a:b", "c d%") == "Basic " + base64("a%3Ab:c%20d%25"));
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
