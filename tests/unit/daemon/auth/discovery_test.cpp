#include "auth/discovery.hpp"

#include <doctest/doctest.h>

#include "http/client/web_url.hpp"

using namespace bridge;

namespace {

using Parameters = std::vector<std::pair<std::string, std::string>>;

Challenge only(const std::string& field) {
  const auto challenges = parse_challenges(field);
  REQUIRE(challenges.size() == 1);
  return challenges.front();
}

using Urls = std::vector<std::string>;

}  // namespace

TEST_CASE("a challenge's parameters, quoted and not") {
  const Challenge challenge = only(R"(Bearer realm="x", Error=insufficient_scope, scope = "a b")");
  CHECK(challenge.scheme == "bearer");
  CHECK(challenge.parameters ==
        Parameters{{"realm", "x"}, {"error", "insufficient_scope"}, {"scope", "a b"}});
  CHECK(challenge.parameter("scope") == "a b");
  CHECK(challenge.parameter("none") == "");
}

TEST_CASE("a quoted string may hold commas, equals signs and escapes") {
  const Challenge challenge = only(R"(Bearer a="x, Basic b=\"c\"", d="\\", e="")");
  CHECK(challenge.parameters == Parameters{{"a", R"(x, Basic b="c")"}, {"d", "\\"}, {"e", ""}});
}

TEST_CASE("several challenges in one field are told apart") {
  const auto challenges = parse_challenges(
      R"(Negotiate, Basic realm="a", charset="UTF-8",Bearer scope="s", DPoP algs="ES256", Bearer x=1)");
  REQUIRE(challenges.size() == 5);
  CHECK(challenges[0].scheme == "negotiate");
  CHECK(challenges[0].parameters.empty());
  CHECK(challenges[1].parameters == Parameters{{"realm", "a"}, {"charset", "UTF-8"}});
  CHECK(challenges[2].parameters == Parameters{{"scope", "s"}});
  CHECK(challenges[3].scheme == "dpop");
  CHECK(bearer_parameter(challenges, "x") == "1");
  CHECK(bearer_parameter(challenges, "scope") == "s");
  CHECK(bearer_parameter(challenges, "algs") == "");
  CHECK(bearer_parameter(challenges, "realm") == "");
}

TEST_CASE("a token68 is no parameter") {
  const auto challenges = parse_challenges("Negotiate YWJj=, NTLM TlRMTVNTUAAB==, Bearer a=b");
  REQUIRE(challenges.size() == 3);
  CHECK(challenges[0].token68 == "YWJj=");
  CHECK(challenges[0].parameters.empty());
  CHECK(challenges[1].token68 == "TlRMTVNTUAAB==");
  CHECK(challenges[2].parameters == Parameters{{"a", "b"}});
}

TEST_CASE("an unquoted URL is taken whole") {
  CHECK(only("Bearer resource_metadata=https://h/.well-known/x?y=z, error=e")
            .parameter("resource_metadata") == "https://h/.well-known/x?y=z");
}

TEST_CASE("empty items and odd white space change nothing") {
  CHECK(parse_challenges("").empty());
  CHECK(parse_challenges(" , ,").empty());
  const Challenge challenge = only(",, Bearer\ta=b ,, c = \"d\" ,");
  CHECK(challenge.parameters == Parameters{{"a", "b"}, {"c", "d"}});
}

TEST_CASE("what is not well-formed is skipped, and nothing else") {
  CHECK(bearer_parameter(parse_challenges(R"("stray", a=b, Bearer x="y")"), "x") == "y");
  CHECK(bearer_parameter(parse_challenges(R"(Bearer ?? "a, Bearer x=1", scope="s")"), "scope") ==
        "s");
  CHECK(bearer_parameter(parse_challenges(R"(Bearer scope="s", x="never closed)"), "scope") == "s");
  for (const char* field : {"=", "\"", "Bearer =", "Bearer a", "Bearer a=", "Bearer a=\"",
                            "Bearer a=\"\\", "a b c", "\\", ","}) {
    const std::string prefix(field);
    for (std::size_t length = 0; length <= prefix.size(); ++length)
      parse_challenges(prefix.substr(0, length));
    CHECK(bearer_parameter(parse_challenges(prefix), "scope") == "");
  }
}

TEST_CASE("where a resource's metadata are") {
  CHECK(resource_metadata_urls("https://h/mcp") ==
        Urls{"https://h/.well-known/oauth-protected-resource/mcp",
             "https://h/.well-known/oauth-protected-resource"});
  CHECK(resource_metadata_urls("https://h:8443/a/b/") ==
        Urls{"https://h:8443/.well-known/oauth-protected-resource/a/b/",
             "https://h:8443/.well-known/oauth-protected-resource/a/b",
             "https://h:8443/.well-known/oauth-protected-resource"});
  CHECK(resource_metadata_urls("https://h") ==
        Urls{"https://h/.well-known/oauth-protected-resource"});
  CHECK(resource_metadata_urls("nonsense://h").empty());
}

TEST_CASE("where an authorization server's metadata are") {
  CHECK(server_metadata_urls("https://as") ==
        Urls{"https://as/.well-known/oauth-authorization-server",
             "https://as/.well-known/openid-configuration"});
  CHECK(server_metadata_urls("https://as/") == server_metadata_urls("https://as"));
  const Urls with_path{"https://as/.well-known/oauth-authorization-server/t/1",
                       "https://as/.well-known/openid-configuration/t/1",
                       "https://as/t/1/.well-known/openid-configuration"};
  CHECK(server_metadata_urls("https://as/t/1") == with_path);
  CHECK(server_metadata_urls("https://as/t/1/") == with_path);
  for (const char* wrong :
       {"", "as", "ftp://as", "https://as?x=y", "https://as#f", "https://u:p@as"}) {
    CHECK(server_metadata_urls(wrong).empty());
  }
}

TEST_CASE("the resource is the upstream's URL without what is not its name") {
  CHECK(resource_of("https://user:pw@Host.Example:443/mcp?key=1#f") == "https://host.example/mcp");
  CHECK(resource_of("http://127.0.0.1:8080/mcp/") == "http://127.0.0.1:8080/mcp/");
  CHECK(resource_of("https://h/") == "https://h");
  CHECK(resource_of("http://[::1]:80/a/../b") == "http://[::1]/b");
}

TEST_CASE("a resource covers what is at its origin and below its path") {
  for (const char* resource : {"https://h/mcp", "https://h/mcp/", "https://H:443/mcp", "https://h"})
    CHECK_MESSAGE(covers_resource(resource, "https://h/mcp"), resource);
  CHECK(covers_resource("https://h/mcp", "https://h/mcp/"));
  for (const char* resource : {"https://h/", "https://h/a"})
    CHECK_MESSAGE(covers_resource(resource, "https://h/a/mcp"), resource);
  for (const char* other : {"https://h/mc", "https://h/mcp2", "https://h/mcp/x", "https://h/other",
                            "http://h/mcp", "https://g/mcp", "https://h:444/mcp", "https://h/mcp?x",
                            "https://h/mcp#f", "https://u@h/mcp", "", "mcp", "https://h.evil/mcp"})
    CHECK_MESSAGE(!covers_resource(other, "https://h/mcp"), other);
}

TEST_CASE("plain http is trusted on this machine only") {
  const auto trusted = [](const std::string& url) {
    const auto parsed = parse_web_url(url);
    return parsed && is_trustworthy(*parsed);
  };
  for (const char* url : {"https://anywhere/x", "http://127.0.0.1/x", "http://127.8.9.1:99",
                          "http://localhost:1/", "http://[::1]/"})
    CHECK_MESSAGE(trusted(url), url);
  for (const char* url :
       {"http://10.0.0.1/", "http://127.evil.example/", "http://localhost.evil.example/",
        "http://[::2]/", "file:///etc/passwd", "http:///x", "", "http://0.0.0.0/"})
    CHECK_MESSAGE(!trusted(url), url);
}

TEST_CASE("the operator's scope goes before the challenge's, and that before the server's") {
  WantedScope none("");
  CHECK(none.text("").empty());
  CHECK(none.text("a b") == "a b");
  none.challenge("c");
  CHECK(none.text("a b") == "c");
  WantedScope given("mine");
  given.challenge("c");
  CHECK(given.text("a b") == "mine");
}

TEST_CASE("a step asks for more beside what was had, and stays once it is made") {
  WantedScope scope("a");
  CHECK(scope.step_up("b a", scope.text("")));
  CHECK(scope.is_stepping());
  CHECK(scope.text("") == "b a");
  scope.step_made();
  CHECK(!scope.is_stepping());
  scope.challenge("c");
  CHECK(scope.step_up("d", scope.text("")));
  CHECK(scope.text("") == "d b a");
}

TEST_CASE("what a step has led to is gone on with, one under way is not") {
  WantedScope scope("a");
  CHECK(scope.step_up("b", scope.text("")));
  CHECK(scope.stepped().empty());
  scope.step_made();
  WantedScope next("a");
  next.restore(scope.stepped());
  CHECK(next.text("") == "b a");
}

TEST_CASE("a step that is refused is not tried again, one that nobody judged is") {
  WantedScope scope("a");
  CHECK(scope.step_up("b", "a"));
  CHECK(scope.step_failed(false));
  CHECK(scope.text("") == "a");
  CHECK(!scope.step_failed(false));
  CHECK(scope.step_up("b", "a"));
  CHECK(scope.step_failed(true));
  CHECK(scope.text("") == "a");
  CHECK(!scope.step_up("b", "a"));
  CHECK(!scope.is_stepping());
  scope.forgive();
  CHECK(scope.step_up("b", "a"));
}

TEST_CASE("no more than 64 steps are tried") {
  WantedScope scope("");
  for (int i = 0; i < 64; ++i) {
    CHECK(scope.step_up("s" + std::to_string(i), ""));
    CHECK(scope.step_failed(true));
  }
  CHECK(!scope.step_up("one more", ""));
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

TEST_CASE("an issuer is the same with and without the slash of an empty path, and no other") {
  struct Row {
    const char* one;
    const char* other;
    bool is_same;
  };
  for (const Row& row :
       {Row{"https://a", "https://a", true}, Row{"https://a/", "https://a", true},
        Row{"https://a", "https://a/", true}, Row{"https://a/", "https://a/", true},
        Row{"https://a:8443/", "https://a:8443", true}, Row{"https://a/b/", "https://a/b", false},
        Row{"https://a//", "https://a", false}, Row{"https://A/", "https://a", false},
        Row{"https://a:443/", "https://a", false}, Row{"https://a/?q", "https://a", false},
        Row{"https://a.b/", "https://a", false}, Row{"a/", "a", false}, Row{"", "https://a", false},
        Row{"https://", "https:///", true}}) {
    CAPTURE(row.one);
    CAPTURE(row.other);
    CHECK(is_same_issuer(row.one, row.other) == row.is_same);
    CHECK(is_same_issuer(row.other, row.one) == row.is_same);
  }
}

TEST_CASE("a person can log in where the metadata name a grant for persons, or none at all") {
  const auto is_for_persons = [](const std::string& members) {
    AuthorizationServer server;
    server.metadata = *read_server_metadata("{\"issuer\":\"https://a\"" + members + "}");
    return server.is_for_persons();
  };
  CHECK(is_for_persons(""));
  CHECK(is_for_persons(R"(,"grant_types_supported":[])"));
  CHECK(is_for_persons(R"(,"grant_types_supported":["refresh_token","authorization_code"])"));
  CHECK(!is_for_persons(R"(,"grant_types_supported":["client_credentials"])"));
  CHECK(!is_for_persons(
      R"(,"grant_types_supported":["urn:ietf:params:oauth:grant-type:jwt-bearer","refresh_token"])"));
  CHECK(is_for_persons(
      R"(,"grant_types_supported":["client_credentials"],"device_authorization_endpoint":"https://a/d")"));
  AuthorizationServer server;
  server.is_default = true;
  CHECK(!server.is_for_persons());
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

TEST_CASE("scopes are joined without repeating one") {
  CHECK(joined_scopes("b c", "a  b ") == "b c a");
  CHECK(joined_scopes("", "a") == "a");
  CHECK(joined_scopes("a", "") == "a");
}
