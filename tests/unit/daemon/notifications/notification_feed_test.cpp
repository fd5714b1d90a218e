#include "notifications/notification_feed.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "ring_helpers.hpp"

using namespace bridge;

namespace {

struct Readers final : NotificationReaders {
  void ring_grew() override { ++grew; }
  void acknowledge_read() override {
    ++asked;
    if (on_ask) on_ask();
  }
  int grew = 0;
  int asked = 0;
  std::function<void()> on_ask;
};

const SystemClock system_clock;

}  // namespace

TEST_CASE("what is published wakes all readers, what is kept out wakes none") {
  NotificationFeed feed({.excluded_methods = {"loud"}}, system_clock);
  Readers first, second;
  feed.add_readers(first);
  feed.add_readers(second);
  feed.publish("a", "m");
  feed.publish("b", "loud");
  CHECK(first.grew == 1);
  CHECK(second.grew == 1);
  CHECK(held(feed.ring()) == Lines{"a"});
}

TEST_CASE("before an untaken entry is pushed out the readers are asked whether they have read it") {
  NotificationFeed feed({.entries = 1}, system_clock);
  Readers readers;
  feed.add_readers(readers);
  RingReader reader = feed.ring().join(today);
  readers.on_ask = [&] { acknowledge(feed.ring(), reader); };
  feed.publish("a", "m");
  CHECK(readers.asked == 0);
  drain(feed.ring(), reader);
  feed.publish("b", "m");
  CHECK(readers.asked == 1);
  CHECK(feed.ring().dropped() == 0);
  feed.publish("c", "m");
  CHECK(feed.ring().dropped() == 1);
}

TEST_CASE("what the readers have read is taken, not dropped, when it has aged") {
  NotificationFeed feed({.ttl = std::chrono::milliseconds(0)}, system_clock);
  Readers readers;
  feed.add_readers(readers);
  RingReader reader = feed.ring().join(today);
  readers.on_ask = [&] { acknowledge(feed.ring(), reader); };
  feed.publish("a", "m");
  drain(feed.ring(), reader);
  feed.publish("b", "m");
  CHECK(feed.ring().dropped() == 0);
}
