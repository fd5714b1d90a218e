#include "base/clock.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using bridge::Backoff;
using std::chrono::milliseconds;

TEST_CASE("delays double from 500 ms to 30 s, with at most a quarter taken off") {
  for (std::uint32_t seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    Backoff backoff(seed);
    milliseconds full{500};
    for (int tries = 0; tries < 40; ++tries) {
      CAPTURE(tries);
      CHECK(backoff.tries() == tries);
      const milliseconds delay = backoff.next();
      CHECK(delay <= full);
      CHECK(delay >= full * 3 / 4);
      full = std::min(full * 2, milliseconds(30000));
    }
  }
}

TEST_CASE("while somebody waits the next try is half a second away, and does not count") {
  Backoff backoff(3);
  for (int i = 0; i < 100; ++i) {
    const milliseconds delay = backoff.soon();
    CHECK(delay <= milliseconds(500));
    CHECK(delay >= milliseconds(375));
  }
  CHECK(backoff.tries() == 0);
}

TEST_CASE("a delay of either kind is the beginning of a series, which a reset ends") {
  Backoff backoff;
  CHECK_FALSE(backoff.has_begun());
  backoff.soon();
  CHECK(backoff.has_begun());
  backoff.reset();
  CHECK_FALSE(backoff.has_begun());
  for (int i = 0; i < 10; ++i) backoff.next();
  CHECK(backoff.has_begun());
  backoff.reset();
  CHECK(backoff.tries() == 0);
  CHECK(backoff.next() <= milliseconds(500));
}

TEST_CASE("two bridges do not come back in step") {
  std::set<milliseconds> delays;
  for (std::uint32_t seed = 1; seed <= 100; ++seed) {
    Backoff backoff(seed * 7919);
    for (int i = 0; i < 6; ++i) backoff.next();
    delays.insert(backoff.next());
  }
  CHECK(delays.size() > 50);
}
