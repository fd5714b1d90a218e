#include "base/histogram.hpp"

#include <doctest/doctest.h>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

constexpr std::array<std::int64_t, 3> bounds = {10, 100, 1000};

}  // namespace

TEST_CASE("a duration is counted in the first bucket whose bound it does not exceed") {
  Histogram<bounds> histogram;
  for (const auto duration : {0us, 10us, 11us, 100us, 999us, 1000us}) histogram.add(duration);
  CHECK(histogram.count(0) == 2);
  CHECK(histogram.count(1) == 2);
  CHECK(histogram.count(2) == 2);
  CHECK(histogram.count(3) == 0);
  CHECK(histogram.sum_in_microseconds() == 2120);
}

TEST_CASE(
    "what is longer than all bounds has a bucket of its own, and a clock that went back counts as nothing") {
  Histogram<bounds> histogram;
  histogram.add(1001us);
  histogram.add(1h);
  histogram.add(-5s);
  CHECK(histogram.count(3) == 2);
  CHECK(histogram.count(0) == 1);
  CHECK(histogram.sum_in_microseconds() == 3600'001'001);
}
