#include <doctest/doctest.h>

#include <string>

#include "notifications/ring.hpp"
#include "ring_helpers.hpp"

using namespace bridge;
using namespace std::chrono_literals;

TEST_CASE("it is off by default") {
  Ring ring{RingLimits{}};
  push(ring, "a1", "a");
  push(ring, "a2", "a");
  CHECK(held(ring) == Lines{"a1", "a2"});
  CHECK(ring.coalesced() == 0);
}

TEST_CASE("a newer one replaces an untaken older one of the same key, at the end of the ring") {
  Ring ring({.coalesce = true});
  push(ring, "a1", "a");
  push(ring, "b1", "b");
  push(ring, "x");
  push(ring, "y");
  push(ring, "a2", "a");
  CHECK(held(ring) == Lines{"b1", "x", "y", "a2"});
  CHECK(value_of(ring.newest()) == 5);
  CHECK(ring.coalesced() == 1);
  CHECK(ring.dropped() == 0);
  CHECK(ring.untaken() == 4);
  CHECK(ring.bytes() == 3 + 2 + 2 + 3);
  push(ring, "a3", "a");
  CHECK(held(ring) == Lines{"b1", "x", "y", "a3"});
  CHECK(ring.coalesced() == 2);
}

TEST_CASE("one that was taken is not replaced") {
  Ring ring({.coalesce = true});
  push(ring, "a1", "a");
  take(ring);
  push(ring, "a2", "a");
  CHECK(held(ring) == Lines{"a1", "a2"});
  CHECK(ring.coalesced() == 0);
  push(ring, "a3", "a");
  CHECK(held(ring) == Lines{"a1", "a3"});
}

TEST_CASE("a reader passes over the hole and has lost nothing") {
  Ring ring({.coalesce = true});
  RingReader reader = ring.join(today);
  push(ring, "a1", "a");
  push(ring, "b1", "b");
  push(ring, "a2", "a");
  std::uint64_t lost = 0;
  CHECK(drain(ring, reader, 9, &lost) == Lines{"b1", "a2"});
  push(ring, "b2", "b");
  push(ring, "b3", "b");
  CHECK(drain(ring, reader, 9, &lost) == Lines{"b3"});
  CHECK(lost == 0);
}

TEST_CASE("a reader behind the ring has lost what was pushed out, and not what was replaced") {
  Ring ring({.entries = 2, .coalesce = true});
  RingReader reader = ring.join(today);
  push(ring, "a1", "a");
  push(ring, "x");
  push(ring, "a2", "a");
  push(ring, "y");
  push(ring, "z");
  std::uint64_t lost = 0;
  CHECK(drain(ring, reader, 9, &lost) == Lines{"y", "z"});
  CHECK(lost == 2);  // x and a2
}

TEST_CASE("the place of a key whose entry was pushed out or has aged is forgotten") {
  Ring ring({.entries = 2, .ttl = 10s, .coalesce = true});
  push(ring, "a1", "a");
  push(ring, "x");
  push(ring, "y");
  push(ring, "a2", "a");
  CHECK(held(ring) == Lines{"y", "a2"});
  CHECK(ring.coalesced() == 0);
  ring.expire(today + 10s);
  CHECK(ring.size() == 0);
  ring.push("a3", "m", "a", today + 20s);
  CHECK(held(ring) == Lines{"a3"});
  CHECK(ring.coalesced() == 0);
  CHECK(ring.dropped() == 4);
}

TEST_CASE("one that does not fit the ring at all replaces nothing") {
  Ring ring({.bytes = 10, .coalesce = true});
  push(ring, "a1", "a");
  CHECK_FALSE(push(ring, "a is much too long", "a"));
  CHECK(held(ring) == Lines{"a1"});
}

TEST_CASE("a full ring makes room by replacing: nothing else goes") {
  Ring ring({.entries = 2, .coalesce = true});
  push(ring, "x");
  push(ring, "a1", "a");
  push(ring, "a2", "a");
  CHECK(held(ring) == Lines{"x", "a2"});
  CHECK(ring.dropped() == 0);
}
