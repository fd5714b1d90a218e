#include "downstream/unix/outbox.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>

#include "../../notifications/ring_helpers.hpp"

using namespace bridge;

namespace {

/// One write to a socket that takes at most `limit` bytes; returns what it took.
inline std::string write(Outbox& outbox, std::size_t limit) {
  std::array<iovec, 64> pieces;
  const std::size_t count = outbox.gather(pieces.data(), pieces.size());
  std::string taken;
  for (std::size_t i = 0; i < count; ++i) {
    taken.append(static_cast<const char*>(pieces[i].iov_base), pieces[i].iov_len);
  }
  taken.resize(std::min(taken.size(), limit));
  outbox.consume(taken.size());
  return taken;
}

/// Writes until there is nothing more to write.
inline std::string write_all(Outbox& outbox) {
  std::string all;
  for (std::string part = write(outbox, SIZE_MAX); !part.empty(); part = write(outbox, SIZE_MAX))
    all += part;
  return all;
}

/// An outbox that is the only reader of its ring.
struct Reading {
  explicit Reading(std::size_t entries = RingLimits{}.entries)
      : ring(limits(entries)), outbox(ring) {
    outbox.join(today);
  }
  static RingLimits limits(std::size_t entries) {
    RingLimits limits;
    limits.entries = entries;
    return limits;
  }

  Ring ring;
  Outbox outbox;
};

struct NotReading {
  Ring ring{RingLimits{}};
  Outbox outbox{ring};
};

}  // namespace

TEST_CASE_FIXTURE(NotReading, "answers and notifications go out in the order of their arrival") {
  push(ring, "n1");
  outbox.join(today);
  outbox.push("a1");
  outbox.push("a2");
  push(ring, "n2");
  push(ring, "n3");
  outbox.push("a3");
  push(ring, "n4");
  CHECK(write_all(outbox) == "n1\na1\na2\nn2\nn3\na3\nn4\n");
  CHECK(write_all(outbox).empty());
}

TEST_CASE_FIXTURE(NotReading, "who does not read the ring gets its answers only") {
  CHECK_FALSE(outbox.reads_ring());
  push(ring, "n1");
  outbox.push("a1");
  CHECK(write_all(outbox) == "a1\n");
  outbox.join(today);
  CHECK(outbox.reads_ring());
  outbox.stop_reading();
  outbox.push("a2");
  push(ring, "n2");
  CHECK(write_all(outbox) == "a2\n");
  CHECK_FALSE(outbox.reads_ring());
}

TEST_CASE_FIXTURE(
    NotReading,
    "what comes once it has its place is for it, even if others take that before it reads") {
  push(ring, "before");
  outbox.take_position(today);
  push(ring, "after");
  CHECK(write_all(outbox).empty());
  CHECK_FALSE(outbox.has_unacknowledged());
  RingReader other = ring.join(today);
  drain(ring, other);
  acknowledge(ring, other);
  outbox.join(today);
  CHECK(write_all(outbox) == "after\n");
}

TEST_CASE("what was pushed out between its place and its reading is told as lost") {
  RingLimits limits;
  limits.entries = 1;
  Ring ring(limits);
  Outbox outbox(ring);
  outbox.take_position(today);
  for (const char* text : {"a", "b", "c"}) push(ring, text);
  outbox.join(today);
  CHECK(write_all(outbox) == "c\n");
  CHECK(outbox.take_lost() == 2);
}

TEST_CASE_FIXTURE(NotReading, "who stops reading has no place any more") {
  outbox.take_position(today);
  outbox.stop_reading();
  push(ring, "a");
  RingReader other = ring.join(today);
  drain(ring, other);
  acknowledge(ring, other);
  outbox.join(today);
  CHECK(write_all(outbox).empty());
}

TEST_CASE_FIXTURE(NotReading, "a frame sent ahead overtakes all that has not begun") {
  push(ring, "n1");
  outbox.join(today);
  outbox.push("a1");
  outbox.push_ahead("first");
  outbox.push_ahead("second");
  CHECK(write_all(outbox) == "first\nsecond\nn1\na1\n");
}

TEST_CASE_FIXTURE(Reading, "a frame that has begun is finished before anything else") {
  outbox.push("answer");
  CHECK(write(outbox, 3) == "ans");
  outbox.push_ahead("ahead");
  CHECK(write_all(outbox) == "wer\nahead\n");
  push(ring, "notification");
  CHECK(write(outbox, 3) == "not");
  outbox.push_ahead("ahead");
  CHECK(write(outbox, 2) == "if");
  CHECK(write_all(outbox) == "ication\nahead\n");
}

TEST_CASE("a sequence is the same whatever the socket takes at a time") {
  const auto stream_of = [](auto&& take) {
    Ring ring{RingLimits{}};
    push(ring, "note one");
    Outbox outbox(ring);
    outbox.join(today);
    outbox.push("answer one");
    outbox.push("");
    push(ring, "note two");
    push(ring, "");
    outbox.push("answer two");
    push(ring, "note three");
    std::string stream;
    for (std::size_t turn = 0;
         outbox.bytes() > 0 || outbox.reader().next <= ring.newest() || outbox.frames() > 0;
         ++turn) {
      stream += write(outbox, take(turn));
      REQUIRE(turn < 1000);
    }
    CHECK(outbox.bytes() == 0);
    CHECK(outbox.frames() == 0);
    return stream;
  };
  const std::string whole = stream_of([](std::size_t) { return SIZE_MAX; });
  CHECK(whole == "note one\nanswer one\n\nnote two\n\nanswer two\nnote three\n");
  for (std::size_t size = 1; size <= whole.size(); ++size) {
    CAPTURE(size);
    CHECK(stream_of([size](std::size_t) { return size; }) == whole);
    CHECK(stream_of([size](std::size_t turn) { return turn == 0 ? size : SIZE_MAX; }) == whole);
    // Some writes take nothing at all.
    CHECK(stream_of([size](std::size_t turn) { return turn % 2 == 0 ? 0 : size; }) == whole);
  }
}

TEST_CASE_FIXTURE(Reading,
                  "no more pieces are gathered than there is room for, the rest comes next") {
  for (int i = 0; i < 5; ++i) {
    outbox.push_ahead("x");
    outbox.push("a");
    push(ring, "n");
  }
  iovec pieces[4];
  CHECK(outbox.gather(pieces, 4) == 4);
  outbox.consume(8);
  CHECK(outbox.gather(pieces, 1) == 1);
  outbox.consume(0);
  CHECK(outbox.gather(pieces, 4) == 4);
  CHECK(write_all(outbox) == "x\na\nn\na\nn\na\nn\na\nn\na\nn\n");
  CHECK(outbox.gather(pieces, 4) == 0);
}

TEST_CASE_FIXTURE(Reading,
                  "bytes count the queued frames with their line ends, and come back to nothing") {
  CHECK(outbox.bytes() == 0);
  outbox.push("1234");
  outbox.push_ahead("12");
  CHECK(outbox.bytes() == 8);
  CHECK(outbox.frames() == 2);
  push(ring, "not counted, the ring holds it");
  CHECK(outbox.bytes() == 8);
  write(outbox, 3);
  CHECK(outbox.bytes() == 5);
  write(outbox, 2);
  CHECK(outbox.bytes() == 5);
  CHECK(outbox.frames() == 1);
  write(outbox, 3);
  CHECK(outbox.bytes() == 0);
  CHECK(outbox.frames() == 0);
  write_all(outbox);
  CHECK(outbox.bytes() == 0);
}

TEST_CASE("the rest of a notification is kept when the ring pushes it out meanwhile") {
  Reading t(1);
  push(t.ring, "notification");
  CHECK(write(t.outbox, 5) == "notif");
  push(t.ring, "another");
  CHECK(write_all(t.outbox) == "ication\nanother\n");
  CHECK(t.outbox.take_lost() == 0);
  CHECK(t.outbox.bytes() == 0);
}

TEST_CASE("what was pushed out before its turn is lost, said once") {
  Reading t(2);
  for (int i = 0; i < 5; ++i) push(t.ring, std::to_string(i));
  CHECK(write_all(t.outbox) == "3\n4\n");
  CHECK(t.outbox.take_lost() == 3);
  CHECK(t.outbox.take_lost() == 0);
}

TEST_CASE_FIXTURE(Reading, "reading can be ended with what is in the ring now") {
  push(ring, "n1");
  outbox.stop_at_newest();
  push(ring, "n2");
  outbox.push("a1");
  CHECK(write_all(outbox) == "n1\na1\n");
}

TEST_CASE_FIXTURE(NotReading, "only what was written whole is acknowledged") {
  push(ring, "n1");
  push(ring, "n2");
  outbox.join(today);
  CHECK_FALSE(outbox.has_unacknowledged());
  write(outbox, 4);
  CHECK(outbox.has_unacknowledged());
  outbox.acknowledge();
  CHECK(value_of(outbox.reader().acknowledged) == 2);
  ring.take(outbox.reader());
  CHECK(ring.untaken() == 1);
  CHECK(outbox.has_unacknowledged());
  write_all(outbox);
  outbox.acknowledge();
  ring.take(outbox.reader());
  CHECK(ring.untaken() == 0);
  CHECK_FALSE(outbox.has_unacknowledged());
}

TEST_CASE_FIXTURE(
    NotReading,
    "the rest of an answer does not hold back the acknowledgement of what came before it") {
  push(ring, "n1");
  outbox.join(today);
  outbox.push("answer");
  write(outbox, 5);
  outbox.acknowledge();
  ring.take(outbox.reader());
  CHECK(ring.untaken() == 0);
}

TEST_CASE_FIXTURE(NotReading, "joining twice does not begin again") {
  push(ring, "n1");
  outbox.join(today);
  CHECK(write_all(outbox) == "n1\n");
  outbox.join(today);
  CHECK(write_all(outbox).empty());
}

TEST_CASE("a client that never reads all has no more entries to acknowledge than the ring holds") {
  for (const bool coalesces : {false, true}) {
    RingLimits limits = Reading::limits(10);
    limits.coalesce = coalesces;
    Ring ring(limits);
    Outbox outbox(ring);
    if (coalesces) ring.push("kept", "m", "", today);
    for (int i = 0; i < 5000; ++i) {
      ring.push("n", "m", coalesces ? "same" : "", today);
      for (int listen = 0; listen < 3; ++listen) outbox.push("n", ring.newest());
      outbox.push("rest");
      CHECK(write(outbox, 7) == "n\nn\nn\nr");
      CHECK(write_all(outbox) == "est\n");
      REQUIRE(outbox.save().written_entries.size() <= 100);
    }
    CHECK(outbox.has_unacknowledged());
    Outbox next(ring);
    next.restore(outbox.save());
    CHECK(ring.untaken() == ring.size());
    next.acknowledge();
    CHECK(ring.untaken() == (coalesces ? 1 : 0));
    CHECK_FALSE(next.has_unacknowledged());
  }
}
