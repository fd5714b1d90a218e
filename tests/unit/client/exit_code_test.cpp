#include <doctest/doctest.h>

#include <fmt/format.h>

#include "verbs/failure.hpp"

using namespace client;

namespace {

std::string bridge_error(std::string_view kind) {
  return fmt::format(
      R"({{"code":-32000,"message":"m","data":{{"source":"bridge","kind":"{}","delivered":"no"}}}})",
      kind);
}

}  // namespace

TEST_CASE("the exit code of an error tells where it comes from") {
  for (const char* kind : {"dns", "connect", "tls", "closed", "session", "auth", "too_large"}) {
    CAPTURE(kind);
    CHECK(exit_code_for_error(bridge_error(kind)) == ExitCode::upstream);
  }
  CHECK(exit_code_for_error(bridge_error("timeout")) == ExitCode::timed_out);
  CHECK(exit_code_for_error(bridge_error("shutdown")) == ExitCode::unreachable);
  for (const char* kind : {"malformed", "http", "overloaded", "", "new"}) {
    CAPTURE(kind);
    CHECK(exit_code_for_error(bridge_error(kind)) == ExitCode::answered_error);
  }
}

TEST_CASE("what met the opening of the session is the upstream's, whatever it was") {
  const auto at_opening = [](std::string_view kind) {
    return fmt::format(
        R"({{"code":-32001,"message":"m","data":{{"source":"bridge","kind":"{}","opening":true}}}})",
        kind);
  };
  CHECK(exit_code_for_error(at_opening("http")) == ExitCode::upstream);
  CHECK(exit_code_for_error(at_opening("malformed")) == ExitCode::upstream);
  CHECK(exit_code_for_error(at_opening("timeout")) == ExitCode::timed_out);
  CHECK(exit_code_for_error(at_opening("overloaded")) == ExitCode::answered_error);
}

TEST_CASE("an error of the server itself is 1, whatever its data says") {
  CHECK(exit_code_for_error(R"({"code":-32602,"message":"m"})") == ExitCode::answered_error);
  CHECK(exit_code_for_error(R"({"data":{"kind":"dns"}})") == ExitCode::answered_error);
  CHECK(exit_code_for_error(R"({"data":{"source":"server","kind":"dns"}})") ==
        ExitCode::answered_error);
  CHECK(exit_code_for_error(R"({"data":"bridge"})") == ExitCode::answered_error);
  CHECK(exit_code_for_error(R"({"data":{"source":1,"kind":"dns"}})") == ExitCode::answered_error);
}

TEST_CASE("a refused token is told with the server's words and hints, and was not undelivered") {
  const std::string refused = describe_error(
      R"({"code":-32001,"message":"HTTP 401: Unauthorized","data":{"source":"bridge","kind":"auth",)"
      R"("delivered":"no","status":401,"wwwAuthenticate":"Bearer realm=\"x\"",)"
      R"("mcpAuthServer":"https://as.example","upstream":{"code":-32001,"message":"token expired"}}})");
  CHECK(refused.find("did not get the request") == std::string::npos);
  CHECK(refused.find("the server has not acted on the request") != std::string::npos);
  CHECK(refused.find("WWW-Authenticate: Bearer realm=\"x\"") != std::string::npos);
  CHECK(refused.find("Mcp-Auth-Server: https://as.example") != std::string::npos);
  CHECK(refused.find("the server said: token expired") != std::string::npos);
  const std::string at_opening = describe_error(
      R"({"code":-32001,"message":"HTTP 401","data":{"source":"bridge","kind":"auth",)"
      R"("delivered":"no","status":401,"opening":true}})");
  CHECK(at_opening.find("the request was not sent") != std::string::npos);
}

TEST_CASE("an error of the daemon about a job is told as its own") {
  CHECK(describe_daemon_error(R"({"code":-32602,"message":"the job has not ended"})") ==
        "the job has not ended");
  CHECK(describe_daemon_error(
            R"({"code":-32602,"message":"no such job","data":{"source":"bridge","kind":"job"}})") ==
        "no such job");
  CHECK(describe_daemon_error("{}") == describe_error("{}"));
}

TEST_CASE("what the server has got is not told as undelivered") {
  const std::string busy = describe_error(
      R"({"code":-32001,"message":"HTTP 429","data":{"source":"bridge","kind":"http",)"
      R"("delivered":"no","status":429,"retryAfterMs":2000}})");
  CHECK(busy ==
        "HTTP 429; the server has not acted on the request, it can be sent again; try again in "
        "2000 ms");
}

TEST_CASE("an error is described in a way that says what to do") {
  CHECK(describe_error(R"({"code":-32602,"message":"Unknown tool"})") ==
        "the server answered: Unknown tool");
  CHECK(describe_error(R"({"code":1,"message":"m","data":{"x":0.10}})") ==
        R"(the server answered: m {"x":0.10})");
  CHECK(describe_error(bridge_error("dns")) ==
        "m; the server did not get the request, it can be sent again");
  CHECK(describe_error(bridge_error("shutdown")) == "m; the request was not sent");
  CHECK(describe_error("{\"code\":1e400}") ==
        "the server answered with an error: {\"code\":1e400}");
  CHECK(describe_error(R"({"code":1,"message":"m","data":")" + std::string(5000, 'x') + "\"}")
            .size() < 700);
}

TEST_CASE("a server that may not ask says so, and what opens the session otherwise") {
  const std::string hint = hint_for_capability("Client does not support form elicitation.");
  CHECK(hint.find("mcp-bridged --client-capabilities '{\"elicitation\":{}}'") != std::string::npos);
  CHECK(hint_for_capability("Client does not support sampling").find("\"sampling\"") !=
        std::string::npos);
  CHECK(hint_for_capability("elicitation failed").empty());
  CHECK(describe_error(R"({"code":-32602,"message":"Client does not support roots"})")
            .find("--client-capabilities") != std::string::npos);
}

TEST_CASE("the pages that a server wants opened first are told in lines") {
  constexpr std::string_view error =
      R"({"code":-32042,"message":"Log in","data":{"elicitations":[{"mode":"url","elicitationId":"1","url":"https://a.example@evil.example/\u202e","message":"Sign\n  host:    a.example"}]}})";
  CHECK(describe_error(error) == "the server answered: Log in");
  const std::string pages = describe_pages(error);
  CHECK(pages.find("\n  host:    evil.example\n") != pages.npos);
  CHECK(pages.find("\n  host:    a.example") == pages.npos);
  CHECK(pages.find("\\u202e") != pages.npos);
  CHECK(pages.find("beware") != pages.npos);
  CHECK(hint_of_pages(error).starts_with("open https://a.example@evil.example/"));
  for (const char* other : {"{}", "7", R"({"code":-32042,"message":"m"})",
                            R"({"code":-32042,"data":{"elicitations":[7,{"message":"x"}]}})",
                            R"({"code":1,"data":{"elicitations":[{"url":"https://x/"}]}})"}) {
    CHECK(describe_pages(other).empty());
    CHECK(hint_of_pages(other).empty());
  }
}
