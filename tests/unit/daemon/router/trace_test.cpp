#include "router/request_log.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace bridge;

TEST_CASE("the traceparent of a request's _meta is found") {
  CHECK(
      traceparent_of(
          R"({"name":"x","_meta":{"progressToken":1,"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}})") ==
      "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
}

TEST_CASE("what is no traceparent is not taken for one") {
  CHECK(traceparent_of("").empty());
  CHECK(traceparent_of("[1]").empty());
  CHECK(
      traceparent_of(R"({"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"})")
          .empty());
  for (const char* wrong : {"\"\"", "\"a secret\"", "7", "{}",
                            "\"00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\"",
                            "\"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more\"",
                            "\"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0\\n\""}) {
    CAPTURE(wrong);
    CHECK(traceparent_of(std::string(R"({"_meta":{"traceparent":)") + wrong + "}}").empty());
  }
}
