#include "session/opening.hpp"

#include <doctest/doctest.h>

#include "json/reply.hpp"

using namespace bridge;

TEST_CASE("who waits for a session is told that its opening has failed") {
  Failure failure = failure_of(ErrorKind::http, Delivered::no, "HTTP 500");
  failure.status = 500;
  CHECK(error_reply("1", failure).find("opening") == std::string::npos);
  CHECK(
      error_reply("1", failure_of_opening(failure)) ==
      R"({"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"HTTP 500","data":{"source":"bridge",)"
      R"("kind":"http","delivered":"no","status":500,"opening":true}}})");
}

TEST_CASE("an error to initialize is not the answer to what waits: it is told as data") {
  Failure failure = failure_of(ErrorKind::http, Delivered::no, "HTTP 400: {}");
  failure.error_object =
      R"({"code":-32022,"message":"Unsupported version","data":{"supported":[]}})";
  const Failure told = failure_of_opening(failure);
  CHECK(told.kind == ErrorKind::session);
  CHECK(log_text(told) == "an error of the upstream's own, code -32022");
  CHECK(error_reply("1", told) ==
        R"({"jsonrpc":"2.0","id":1,"error":{"code":-32000,)"
        R"("message":"the upstream refuses to initialize a session",)"
        R"("data":{"source":"bridge","kind":"session","delivered":"no","opening":true,)"
        R"("upstream":{"code":-32022,"message":"Unsupported version","data":{"supported":[]}}}}})");
  failure.error_object = R"({"code":1})";
  CHECK(failure_of_opening(failure).message == "the upstream refuses to initialize a session");
}
