#include "auth/oauth_token.hpp"

#include "../event/loop_fixture.hpp"
#include "http/client/curl_loop.hpp"
#include "http/client/web_url.hpp"
#include "scripted_http_server.hpp"
#include "text/characters.hpp"

using namespace bridge;

namespace {

struct OAuthFixture : LoopFixture {
  OAuthFixture() {
    upstream.url = server.origin() + "/mcp";
    options.client_id = "me";
    options.client_secret_file = write("secret", "hush-hush\n");
  }

  /// Everything that a conforming resource and its server return.
  void serve_metadata(
      const std::string& resource_place = "/.well-known/oauth-protected-resource/mcp") {
    server.answer(resource_place, 200, resource_metadata(upstream.url));
    server.answer("/.well-known/oauth-authorization-server/as", 200, server_metadata(issuer()));
    serve_tokens();
  }
  std::string issuer() const { return server.origin() + "/as"; }
  std::string resource_metadata(const std::string& resource) const {
    return R"({"resource":")" + resource + R"(","authorization_servers":[")" + issuer() +
           R"("],"scopes_supported":["a","b"]})";
  }
  std::string server_metadata(const std::string& named, const std::string& more = "") const {
    return R"({"issuer":")" + named + R"(","token_endpoint":")" + server.origin() + R"(/token")" +
           more + "}";
  }
  void serve_tokens() {
    server.answer("/token", [this](const ScriptedHttpServer::Request&) {
      return HttpResponse{200,
                          "application/json",
                          R"({"access_token":"token-)" + std::to_string(++tokens) +
                              R"(","token_type":"Bearer","expires_in":3600})",
                          {}};
    });
  }

  OAuthToken source() { return OAuthToken(loop, curl, options, upstream, log); }

  /// The first message is sent without a token, and is refused.
  static void challenge(OAuthToken& source, const std::string& parameters = "") {
    CHECK(source.current() == "");
    CHECK(source.refused("", {401, "Bearer " + parameters}));
    CHECK(!source.current());
  }

  std::string failure_of(OAuthToken& source) {
    const TokenAnswer answer = fetch(source);
    REQUIRE(answer.failure);
    CHECK(answer.failure->kind == ErrorKind::auth);
    CHECK(answer.failure->delivered == Delivered::no);
    CHECK(answer.failure->message.find("hush-hush") == std::string::npos);
    return answer.failure->message;
  }

  std::string field(const std::string& name) const {
    const std::string form = "&" + server.seen().back().body + "&";
    const auto at = form.find("&" + name + "=");
    if (at == form.npos) return {};
    const auto begin = at + name.size() + 2;
    return form.substr(begin, form.find('&', begin) - begin);
  }

  ScriptedHttpServer server{loop};
  CurlLoop curl{loop};
  HttpOptions upstream;
  OAuthOptions options;
  int tokens = 0;
};

}  // namespace

TEST_CASE_FIXTURE(OAuthFixture, "a token URL that is given needs no challenge") {
  options.token_url = server.origin() + "/token";
  options.scope = "x y";
  serve_tokens();
  OAuthToken asked = source();
  CHECK(!asked.current());
  CHECK(fetch(asked).token == "token-1");
  CHECK(asked.current() == "token-1");
  REQUIRE(server.seen().size() == 1);
  const RequestHead& head = server.seen()[0].head;
  CHECK(head.header("authorization") == basic_credentials("me", "hush-hush"));
  CHECK(head.header("content-type") == "application/x-www-form-urlencoded");
  CHECK(field("grant_type") == "client_credentials");
  CHECK(field("resource") == percent_encoded(upstream.url));
  CHECK(field("scope") == "x%20y");
}

TEST_CASE_FIXTURE(OAuthFixture,
                  "the challenge leads to the resource's metadata, the server's, and a token") {
  serve_metadata("/elsewhere");
  OAuthToken asked = source();
  challenge(asked, "resource_metadata=\"" + server.origin() + "/elsewhere\", scope=\"s\"");
  CHECK(fetch(asked).token == "token-1");
  CHECK(server.lines() == std::vector<std::string>{"GET /elsewhere",
                                                   "GET /.well-known/oauth-authorization-server/as",
                                                   "POST /token"});
  CHECK(field("scope") == "s");
}

TEST_CASE_FIXTURE(OAuthFixture, "without a hint the well-known places are tried in order") {
  serve_metadata("/.well-known/oauth-protected-resource");
  server.answer("/.well-known/oauth-authorization-server/as", 404, "");
  server.answer("/as/.well-known/openid-configuration", 200, server_metadata(issuer()));
  OAuthToken asked = source();
  challenge(asked);
  CHECK(fetch(asked).token == "token-1");
  CHECK(server.lines() == std::vector<std::string>{"GET /.well-known/oauth-protected-resource/mcp",
                                                   "GET /.well-known/oauth-protected-resource",
                                                   "GET /.well-known/oauth-authorization-server/as",
                                                   "GET /.well-known/openid-configuration/as",
                                                   "GET /as/.well-known/openid-configuration",
                                                   "POST /token"});
  CHECK(field("scope") == "a%20b");
}

TEST_CASE_FIXTURE(OAuthFixture,
                  "metadata of another resource or issuer are refused, and no secret is sent") {
  const std::string of_resource = "/.well-known/oauth-protected-resource/mcp";
  const std::string of_server = "/.well-known/oauth-authorization-server/as";
  const std::string use_option = "--oauth-token-url";
  struct Row {
    std::vector<std::tuple<std::string, int, std::string>> answers;
    std::string announced;
    std::vector<std::string> parts;
  };
  const Row rows[] = {
      {{{of_resource, 200, resource_metadata("https://other/mcp")}},
       "",
       {"another resource, 'https://other/mcp'"}},
      {{{of_server, 200, server_metadata(issuer() + "/")}}, "", {"the issuer is"}},
      // A token endpoint in the clear.
      {{{of_server, 200,
         R"({"issuer":")" + issuer() + R"(","token_endpoint":"http://192.0.2.1/token"})"}},
       "",
       {"not an https URL"}},
      {{{of_resource, 404, ""}}, server.origin() + "/elsewhere", {"HTTP 404", use_option}},
      {{{of_resource, 404, ""}, {"/.well-known/oauth-protected-resource", 503, ""}},
       "",
       {use_option}},
      {{{of_resource, 200, "<html>"}}, "", {"not a JSON object"}},
      // Another issuer at the origin of a resource without metadata.
      {{{of_resource, 404, ""},
        {"/.well-known/oauth-authorization-server", 200, server_metadata(issuer())}},
       "",
       {"the issuer is", use_option}},
      {{{of_resource, 200, std::string(300 << 10, ' ')}}, "", {"over 256 KiB"}},
  };
  for (const Row& row : rows) {
    server.forget_answers();
    serve_metadata();
    for (const auto& [path, status, body] : row.answers) server.answer(path, status, body);
    OAuthToken asked = source();
    challenge(asked, row.announced.empty() ? "" : "resource_metadata=\"" + row.announced + '"');
    const std::string message = failure_of(asked);
    CAPTURE(message);
    for (const std::string& part : row.parts) CHECK(contains(message, part));
  }
  CHECK(server.count("POST /token") == 0);
}

TEST_CASE_FIXTURE(OAuthFixture, "the issuer may be named with and without its final slash") {
  for (const std::string in_resource : {"", "/"}) {
    for (const std::string in_server : {"", "/"}) {
      CAPTURE(in_resource);
      CAPTURE(in_server);
      server.forget_answers();
      tokens = 0;
      serve_tokens();
      server.answer("/.well-known/oauth-protected-resource/mcp", 200,
                    R"({"resource":")" + upstream.url + R"(","authorization_servers":[")" +
                        server.origin() + in_resource + R"("]})");
      server.answer("/.well-known/oauth-authorization-server", 200,
                    server_metadata(server.origin() + in_server));
      OAuthToken asked = source();
      challenge(asked);
      CHECK(fetch(asked).token == "token-1");
    }
  }
}

TEST_CASE_FIXTURE(OAuthFixture,
                  "metadata in the clear are not fetched; those at the well-known place are") {
  serve_metadata();
  OAuthToken asked = source();
  challenge(asked, "resource_metadata=\"http://192.0.2.1/x\"");
  CHECK(fetch(asked).token == "token-1");
}

TEST_CASE_FIXTURE(OAuthFixture,
                  "a resource without metadata is one of 2025-03-26: its origin is the server") {
  serve_tokens();
  std::vector<std::string> searched{"GET /.well-known/oauth-protected-resource/mcp",
                                    "GET /.well-known/oauth-protected-resource",
                                    "GET /.well-known/oauth-authorization-server"};
  SUBCASE("with the default endpoints") {
    server.answer("/.well-known/oauth-protected-resource", 401, "");  // needs a token there too
    searched.emplace_back("GET /.well-known/openid-configuration");
    searched.emplace_back("POST /token");
  }
  SUBCASE("with metadata there, which come first") {
    std::string slash;
    SUBCASE("whose issuer is the origin") {}
    SUBCASE("or ends with a slash") { slash = "/"; }
    server.answer("/.well-known/oauth-authorization-server", 200,
                  R"({"issuer":")" + server.origin() + slash + R"(","token_endpoint":")" +
                      server.origin() + R"(/oauth/token"})");
    server.answer("/oauth/token", 200, R"({"access_token":"token-1","token_type":"Bearer"})");
    searched.emplace_back("POST /oauth/token");
  }
  OAuthToken asked = source();
  challenge(asked);
  CHECK(fetch(asked).token == "token-1");
  CHECK(server.lines() == searched);
  CHECK(field("resource") == percent_encoded(upstream.url));
}

TEST_CASE_FIXTURE(OAuthFixture, "default endpoints that are not there say why they were tried") {
  OAuthToken asked = source();
  challenge(asked);
  const std::string message = failure_of(asked);
  for (const char* part :
       {"/token: HTTP 404", "has no metadata", "2025-03-26", "--oauth-token-url"})
    CHECK(contains(message, part));
}

TEST_CASE_FIXTURE(OAuthFixture, "an assertion is read for each token, and none is of the source") {
  options.grant = OAuthGrant::jwt_bearer;
  options.client_id.clear();
  options.client_secret_file.clear();
  options.assertion_file = write("jwt", "first.jwt.x\n");
  serve_metadata();
  OAuthToken asked = source();
  challenge(asked);
  CHECK(fetch(asked).token == "token-1");
  CHECK(field("assertion") == "first.jwt.x");
  CHECK(field("resource") == percent_encoded(upstream.url));
  CHECK(field("scope") == "a%20b");
  CHECK(field("client_id").empty());
  write("jwt", "second.jwt.x\n");
  CHECK(asked.refused("token-1", {401, "Bearer"}));
  CHECK(fetch(asked).token == "token-2");
  CHECK(field("assertion") == "second.jwt.x");
  ::unlink(options.assertion_file.c_str());
  CHECK(asked.refused("token-2", {401, "Bearer"}));
  CHECK(failure_of(asked).starts_with("--oauth-assertion-file: "));
}

TEST_CASE_FIXTURE(OAuthFixture, "the secret is posted if the server takes nothing else") {
  serve_metadata();
  server.answer(
      "/.well-known/oauth-authorization-server/as", 200,
      server_metadata(issuer(),
                      R"(,"token_endpoint_auth_methods_supported":["client_secret_post"])"));
  OAuthToken asked = source();
  challenge(asked);
  CHECK(fetch(asked).token == "token-1");
  CHECK(field("client_secret") == "hush-hush");
  CHECK(server.seen().back().head.header("authorization").empty());
}

TEST_CASE_FIXTURE(OAuthFixture, "a refused token is replaced once for all who had it") {
  options.token_url = server.origin() + "/token";
  serve_tokens();
  OAuthToken asked = source();
  CHECK(fetch(asked).token == "token-1");
  CHECK(asked.refused("token-1", {401, "Bearer error=\"invalid_token\""}));
  CHECK(!asked.current());
  CHECK(fetch(asked).token == "token-2");
  CHECK(asked.refused("token-1", {401, ""}));
  CHECK(asked.current() == "token-2");
  CHECK(server.seen().size() == 2);
}

TEST_CASE_FIXTURE(OAuthFixture, "a challenge that names other metadata leads there") {
  serve_metadata();
  OAuthToken asked = source();
  challenge(asked);
  CHECK(fetch(asked).token == "token-1");
  server.answer("/moved", 200, resource_metadata(upstream.url));
  CHECK(asked.refused("token-1",
                      {401, "Bearer resource_metadata=\"" + server.origin() + "/moved\""}));
  CHECK(fetch(asked).token == "token-2");
  CHECK(server.count("GET /moved") == 1);
  CHECK(asked.refused("token-2",
                      {401, "Bearer resource_metadata=\"" + server.origin() + "/moved\""}));
  CHECK(fetch(asked).token == "token-3");
  CHECK(server.count("GET /moved") == 1);
}

TEST_CASE_FIXTURE(OAuthFixture,
                  "a 403 that names a scope is stepped up to once, and keeps what was had") {
  options.token_url = server.origin() + "/token";
  options.scope = "read";
  serve_tokens();
  OAuthToken asked = source();
  CHECK(fetch(asked).token == "token-1");
  const TokenChallenge more{403, R"(Bearer error="insufficient_scope", scope="write")"};
  CHECK(!asked.refused("token-1", {403, ""}));
  CHECK(!asked.refused("token-1", {403, R"(Bearer error="insufficient_scope")"}));
  CHECK(!asked.refused("token-1", {403, R"(Bearer error="invalid_token", scope="write")"}));
  CHECK(asked.refused("token-1", more));
  CHECK(asked.refused("token-1", more));  // another request, with the same token
  CHECK(!asked.current());
  CHECK(fetch(asked).token == "token-2");
  CHECK(field("scope") == "write%20read");
  CHECK(!asked.refused("token-2", more));
  CHECK(asked.current() == "token-2");
  const auto saved = asked.save();
  REQUIRE(saved);
  OAuthToken later = source();
  later.restore(*saved);
  CHECK(later.current() == "token-2");
  CHECK(later.refused("token-2", {401, ""}));
  CHECK(fetch(later).token == "token-3");
  CHECK(field("scope") == "write%20read");
}

TEST_CASE_FIXTURE(OAuthFixture, "the endpoint's error is passed on without what was sent to it") {
  options.token_url = server.origin() + "/token?key=hidden";
  server.answer("/token", 401,
                R"({"error":"invalid_client","error_description":"\u0068ush-hush is wrong, )" +
                    basic_credentials("me", "hush-hush").substr(6) + "\"}");
  OAuthToken asked = source();
  CHECK(failure_of(asked) ==
        "no token from " + server.origin() + "/token: HTTP 401: invalid_client: *** is wrong, ***");
}

TEST_CASE_FIXTURE(OAuthFixture, "a secret file that cannot be read, a server that is not there") {
  options.token_url = "http://127.0.0.1:1/token";
  OAuthToken unreachable = source();
  CHECK(contains(failure_of(unreachable), "127.0.0.1:1/token"));
  options.client_secret_file = path("nowhere");
  OAuthToken asked = source();
  CHECK(contains(failure_of(asked), path("nowhere")));
}

TEST_CASE_FIXTURE(OAuthFixture, "a source that goes while it waits for an answer leaves nothing") {
  serve_metadata();
  std::optional<OAuthToken> asked(std::in_place, loop, curl, options, upstream, log);
  challenge(*asked);
  asked->fetch([](const TokenAnswer&) { FAIL("nobody is there to be answered"); });
  run_until([&] { return !server.seen().empty(); });
  asked.reset();
  while (loop.run_once(std::chrono::milliseconds(50)) > 0) {
  }
  CHECK(server.count("POST /token") == 0);
}

TEST_CASE_FIXTURE(OAuthFixture,
                  "a public server names no server at a private address, unless that is allowed") {
  serve_metadata();
  for (const bool is_allowed : {false, true}) {
    options.allow_private = is_allowed;
    OAuthToken asked = source();
    CHECK(asked.current() == "");
    CHECK(asked.refused("", {401, "Bearer ", true}));
    if (is_allowed) {
      CHECK(fetch(asked).token == "token-1");
    } else {
      CHECK(contains(failure_of(asked), "private address"));
      CHECK(server.seen().empty());
    }
  }
}
