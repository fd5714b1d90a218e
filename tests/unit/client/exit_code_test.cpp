#include <doctest/doctest.h>

#include <fmt/format.h>

#include "exit_code.hpp"
#include "verbs/describe_error.hpp"

using namespace client;

namespace {

std::string bridge_error(std::string_view kind) {
  return fmt::format(
      R"({{"code":-32000,"message":"m","data":{{"source":"bridge","kind":"{}","delivered":"no"}}}})",
      kind);
}

}  // namespace

TEST_CASE("the exit code of an error tells where it comes from") {
  for (const char* kind : {"dns", "connect", "tls", "closed", "session", "auth"}) {
    CAPTURE(kind);
    CHECK(exit_code_for_error(bridge_error(kind)) == ExitCode::upstream);
  }
  CHECK(exit_code_for_error(bridge_error("timeout")) == ExitCode::timed_out);
  for (const char* kind : {"malformed", "too_large", "http", "overloaded", "shutdown", "", "new"}) {
    CAPTURE(kind);
    CHECK(exit_code_for_error(bridge_error(kind)) == ExitCode::answered_error);
  }
}

TEST_CASE("an error of the server itself is 1, whatever its data says") {
  CHECK(exit_code_for_error(R"({"code":-32602,"message":"m"})") == ExitCode::answered_error);
  CHECK(exit_code_for_error(R"({"data":{"kind":"dns"}})") == ExitCode::answered_error);
  CHECK(exit_code_for_error(R"({"data":{"source":"server","kind":"dns"}})") ==
        ExitCode::answered_error);
  CHECK(exit_code_for_error(R"({"data":"bridge"})") == ExitCode::answered_error);
  CHECK(exit_code_for_error(R"({"data":{"source":1,"kind":"dns"}})") == ExitCode::answered_error);
}

TEST_CASE("an error is described in a way that says what to do") {
  CHECK(describe_error(R"({"code":-32602,"message":"Unknown tool"})") ==
        "the server answered with error -32602: Unknown tool");
  CHECK(describe_error(R"({"code":1,"message":"m","data":{"x":0.10}})") ==
        R"(the server answered with error 1: m {"x":0.10})");
  CHECK(describe_error(bridge_error("dns")) ==
        "the bridge: m (kind dns; the server did not get the request, it can be sent again)");
  CHECK(describe_error("{\"code\":1e400}") ==
        "the server answered with an error: {\"code\":1e400}");
  CHECK(describe_error(R"({"code":1,"message":"m","data":")" + std::string(5000, 'x') + "\"}")
            .size() < 700);
}
