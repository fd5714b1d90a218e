#include <doctest/doctest.h>

#include <string>

#include "notifications/ring.hpp"
#include "ring_helpers.hpp"

using namespace bridge;
using namespace std::chrono_literals;

TEST_CASE("who joins gets all that nobody has taken, in order, and what comes then") {
  Ring ring{RingLimits{}};
  push(ring, "a");
  push(ring, "b");
  RingReader reader = ring.join(now);
  CHECK(drain(ring, reader) == Lines{"a", "b"});
  CHECK(drain(ring, reader).empty());
  push(ring, "c");
  CHECK(drain(ring, reader) == Lines{"c"});
}

TEST_CASE("what was written is not taken, what was read is, once") {
  Ring ring{RingLimits{}};
  push(ring, "a");
  push(ring, "b");
  RingReader reader = ring.join(now);
  drain(ring, reader, 1);
  CHECK(ring.untaken() == 2);
  acknowledge(ring, reader);
  CHECK(ring.untaken() == 1);
  acknowledge(ring, reader);
  CHECK(ring.untaken() == 1);
  drain(ring, reader);
  acknowledge(ring, reader);
  CHECK(ring.untaken() == 0);
  CHECK(ring.size() == 2);
  CHECK(ring.dropped() == 0);
}

TEST_CASE("who joined later gets of the older ones only the untaken, but everything newer") {
  Ring ring{RingLimits{}};
  for (const char* text : {"a", "b", "c"}) push(ring, text);
  RingReader first = ring.join(now);
  drain(ring, first, 2);
  acknowledge(ring, first);
  RingReader second = ring.join(now);
  push(ring, "d");
  CHECK(drain(ring, first) == Lines{"c", "d"});
  acknowledge(ring, first);
  // "c" was taken meanwhile, "d" came after the second one did.
  CHECK(drain(ring, second) == Lines{"d"});
}

TEST_CASE("every client gets every notification that comes while it is connected") {
  Ring ring{RingLimits{}};
  RingReader first = ring.join(now);
  RingReader second = ring.join(now);
  push(ring, "a");
  CHECK(drain(ring, first) == Lines{"a"});
  acknowledge(ring, first);
  CHECK(drain(ring, second) == Lines{"a"});
}

TEST_CASE("a reader goes no further than it is told, and on from there") {
  Ring ring{RingLimits{}};
  for (const char* text : {"a", "b", "c"}) push(ring, text);
  RingReader reader = ring.join(now);
  CHECK(drain(ring, reader, 9, nullptr, Sequence{0}).empty());
  CHECK(drain(ring, reader, 9, nullptr, Sequence{2}) == Lines{"a", "b"});
  CHECK(drain(ring, reader, 9, nullptr, Sequence{2}).empty());
  CHECK(drain(ring, reader) == Lines{"c"});
}

TEST_CASE("a reader learns how many it was promised and lost") {
  RingLimits limits;
  limits.entries = 3;
  Ring ring(limits);
  push(ring, "old");
  RingReader reader = ring.join(now);
  for (int i = 0; i < 6; ++i) push(ring, std::to_string(i));
  std::uint64_t lost = 0;
  // The one from before it joined was never promised: of the six that came then three are left.
  CHECK(drain(ring, reader, 9, &lost) == Lines{"3", "4", "5"});
  CHECK(lost == 3);
  CHECK(drain(ring, reader, 9, &lost).empty());
  CHECK(lost == 0);
  CHECK(ring.dropped() == 4);
}

TEST_CASE("nothing is lost to one who has read what was pushed out") {
  RingLimits limits;
  limits.entries = 1;
  Ring ring(limits);
  RingReader reader = ring.join(now);
  std::uint64_t lost = 0;
  for (const char* text : {"a", "b", "c"}) {
    push(ring, text);
    CHECK(drain(ring, reader, 9, &lost) == Lines{text});
    CHECK(lost == 0);
    acknowledge(ring, reader);
  }
  CHECK(ring.dropped() == 0);
}

TEST_CASE("what was given to a reader that ended is not taken, and goes to the next one") {
  Ring ring{RingLimits{}};
  for (const char* text : {"a", "b", "c"}) push(ring, text);
  RingReader reader = ring.join(now);
  drain(ring, reader, 1);
  acknowledge(ring, reader);
  drain(ring, reader, 1);
  ring.give_back(reader);
  RingReader next = ring.join(now);
  CHECK(drain(ring, next) == Lines{"b", "c"});
}

TEST_CASE("given back three times counts as dropped: it may be what kills its readers") {
  Ring ring{RingLimits{}};
  push(ring, "poison");
  for (int i = 1; i <= 3; ++i) {
    CAPTURE(i);
    CHECK(ring.dropped() == 0);
    RingReader reader = ring.join(now);
    CHECK(drain(ring, reader) == Lines{"poison"});
    ring.give_back(reader);
  }
  CHECK(ring.dropped() == 1);
  CHECK(ring.untaken() == 0);
  RingReader reader = ring.join(now);
  CHECK(drain(ring, reader).empty());
  CHECK(held(ring) == Lines{"poison"});
}

TEST_CASE("giving back what another one has taken, or what was never written, changes nothing") {
  Ring ring{RingLimits{}};
  push(ring, "a");
  RingReader reader = ring.join(now);
  RingReader other = ring.join(now);
  drain(ring, reader);
  drain(ring, other);
  acknowledge(ring, other);
  for (int i = 0; i < 5; ++i) ring.give_back(reader);
  CHECK(ring.dropped() == 0);
  push(ring, "b");
  for (int i = 0; i < 5; ++i) ring.give_back(reader);
  CHECK(ring.dropped() == 0);
  CHECK(ring.untaken() == 1);
}

TEST_CASE("one that was dropped for its readers' sake is not counted again when it is pushed out") {
  RingLimits limits;
  limits.entries = 1;
  Ring ring(limits);
  push(ring, "a");
  for (int i = 0; i < 3; ++i) {
    RingReader reader = ring.join(now);
    drain(ring, reader);
    ring.give_back(reader);
  }
  CHECK(ring.dropped() == 1);
  push(ring, "b");
  CHECK(ring.dropped() == 1);
}

TEST_CASE("an entry that was pushed out meanwhile cannot be taken or given back") {
  RingLimits limits;
  limits.entries = 1;
  Ring ring(limits);
  push(ring, "a");
  RingReader reader = ring.join(now);
  drain(ring, reader);
  push(ring, "b");
  CHECK(ring.dropped() == 1);
  ring.give_back(reader);
  acknowledge(ring, reader);
  CHECK(ring.dropped() == 1);
  CHECK(ring.untaken() == 1);
}

TEST_CASE("each notification is counted once: taken, dropped or untaken") {
  RingLimits limits;
  limits.entries = 3;
  Ring ring{limits};
  RingReader reader = ring.join(now);
  const auto all_counted = [&ring] {
    return ring.taken() + ring.dropped() + ring.untaken() == value_of(ring.newest());
  };
  for (const char* text : {"a", "b"}) push(ring, text);
  drain(ring, reader);
  acknowledge(ring, reader);
  acknowledge(ring, reader);
  CHECK(ring.taken() == 2);
  CHECK(all_counted());
  for (const char* text : {"c", "d", "e", "f"}) push(ring, text);
  CHECK(ring.dropped() == 1);
  CHECK(all_counted());
  for (int died = 0; died < 3; ++died) {
    RingReader dying = ring.join(now);
    drain(ring, dying, 1);
    ring.give_back(dying);
  }
  CHECK(ring.dropped() == 2);
  CHECK(ring.taken() == 2);
  CHECK(all_counted());
}
