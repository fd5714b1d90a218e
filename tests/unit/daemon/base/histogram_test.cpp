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

TEST_CASE("without samples every percentile is 0, and one sample is every percentile") {
  CHECK(LatencyWindow{}.percentile(0.5) == 0);
  LatencyWindow one;
  one.add(7us);
  for (const double part : {0.0, 0.5, 1.0}) CHECK(one.percentile(part) == 7);
}

TEST_CASE("percentiles do not depend on the order of the samples") {
  LatencyWindow window;
  for (int i = 0; i <= 100; ++i) window.add(std::chrono::microseconds(i * 37 % 101));
  CHECK(window.percentile(0) == 0);
  CHECK(window.percentile(0.5) == 50);
  CHECK(window.percentile(0.99) == 99);
  CHECK(window.percentile(1) == 100);
}

TEST_CASE("only the last 1024 samples count") {
  LatencyWindow window;
  for (int i = 0; i < 5; ++i) window.add(1s);
  for (int i = 0; i < 1023; ++i) window.add(1us);
  CHECK(window.percentile(1) == 1'000'000);
  window.add(1us);
  CHECK(window.percentile(1) == 1);
}

TEST_CASE("a duration beyond what is kept counts as the longest, a negative one as none") {
  LatencyWindow window;
  window.add(-1s);
  window.add(100h);
  CHECK(window.percentile(0) == 0);
  CHECK(window.percentile(1) == UINT32_MAX);
}
