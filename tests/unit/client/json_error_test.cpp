#include "render/failure.hpp"

#include <doctest/doctest.h>

#include "json/document.hpp"
#include "servers/logs.hpp"

using namespace client;

TEST_CASE("an error is JSON, whatever bytes were typed") {
  Failure error;
  error.kind = "usage";
  error.message = "unknown command '\xff\"\n'";
  const auto read = json::parse(to_text(error));
  REQUIRE(read);
  CHECK(read->find("error")->string("message") == "unknown command '\\xff\"\n'");
}

TEST_CASE("a line of a log is JSON, whatever bytes it has") {
  CHECK(LogOutput::json_line("a \"b\"\t\x1b") == "{\"line\":\"a \\\"b\\\"\\t\\u001b\"}\n");
  CHECK(LogOutput::json_line("\xff") == "{\"line\":\"\\\\xff\"}\n");
}
