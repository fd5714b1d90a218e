#include "base/histogram.hpp"

#include <doctest/doctest.h>

using bridge::LatencyWindow;
using namespace std::chrono_literals;

TEST_CASE("without samples every percentile is 0") {
  CHECK(LatencyWindow{}.percentile(0.5) == 0);
  CHECK(LatencyWindow{}.percentile(0.99) == 0);
}

TEST_CASE("percentiles do not depend on the order of the samples") {
  LatencyWindow window;
  for (int i = 0; i <= 100; ++i) window.add(std::chrono::microseconds(i * 37 % 101));
  CHECK(window.percentile(0) == 0);
  CHECK(window.percentile(0.5) == 50);
  CHECK(window.percentile(0.99) == 99);
  CHECK(window.percentile(1) == 100);
}

TEST_CASE("one sample is every percentile") {
  LatencyWindow window;
  window.add(7us);
  CHECK(window.percentile(0) == 7);
  CHECK(window.percentile(0.5) == 7);
  CHECK(window.percentile(1) == 7);
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
