#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "notifications/ring.hpp"
#include "ring_helpers.hpp"

using namespace bridge;
using namespace std::chrono_literals;

TEST_CASE("who joins gets all that nobody has taken, in order, and what comes then") {
  Ring ring{RingLimits{}};
  push(ring, "a");
  push(ring, "b");
  RingReader reader = ring.join(today);
  CHECK(drain(ring, reader) == Lines{"a", "b"});
  CHECK(drain(ring, reader).empty());
  push(ring, "c");
  CHECK(drain(ring, reader) == Lines{"c"});
}

TEST_CASE("what was written is not taken, what was read is, once") {
  Ring ring{RingLimits{}};
  push(ring, "a");
  push(ring, "b");
  RingReader reader = ring.join(today);
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
  RingReader first = take(ring, 2);
  RingReader second = ring.join(today);
  push(ring, "d");
  CHECK(drain(ring, first) == Lines{"c", "d"});
  acknowledge(ring, first);
  // "c" was taken meanwhile, "d" came after the second one did.
  CHECK(drain(ring, second) == Lines{"d"});
}

TEST_CASE("a reader goes no further than it is told, and on from there") {
  Ring ring{RingLimits{}};
  for (const char* text : {"a", "b", "c"}) push(ring, text);
  RingReader reader = ring.join(today);
  CHECK(drain(ring, reader, 9, nullptr, Sequence{0}).empty());
  CHECK(drain(ring, reader, 9, nullptr, Sequence{2}) == Lines{"a", "b"});
  CHECK(drain(ring, reader, 9, nullptr, Sequence{2}).empty());
  CHECK(drain(ring, reader) == Lines{"c"});
}

TEST_CASE("a reader learns how many it was promised and lost") {
  Ring ring({.entries = 3});
  push(ring, "old");
  RingReader reader = ring.join(today);
  for (int i = 0; i < 6; ++i) push(ring, std::to_string(i));
  std::uint64_t lost = 0;
  // Entries from before it joined were not promised: of the six after that three are left.
  CHECK(drain(ring, reader, 9, &lost) == Lines{"3", "4", "5"});
  CHECK(lost == 3);
  CHECK(drain(ring, reader, 9, &lost).empty());
  CHECK(lost == 0);
  CHECK(ring.dropped() == 4);
}

TEST_CASE("nothing is lost to one who has read what was pushed out") {
  Ring ring({.entries = 1});
  RingReader reader = ring.join(today);
  std::uint64_t lost = 0;
  for (const char* text : {"a", "b", "c"}) {
    push(ring, text);
    CHECK(drain(ring, reader, 9, &lost) == Lines{text});
    CHECK(lost == 0);
    acknowledge(ring, reader);
  }
  CHECK(ring.dropped() == 0);
}

TEST_CASE("whatever leaves untaken is told, once for all that leave together") {
  Ring ring({.entries = 2, .bytes = 20, .ttl = std::chrono::milliseconds(10)});
  std::vector<std::uint64_t> told;
  ring.on_dropped([&](std::uint64_t dropped) { told.push_back(dropped); });
  push(ring, "a");
  push(ring, "b");
  CHECK(told.empty());
  push(ring, "c");
  CHECK(told == std::vector<std::uint64_t>{1});
  ring.expire(today + 20ms);
  CHECK(told == std::vector<std::uint64_t>{1, 3});
  push(ring, std::string(30, 'x'));
  CHECK(told == std::vector<std::uint64_t>{1, 3, 4});
  push(ring, "d");
  take(ring);
  ring.expire(today + 40ms);
  CHECK(told.size() == 3);
}

TEST_CASE("an entry that was pushed out meanwhile cannot be taken or given back") {
  Ring ring({.entries = 1});
  push(ring, "a");
  RingReader reader = ring.join(today);
  drain(ring, reader);
  push(ring, "b");
  CHECK(ring.dropped() == 1);
  acknowledge(ring, reader);
  CHECK(ring.dropped() == 1);
  CHECK(ring.untaken() == 1);
}

TEST_CASE("each notification is counted once: taken, dropped or untaken") {
  Ring ring({.entries = 3});
  RingReader reader = ring.join(today);
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
}

TEST_CASE("what a reader gives back nobody has taken, but for what others took") {
  Ring ring({});
  for (int i = 0; i < 3; ++i) ring.push("n", "m", {}, {});
  RingReader first = ring.join({});
  std::uint64_t lost = 0;
  Ring::advance(first, *ring.next_for(first, ring.newest(), lost));
  first.acknowledged = first.next;
  ring.take(first);
  RingReader second = ring.join({});
  while (const RingEntry* entry = ring.next_for(second, ring.newest(), lost))
    Ring::advance(second, *entry);
  second.acknowledged = second.next;
  ring.take(second);
  CHECK(ring.untaken() == 0);
  ring.give_back(second);
  CHECK(ring.untaken() == 2);
  CHECK(ring.taken() == 1);
}

TEST_CASE("one entry can be taken without a reader") {
  Ring ring({});
  ring.push("n", "m", {}, {});
  ring.push("n", "m", {}, {});
  ring.take(ring.newest());
  ring.take(static_cast<Sequence>(7));  // does not exist
  CHECK(ring.untaken() == 1);
}

TEST_CASE("what a reader's filter hides is neither given to it nor taken by it") {
  Ring ring{RingLimits{}};
  for (const char* text : {"a", "b", "c"}) push(ring, text);
  const RingFilter filter = [](const RingEntry& entry) { return entry.line != "b\n"; };
  RingReader reader = ring.join(today);
  reader.filter = &filter;
  CHECK(drain(ring, reader) == Lines{"a", "c"});
  acknowledge(ring, reader);
  CHECK(ring.untaken() == 1);
  RingReader other = ring.join(today);
  CHECK(drain(ring, other) == Lines{"b"});
}
