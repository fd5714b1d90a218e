#include "cli/units.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace cli;
using namespace std::chrono_literals;

TEST_CASE("a duration is a number and a unit, a bare number is seconds") {
  CHECK(parse_duration("0") == 0ms);
  CHECK(parse_duration("10") == 10s);
  CHECK(parse_duration("250ms") == 250ms);
  CHECK(parse_duration("10s") == 10s);
  CHECK(parse_duration("5m") == 5min);
  CHECK(parse_duration("1h") == 1h);
  CHECK(parse_duration("0ms") == 0ms);
  CHECK(parse_duration("007s") == 7s);
}

TEST_CASE("fractions are allowed and rounded to milliseconds") {
  CHECK(parse_duration("1.5s") == 1500ms);
  CHECK(parse_duration("0.5") == 500ms);
  CHECK(parse_duration("0.1ms") == 0ms);
  CHECK(parse_duration("0.6ms") == 1ms);
  CHECK(parse_duration("0.25h") == 15min);
}

TEST_CASE("a duration that is none is refused") {
  for (const char* text : {"",    " ",   "s",    "ms",    "-1s",  "-0",   "+1s",  "1 s",  " 1s",
                           "1s ", "1d",  "1S",   "1M",    "1sec", "1e3",  "1e3s", "0x10", ".5",
                           "inf", "nan", "infs", "1..5s", "1,5s", "1s1s", "ten"})
    CHECK_FALSE_MESSAGE(parse_duration(text), text);
}

TEST_CASE("a duration of more than ten years is refused, whatever the unit") {
  CHECK(parse_duration("87840h"));
  CHECK_FALSE(parse_duration("87841h"));
  CHECK_FALSE(parse_duration("99999999999999999999h"));
  CHECK_FALSE(parse_duration(std::string(400, '9')));
}

TEST_CASE("a size is a whole number and a power of 1024, a bare number is bytes") {
  CHECK(parse_size("0") == 0);
  CHECK(parse_size("1") == 1);
  CHECK(parse_size("8M") == 8u << 20);
  CHECK(parse_size("8MiB") == 8u << 20);
  CHECK(parse_size("3K") == 3072);
  CHECK(parse_size("3KiB") == 3072);
  CHECK(parse_size("2G") == std::size_t{2} << 30);
  CHECK(parse_size("2GiB") == std::size_t{2} << 30);
}

TEST_CASE("a size that is none is refused") {
  for (const char* text : {"", "M", "-1", "-1K", "+1", "1.5M", "1 M", " 1", "1k", "1m", "1MB",
                           "1KB", "1B", "1T", "1e3", "0x10", "1Mi", "1MiBs", "many"})
    CHECK_FALSE_MESSAGE(parse_size(text), text);
}

TEST_CASE("a size that does not fit is refused, the largest that does is not") {
  CHECK(parse_size("18446744073709551615") == SIZE_MAX);
  CHECK_FALSE(parse_size("18446744073709551616"));
  CHECK(parse_size("17179869183G") == std::size_t{17179869183} << 30);
  CHECK_FALSE(parse_size("17179869184G"));
  CHECK_FALSE(parse_size("18014398509481984K"));
}
