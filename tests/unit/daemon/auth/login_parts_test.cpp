#include <doctest/doctest.h>

#include "../../words.hpp"
#include "auth/browser_login.hpp"
#include "auth/device_login.hpp"
#include "auth/oauth_identity.hpp"
#include "auth/refresher.hpp"

using namespace bridge;

namespace {

ExpectedRedirect expected() { return {"the-state", "https://as.example", true}; }

RedirectVerdict verdict(const std::string& query, const ExpectedRedirect& wanted = expected()) {
  return judge(read_redirect(query), wanted);
}

}  // namespace

TEST_CASE("the challenge of a verifier is that of RFC 7636, appendix B") {
  CHECK(code_challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk") ==
        "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
}

TEST_CASE("what cannot be guessed has 43 characters and is another one each time") {
  CHECK(unguessable_text().size() == 43);
  CHECK(unguessable_text() != unguessable_text());
}

TEST_CASE("the authorization request names everything, encoded") {
  AuthorizationRequest request;
  request.endpoint = "https://as.example/authorize?tenant=1";
  request.client_id = "me&you";
  request.redirect_uri = "http://127.0.0.1:1/callback";
  request.scope = "a offline_access";
  request.state = "s";
  request.code_challenge = "c";
  request.resource = "https://r.example/mcp";
  CHECK(request.url() ==
        "https://as.example/authorize?tenant=1&response_type=code&client_id=me%26you"
        "&redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2Fcallback&scope=a%20offline_access&state=s"
        "&code_challenge=c&code_challenge_method=S256&resource=https%3A%2F%2Fr.example%2Fmcp"
        "&prompt=consent");
  request.endpoint = "https://as.example/authorize";
  request.scope.clear();
  CHECK(contains(request.url(), "/authorize?response_type"));
  CHECK(!contains(request.url(), "scope"));
  CHECK(!contains(request.url(), "prompt"));
}

TEST_CASE("an answer is judged by its state first, then by its issuer, then by what it says") {
  const std::string good = "code=c&state=the-state&iss=https%3A%2F%2Fas.example";
  CHECK(verdict(good) == RedirectVerdict::granted);
  CHECK(read_redirect(good).code == "c");
  CHECK(verdict("code=c&state=another&iss=https%3A%2F%2Fas.example") == RedirectVerdict::foreign);
  CHECK(verdict("code=c&iss=https%3A%2F%2Fas.example") == RedirectVerdict::foreign);
  CHECK(verdict("") == RedirectVerdict::foreign);
  CHECK(verdict(good + "&code=d") == RedirectVerdict::foreign);
  CHECK(verdict("code=c&state=the-state&iss=https%3A%2F%2Fas.example%2F") ==
        RedirectVerdict::granted);
  CHECK(verdict("code=c&state=the-state&iss=https%3A%2F%2Fas.example%2Fx") ==
        RedirectVerdict::wrong_issuer);
  CHECK(verdict("error=e&state=the-state&iss=HTTPS%3A%2F%2Fas.example") ==
        RedirectVerdict::wrong_issuer);
  CHECK(verdict("code=c&state=the-state") == RedirectVerdict::wrong_issuer);
  CHECK(verdict("error=e&state=the-state&iss=https%3A%2F%2Fas.example") ==
        RedirectVerdict::refused);
  CHECK(verdict("state=the-state&iss=https%3A%2F%2Fas.example") == RedirectVerdict::refused);
  ExpectedRedirect silent = expected();
  silent.issuer_is_announced = false;
  CHECK(verdict("code=c&state=the-state", silent) == RedirectVerdict::granted);
  CHECK(verdict("code=c&state=the-state&iss=x", silent) == RedirectVerdict::wrong_issuer);
  silent.state.clear();
  CHECK(verdict("code=c&state=", silent) == RedirectVerdict::foreign);
}

TEST_CASE("of a pasted address the query counts, with blanks around and a fragment behind") {
  CHECK(query_of_pasted("  http://127.0.0.1:1/callback?code=c&state=s#x\r\n") == "code=c&state=s");
  CHECK(query_of_pasted("http://127.0.0.1:1/callback").empty());
  CHECK(query_of_pasted("").empty());
}

TEST_CASE("a registration asks for what the server offers") {
  ServerMetadata server;
  const std::string plain = registration_request(server, "http://127.0.0.1:1/callback", "");
  CHECK(contains(plain, R"("application_type":"native")"));
  CHECK(contains(plain, R"("redirect_uris":["http://127.0.0.1:1/callback"])"));
  CHECK(contains(plain, R"("token_endpoint_auth_method":"none")"));
  CHECK(contains(plain, "refresh_token"));
  CHECK(!contains(plain, "device_code"));
  CHECK(!contains(plain, "scope"));
  server.device_authorization_endpoint = "https://as.example/device";
  server.token_endpoint_auth_methods = {"client_secret_post"};
  const std::string more = registration_request(server, "http://127.0.0.1:1/callback", "a b");
  CHECK(contains(more, "device_code"));
  CHECK(contains(more, "client_secret_post"));
  CHECK(contains(more, R"("scope":"a b")"));
}

TEST_CASE("a registration is read, or why it is none") {
  const auto read = [](int status, const std::string& body) {
    return read_registration(status, body, "http://127.0.0.1:1/callback");
  };
  const auto one = std::get<OAuthClient>(read(201, R"({"client_id":"me"})"));
  CHECK(one.id == "me");
  CHECK(one.place == SecretPlace::none);
  CHECK(one.is_registered);
  CHECK(std::get<OAuthClient>(read(201, R"({"client_id":"me","client_secret":"s"})")).place ==
        SecretPlace::basic);
  CHECK(std::get<OAuthClient>(read(200, R"({"client_id":"me","client_secret":"s",)"
                                        R"("token_endpoint_auth_method":"client_secret_post"})"))
            .place == SecretPlace::body);
  CHECK(contains(std::get<std::string>(read(400, R"({"error":"invalid_redirect_uri"})")),
                 "invalid_redirect_uri"));
  CHECK(std::holds_alternative<std::string>(read(201, "{}")));
  CHECK(std::holds_alternative<std::string>(read(201, "[]")));
  CHECK(std::holds_alternative<std::string>(read(201, R"({"client_id":"a\u0000b"})")));
}

TEST_CASE("a refresh token is sent a second time after a lost answer only, and never a third") {
  CHECK(next_step(RefreshEnd::granted, 1) == RefreshStep::use);
  CHECK(next_step(RefreshEnd::lost, 1) == RefreshStep::again);
  CHECK(next_step(RefreshEnd::lost, 2) == RefreshStep::log_in);
  CHECK(next_step(RefreshEnd::not_sent, 1) == RefreshStep::later);
  CHECK(next_step(RefreshEnd::unavailable, 1) == RefreshStep::later);
  CHECK(next_step(RefreshEnd::refused, 1) == RefreshStep::log_in);
}

TEST_CASE("a refresh is refused for good by any 4xx but those that ask for patience") {
  struct Row {
    int status;
    const char* error;
    RefreshEnd end;
  };
  for (const Row& row : {Row{400, "invalid_grant", RefreshEnd::refused},
                         Row{400, "invalid_request", RefreshEnd::refused},
                         Row{400, "invalid_scope", RefreshEnd::refused},
                         Row{400, "invalid_target", RefreshEnd::refused},
                         Row{400, "unauthorized_client", RefreshEnd::refused},
                         Row{400, "unsupported_grant_type", RefreshEnd::refused},
                         Row{400, "token_expired", RefreshEnd::refused},
                         Row{400, "", RefreshEnd::refused},
                         Row{401, "invalid_client", RefreshEnd::refused},
                         Row{401, "", RefreshEnd::refused},
                         Row{403, "access_denied", RefreshEnd::refused},
                         Row{404, "", RefreshEnd::refused},
                         Row{422, "invalid_refresh_token", RefreshEnd::refused},
                         Row{200, "invalid_grant", RefreshEnd::refused},
                         Row{500, "invalid_grant", RefreshEnd::refused},
                         Row{200, "", RefreshEnd::lost},
                         Row{408, "", RefreshEnd::unavailable},
                         Row{429, "slow_down", RefreshEnd::unavailable},
                         Row{500, "server_error", RefreshEnd::unavailable},
                         Row{503, "", RefreshEnd::unavailable},
                         Row{302, "", RefreshEnd::unavailable}}) {
    CAPTURE(row.status);
    CAPTURE(row.error);
    CHECK(refresh_end(row.status, row.error) == row.end);
  }
}

TEST_CASE("a device code is read, with bounds for its times") {
  const auto read = [](const std::string& more) {
    return read_device_code(
        200, R"({"device_code":"d","user_code":"AB-CD","verification_uri":"https://as.example/d")" +
                 more + "}");
  };
  const auto plain = std::get<DeviceCode>(read(""));
  CHECK(plain.interval == std::chrono::seconds(5));
  const auto bounded = std::get<DeviceCode>(read(R"(,"interval":0,"expires_in":999999)"));
  CHECK(bounded.interval == std::chrono::seconds(1));
  CHECK(bounded.expires_in == std::chrono::minutes(30));
  CHECK(std::holds_alternative<std::string>(read_device_code(
      200, R"({"device_code":"d","user_code":"A","verification_uri":"http://as.example/d"})")));
  CHECK(std::holds_alternative<std::string>(read_device_code(
      200, R"({"device_code":"d","user_code":"A\n","verification_uri":"https://as.example/"})")));
  CHECK(contains(std::get<std::string>(read_device_code(400, R"({"error":"invalid_client"})")),
                 "invalid_client"));
}

TEST_CASE("what a poll means") {
  CHECK(judge_poll(400, "authorization_pending") == DevicePoll::pending);
  CHECK(judge_poll(400, "slow_down") == DevicePoll::slow_down);
  CHECK(judge_poll(400, "access_denied") == DevicePoll::denied);
  CHECK(judge_poll(400, "expired_token") == DevicePoll::expired);
  CHECK(judge_poll(503, "") == DevicePoll::slow_down);
  CHECK(judge_poll(0, "") == DevicePoll::slow_down);
  CHECK(judge_poll(400, "invalid_grant") == DevicePoll::refused);
}

TEST_CASE("the redirect comes back to this machine only") {
  CHECK(RedirectPlace::parse("127.0.0.1:0")->uri(80) == "http://127.0.0.1:80/callback");
  CHECK(RedirectPlace::parse("localhost:1")->uri(1) == "http://localhost:1/callback");
  CHECK(RedirectPlace::parse("[::1]:1")->uri(1) == "http://[::1]:1/callback");
  for (const char* elsewhere : {"0.0.0.0:1", "192.0.2.1:1", "example.com:1", ""})
    CHECK_MESSAGE(!RedirectPlace::parse(elsewhere), elsewhere);
}

TEST_CASE("a page says what happened, runs nothing and is not kept") {
  for (const RedirectPage page :
       {RedirectPage::logged_in, RedirectPage::not_logged_in, RedirectPage::unknown_address}) {
    const HttpResponse response = redirect_page(page);
    CHECK(response.status == (page == RedirectPage::unknown_address ? 400 : 200));
    CHECK(!contains(response.body, "<script"));
    CHECK(!contains(response.body, "href"));
    CHECK(response.headers.size() == 4);
  }
}
