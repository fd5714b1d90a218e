#include "render/failure.hpp"

#include <doctest/doctest.h>

#include "json/document.hpp"
#include "render/lines.hpp"

using namespace client;

TEST_CASE("an error is JSON, whatever bytes were typed") {
  Failure error;
  error.kind = "usage";
  error.message = "unknown command '\xff\"\n'";
  const auto read = json::parse(error_object(error).text());
  REQUIRE(read);
  CHECK(read->find("error")->string("message") == "unknown command '\\xff\"\n'");
}

TEST_CASE("a line of a log is JSON, whatever bytes it has") {
  CHECK(log_line_object("a \"b\"\t\x1b").text() + "\n" == "{\"line\":\"a \\\"b\\\"\\t\\u001b\"}\n");
  CHECK(log_line_object("\xff").text() + "\n" == "{\"line\":\"\\\\xff\"}\n");
}
