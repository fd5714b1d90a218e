#include "notifications/ring.hpp"

#include <doctest/doctest.h>

#include <string>

#include "../lines.hpp"
#include "ring_helpers.hpp"

using namespace bridge;
using namespace std::chrono_literals;

TEST_CASE(
    "the ring holds 999, 1000 and then still 1000: the oldest goes first and counts as dropped") {
  Ring ring{RingLimits{}};
  CHECK(value_of(ring.newest()) == 0);
  CHECK(value_of(ring.oldest()) == 1);
  for (int i = 1; i <= 999; ++i) push(ring, std::to_string(i));
  CHECK(ring.size() == 999);
  push(ring, "1000");
  CHECK(ring.size() == 1000);
  CHECK(ring.dropped() == 0);
  CHECK(value_of(ring.oldest()) == 1);
  push(ring, "1001");
  CHECK(ring.size() == 1000);
  CHECK(ring.dropped() == 1);
  CHECK(ring.untaken() == 1000);
  CHECK(value_of(ring.oldest()) == 2);
  CHECK(value_of(ring.newest()) == 1001);
  CHECK(held(ring).front() == "2");
  CHECK(held(ring).back() == "1001");
}

TEST_CASE("the byte bound counts every line with its line end, exactly") {
  Ring ring({.bytes = 20});
  push(ring, "1234");
  push(ring, "5678");
  push(ring, "123456789");
  CHECK(ring.bytes() == 20);
  CHECK(ring.dropped() == 0);
  push(ring, "");
  CHECK(held(ring) == Lines{"5678", "123456789", ""});
  CHECK(ring.bytes() == 16);
  CHECK(ring.dropped() == 1);
  // One large line pushes out as many as necessary.
  push(ring, "1234567890123456");
  CHECK(held(ring) == Lines{"", "1234567890123456"});
  CHECK(ring.bytes() == 18);
  CHECK(ring.dropped() == 3);
}

TEST_CASE("one as large as the whole ring fits alone, one larger is dropped and disturbs nothing") {
  Ring ring({.bytes = 10});
  push(ring, "abc");
  CHECK_FALSE(push(ring, "1234567890"));
  CHECK(held(ring) == Lines{"abc"});
  CHECK(ring.dropped() == 1);
  CHECK(value_of(ring.newest()) == 1);
  CHECK(push(ring, "123456789"));
  CHECK(held(ring) == Lines{"123456789"});
  CHECK(ring.bytes() == 10);
  CHECK(ring.dropped() == 2);
}

TEST_CASE("an entry is as old as its time to live: gone when the ring is used then, not before") {
  Ring ring({.ttl = 10s});
  const WallTime start{1000s};
  ring.push("a", "m", {}, start);
  ring.push("b", "m", {}, start + 5s);
  ring.expire(start + 9999ms);
  CHECK(ring.size() == 2);
  ring.expire(start + 10s);
  CHECK(held(ring) == Lines{"b"});
  CHECK(ring.dropped() == 1);
  CHECK(value_of(ring.oldest()) == 2);
  ring.push("c", "m", {}, start + 15s);
  CHECK(held(ring) == Lines{"c"});
  const RingReader reader = ring.join(start + 25s);
  CHECK(ring.size() == 0);
  CHECK(ring.bytes() == 0);
  CHECK(ring.untaken() == 0);
  CHECK(value_of(reader.next) == 4);
  CHECK(value_of(ring.oldest()) == 4);
}

TEST_CASE("an excluded method is kept out and is no drop") {
  Ring ring({.excluded_methods = {"notifications/message", "other"}});
  CHECK_FALSE(ring.push("a", "notifications/message", {}, today));
  CHECK_FALSE(ring.push("a", "other", {}, today));
  CHECK(ring.push("b", "notifications/messages", {}, today));
  CHECK(held(ring) == Lines{"b"});
  CHECK(ring.dropped() == 0);
  CHECK(value_of(ring.newest()) == 1);
}

TEST_CASE("it is known beforehand whether a push will cost an untaken entry") {
  Ring ring({.entries = 2, .bytes = 10});
  CHECK_FALSE(ring.about_to_drop(9, today));
  push(ring, "abcd");
  CHECK_FALSE(ring.about_to_drop(4, today));
  CHECK(ring.about_to_drop(5, today));
  push(ring, "e");
  CHECK(ring.about_to_drop(1, today));
  RingReader reader = ring.join(today);
  CHECK(drain(ring, reader, 1) == Lines{"abcd"});
  acknowledge(ring, reader);
  CHECK_FALSE(ring.about_to_drop(1, today));
  // Dropping the taken one frees four bytes; the next is not taken.
  CHECK_FALSE(ring.about_to_drop(7, today));
  CHECK(ring.about_to_drop(8, today));
}

TEST_CASE("it is known beforehand that an untaken entry will have aged") {
  Ring ring({.ttl = 10s});
  push(ring, "a");
  CHECK_FALSE(ring.about_to_drop(1, today + 9999ms));
  CHECK(ring.about_to_drop(1, today + 10s));
  take(ring);
  CHECK_FALSE(ring.about_to_drop(1, today + 10s));
}

TEST_CASE("reading after a sequence shows all that is newer, taken or not, until told to stop") {
  Ring ring{RingLimits{}};
  for (const char* text : {"a", "b", "c"}) push(ring, text);
  take(ring);
  CHECK(held(ring, 0) == Lines{"a", "b", "c"});
  CHECK(held(ring, 1) == Lines{"b", "c"});
  CHECK(held(ring, 3).empty());
  int visited = 0;
  ring.each_after(Sequence{}, [&](const RingEntry& entry) {
    CHECK(entry.taken());
    return ++visited < 2;
  });
  CHECK(visited == 2);
}

namespace {

void add(PushedOut& pushed_out, std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t number = first; number <= last; ++number) {
    pushed_out.add(static_cast<Sequence>(number));
  }
}

std::uint64_t from(const PushedOut& pushed_out, std::uint64_t number) {
  return pushed_out.count_from(static_cast<Sequence>(number));
}

}  // namespace

TEST_CASE("a hole between those that were pushed out does not count") {
  PushedOut pushed_out;
  add(pushed_out, 3, 4);
  add(pushed_out, 7, 9);
  CHECK(from(pushed_out, 1) == 5);
  CHECK(from(PushedOut{}, 1) == 0);
  CHECK(from(pushed_out, 4) == 4);
  CHECK(from(pushed_out, 5) == 3);
  CHECK(from(pushed_out, 7) == 3);
  CHECK(from(pushed_out, 8) == 2);
  CHECK(from(pushed_out, 10) == 0);
}

TEST_CASE("of more holes than are kept the oldest are forgotten") {
  PushedOut pushed_out;
  const std::uint64_t count = PushedOut::max_runs + 10;
  for (std::uint64_t i = 1; i <= count; ++i) add(pushed_out, 2 * i, 2 * i);
  CHECK(from(pushed_out, 2 * count) == 1);
  CHECK(from(pushed_out, 2 * (count - 5)) == 6);
  CHECK(from(pushed_out, 1) == PushedOut::max_runs);
}
