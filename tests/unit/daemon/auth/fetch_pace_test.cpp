#include "auth/access_token.hpp"

#include <doctest/doctest.h>

using namespace bridge;
using namespace std::chrono_literals;

TEST_CASE("what fails is tried again after 1, 2, 4 … 30 seconds") {
  FetchPace pace;
  FetchPace::Time now = FetchPace::Time{} + 1h;
  CHECK(pace.may_try(now));
  for (const auto delay : {1s, 2s, 4s, 8s, 16s, 30s, 30s}) {
    pace.failed(now);
    CHECK(!pace.may_try(now + delay - 1ms));
    now += delay;
    CHECK(pace.may_try(now));
  }
  pace.succeeded();
  pace.failed(now);
  CHECK(pace.may_try(now + 1s));
}
