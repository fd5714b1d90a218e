#include <doctest/doctest.h>
#include <fmt/format.h>

#include "json/document.hpp"
#include "render/failure.hpp"

using namespace client;

namespace {

std::string bridge_error(std::string_view kind) {
  return fmt::format(
      R"({{"code":-32000,"message":"m","data":{{"source":"bridge","kind":"{}","delivered":"no"}}}})",
      kind);
}

}  // namespace

TEST_CASE("the exit code of an error tells where it comes from") {
  for (const char* kind : {"dns", "connect", "tls", "closed", "session", "auth", "too_large"})
    CHECK_MESSAGE(read_error(bridge_error(kind)).code == ExitCode::upstream, kind);
  CHECK(read_error(bridge_error("timeout")).code == ExitCode::timed_out);
  CHECK(read_error(bridge_error("shutdown")).code == ExitCode::unreachable);
  for (const char* kind : {"malformed", "http", "overloaded", "", "new"})
    CHECK_MESSAGE(read_error(bridge_error(kind)).code == ExitCode::answered_error, kind);
}

TEST_CASE("what met the opening of the session is the upstream's, whatever it was") {
  const auto at_opening = [](std::string_view kind) {
    return fmt::format(
        R"({{"code":-32001,"message":"m","data":{{"source":"bridge","kind":"{}","opening":true}}}})",
        kind);
  };
  CHECK(read_error(at_opening("http")).code == ExitCode::upstream);
  CHECK(read_error(at_opening("malformed")).code == ExitCode::upstream);
  CHECK(read_error(at_opening("timeout")).code == ExitCode::timed_out);
  CHECK(read_error(at_opening("overloaded")).code == ExitCode::answered_error);
}

TEST_CASE("an error of the server itself is 1, whatever its data says") {
  for (const char* error : {R"({"code":-32602,"message":"m"})", R"({"data":{"kind":"dns"}})",
                            R"({"data":{"source":"server","kind":"dns"}})", R"({"data":"bridge"})",
                            R"({"data":{"source":1,"kind":"dns"}})"})
    CHECK_MESSAGE(read_error(error).code == ExitCode::answered_error, error);
}

TEST_CASE("a refused token is told with the server's words and hints, and was not undelivered") {
  const std::string refused =
      read_error(
          R"({"code":-32001,"message":"HTTP 401: Unauthorized","data":{"source":"bridge","kind":"auth",)"
          R"("delivered":"no","status":401,"wwwAuthenticate":"Bearer realm=\"x\"",)"
          R"("mcpAuthServer":"https://as.example","upstream":{"code":-32001,"message":"token expired"}}})")
          .shown;
  CHECK(refused.find("did not get the request") == std::string::npos);
  CHECK(refused.find("the server has not acted on the request") != std::string::npos);
  CHECK(refused.find("WWW-Authenticate: Bearer realm=\"x\"") != std::string::npos);
  CHECK(refused.find("Mcp-Auth-Server: https://as.example") != std::string::npos);
  CHECK(refused.find("the server said: token expired") != std::string::npos);
  CHECK(
      refused.ends_with("; if its token is missing or wrong, give the daemon its token: start "
                        "mcp-bridged with --token-file or MCP_SERVER_TOKEN"));
  const std::string at_opening =
      read_error(R"({"code":-32001,"message":"HTTP 401","data":{"source":"bridge","kind":"auth",)"
                 R"("delivered":"no","status":401,"opening":true}})")
          .shown;
  CHECK(at_opening.find("the request was not sent") != std::string::npos);
}

TEST_CASE("an error of the daemon about a job is told as its own") {
  CHECK(read_daemon_error(R"({"code":-32602,"message":"the job has not ended"})").shown ==
        "the job has not ended");
  CHECK(read_daemon_error(
            R"({"code":-32602,"message":"no such job","data":{"source":"bridge","kind":"job"}})")
            .shown == "no such job");
  CHECK(read_daemon_error("{}").shown == read_error("{}").shown);
}

TEST_CASE("what the server has got is not told as undelivered") {
  const std::string busy =
      read_error(R"({"code":-32001,"message":"HTTP 429","data":{"source":"bridge","kind":"http",)"
                 R"("delivered":"no","status":429,"retryAfterMs":2000}})")
          .shown;
  CHECK(busy ==
        "HTTP 429; the server has not acted on the request, it can be sent again; try again in "
        "2 s");
  CHECK(read_error(R"({"code":1,"message":"m","data":{"source":"bridge","retryAfterMs":1500}})")
            .shown == "m; try again in 1500 ms");
}

TEST_CASE("a request is said to be repeatable only if that may help") {
  const auto shown = [](const std::string& kind, int status) {
    return read_error(fmt::format(
                          R"({{"code":-32000,"message":"m","data":{{"source":"bridge","kind":"{}",)"
                          R"("delivered":"no"{}}}}})",
                          kind, status == 0 ? "" : fmt::format(",\"status\":{}", status)))
        .shown;
  };
  for (const char* kind : {"connect", "dns", "timeout", "closed", "session", "overloaded"})
    CHECK_MESSAGE(shown(kind, 0).ends_with(", it can be sent again"), kind);
  for (const char* kind : {"tls", "malformed", "too_large", "no_client"})
    CHECK_MESSAGE(shown(kind, 0) == "m; the server did not get the request", kind);
  CHECK(shown("not_initialized", 0) ==
        "m; the server did not get the request; start mcp-bridged with --handshake lazy");
  for (const int status : {408, 429, 500, 502, 503, 504})
    CHECK_MESSAGE(shown("http", status).ends_with(", it can be sent again"), status);
  for (const int status : {400, 404, 405, 410, 422, 501, 505})
    CHECK_MESSAGE(shown("http", status) == "m; the server has not acted on the request", status);
}

TEST_CASE("an error is described in a way that says what to do") {
  CHECK(read_error(R"({"code":-32602,"message":"Unknown tool"})").shown ==
        "the server answered: Unknown tool");
  CHECK(read_error(R"({"code":-32602,"message":"Unknown tool\r\n"})").shown ==
        "the server answered: Unknown tool");
  CHECK(read_error(R"({"code":1,"message":"m","data":{"x":0.10}})").shown ==
        R"(the server answered: m {"x":0.10})");
  CHECK(read_error(bridge_error("dns")).shown ==
        "m; the server did not get the request, it can be sent again");
  CHECK(read_error(bridge_error("shutdown")).shown == "m; the request was not sent");
  const auto at_start = read_error(
      R"({"code":-32000,"message":"node ended with exit code 1","data":{"source":"bridge",)"
      R"("kind":"closed","delivered":"no","opening":true}})");
  CHECK(at_start.shown == "node ended with exit code 1; the request was not sent");
  CHECK(at_start.is_failed_start);
  CHECK_FALSE(read_error(bridge_error("closed")).is_failed_start);
  CHECK(read_error("{\"code\":1e400}").shown ==
        "the server answered with an error: {\"code\":1e400}");
  CHECK(read_error(R"({"code":1,"message":"m","data":")" + std::string(5000, 'x') + "\"}")
            .shown.size() < 700);
}

TEST_CASE("a server that may not ask says so, and what opens the session otherwise") {
  const std::string hint = hint_for_capability("Client does not support form elicitation.");
  CHECK(hint.find("mcp-bridged --client-capabilities '{\"elicitation\":{}}'") != std::string::npos);
  CHECK(hint_for_capability("Client does not support sampling").find("\"sampling\"") !=
        std::string::npos);
  CHECK(hint_for_capability("elicitation failed").empty());
  CHECK(read_error(R"({"code":-32602,"message":"Client does not support roots"})")
            .shown.find("--client-capabilities") != std::string::npos);
}

TEST_CASE("the pages that a server wants opened first are told in lines") {
  constexpr std::string_view error =
      R"({"code":-32042,"message":"Log in","data":{"elicitations":[{"mode":"url","elicitationId":"1","url":"https://a.example@evil.example/\u202e","message":"Sign\n  host:    a.example"}]}})";
  CHECK(read_error(error).shown == "the server answered: Log in");
  const std::string pages = read_error(error).pages;
  CHECK(pages.find("\n  host:    evil.example\n") != pages.npos);
  CHECK(pages.find("\n  host:    a.example") == pages.npos);
  CHECK(pages.find("\\u202e") != pages.npos);
  CHECK(pages.find("beware") != pages.npos);
  CHECK(read_error(error).hint.starts_with("open https://a.example@evil.example/"));
  for (const char* other : {"{}", "7", R"({"code":-32042,"message":"m"})",
                            R"({"code":-32042,"data":{"elicitations":[7,{"message":"x"}]}})",
                            R"({"code":1,"data":{"elicitations":[{"url":"https://x/"}]}})"}) {
    CHECK(read_error(other).pages.empty());
    CHECK(read_error(other).hint.empty());
  }
}

TEST_CASE("an error says whose it is, and whether the server has the request") {
  const Failure theirs = read_error(R"({"code":-32601,"message":"no such"})");
  CHECK(
      error_object(theirs).text() + "\n" ==
      "{\"error\":{\"kind\":\"server\",\"code\":-32601,\"delivered\":\"yes\",\"message\":\"no such\","
      "\"hint\":\"\"}}\n");
  const Failure ours = read_error(
      R"({"code":-32000,"message":"m","data":{"source":"bridge","kind":"connect","delivered":"no"}})");
  CHECK(ours.kind == "connect");
  CHECK(ours.delivered == "no");
  CHECK_FALSE(ours.hint.empty());
  CHECK(read_error(R"({"data":{"source":"bridge","kind":"closed","delivered":"unknown"}})")
            .delivered == "unknown");
  CHECK(read_error("1e400").message == "1e400");
  CHECK(json::is_json(error_object(read_error("\"\"")).text()));
}

TEST_CASE("an error is JSON, whatever bytes were typed") {
  Failure error;
  error.kind = "usage";
  error.message = "unknown command '\xff\"\n'";
  const auto read = json::parse(error_object(error).text());
  REQUIRE(read);
  CHECK(read->find("error")->string("message") == "unknown command '\\xff\"\n'");
}
