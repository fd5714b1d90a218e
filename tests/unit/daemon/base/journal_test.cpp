#include "base/log_sinks.hpp"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("JOURNAL_STREAM names a file by device and inode") {
  CHECK(names_file("9:4711", 9, 4711));
  CHECK_FALSE(names_file("9:4711", 9, 4712));
  CHECK_FALSE(names_file("8:4711", 9, 4711));
  for (const char* wrong : {"", "9", "9:", ":4711", "9:4711x", " 9:4711", "9 4711", "-9:4711"}) {
    CAPTURE(wrong);
    CHECK_FALSE(names_file(wrong, 9, 4711));
  }
}

TEST_CASE("levels have the priorities of syslog") {
  CHECK(journal_prefix(LogLevel::debug) == "<7>");
  CHECK(journal_prefix(LogLevel::info) == "<6>");
  CHECK(journal_prefix(LogLevel::warning) == "<4>");
  CHECK(journal_prefix(LogLevel::error) == "<3>");
}
