// Which lines of a child's stdout are messages.
#include "upstream/stdio/child_process.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace bridge;

TEST_CASE("a message and an array of messages are messages") {
  CHECK(is_message(R"({"jsonrpc":"2.0","method":"notifications/x"})"));
  CHECK(is_message(R"( 	{"jsonrpc":"2.0","id":1,"result":{}})"));
  CHECK(is_message(R"([{"jsonrpc":"2.0","method":"notifications/x"}])"));
}

TEST_CASE("what a program prints for people is none") {
  for (const char* line : {"", "  ", "listening on 127.0.0.1", "3", "\"jsonrpc\"", "{starting}",
                           R"({"level":"info"})", "[1, 2", "[]"}) {
    CAPTURE(line);
    CHECK_FALSE(is_message(line));
  }
}

TEST_CASE("a long line counts if it names the protocol near one of its ends") {
  const std::string padding(100'000, ' ');
  CHECK(is_message(R"({"jsonrpc":"2.0",)" + padding));
  CHECK(is_message("{" + padding + R"("jsonrpc":"2.0"})"));
  CHECK_FALSE(is_message("{" + padding + "}"));
  CHECK_FALSE(is_message("x" + padding + R"("jsonrpc":"2.0"})"));
}
