#include "upstream/message_clock.hpp"

#include <doctest/doctest.h>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

const SteadyTime start{1000s};
const MessageTimeouts timeouts{10s, 60s, 5s};

MessageClock started() {
  MessageClock clock;
  clock.start_clock(start);
  return clock;
}

}  // namespace

TEST_CASE("a message waits for a byte, and for its answer in all") {
  MessageClock clock = started();
  CHECK(clock.deadline(timeouts) == start + 10s);
  clock.note_activity(start + 8s);
  CHECK(clock.deadline(timeouts) == start + 18s);
  clock.note_activity(start + 55s);
  CHECK(clock.deadline(timeouts) == start + 60s);
  CHECK_FALSE(clock.took_too_long(start + 59s, timeouts));
  CHECK(clock.took_too_long(start + 60s, timeouts));
  CHECK(clock.deadline({0s, 0s, 5s}) == SteadyTime::max());
}

TEST_CASE("what the bridge does not read is not late, but a pause puts no deadline off for ever") {
  MessageClock clock = started();
  clock.pause(start + 2s);
  CHECK(clock.deadline(timeouts) == start + 15s);
  CHECK(clock.deadline({0s, 60s, 5s}) == start + 65s);
  clock.proceed(start + 4s);
  CHECK(clock.deadline(timeouts) == start + 14s);
  CHECK(clock.deadline({0s, 60s, 5s}) == start + 62s);
  // Many pauses extend the time no more than one does.
  for (int n = 0; n < 10; ++n) {
    clock.pause(start + 10s + n * 4s);
    clock.proceed(start + 13s + n * 4s);
  }
  CHECK(clock.deadline({0s, 60s, 5s}) == start + 65s);
  clock.pause(start + 60s);
  CHECK(clock.deadline({0s, 60s, 5s}) == start + 65s);
  CHECK(clock.took_too_long(start + 65s, timeouts));
}

TEST_CASE("no time runs while a question is open, and all of the silence is left afterwards") {
  MessageClock clock = started();
  clock.hold(start + 9s);
  CHECK(clock.deadline(timeouts) == SteadyTime::max());
  CHECK_FALSE(clock.took_too_long(start + 600s, timeouts));
  CHECK(clock.started(start + 109s) == start + 100s);
  clock.release(start + 109s);
  CHECK(clock.deadline(timeouts) == start + 119s);
  CHECK(clock.deadline({0s, 60s, 5s}) == start + 160s);
  clock.release(start + 500s);
  CHECK(clock.deadline(timeouts) == start + 119s);
}

TEST_CASE("an answer on another stream is as alive as that one, which is never paused") {
  MessageClock clock = started();
  clock.pause(start);
  CHECK(clock.deadline(timeouts, start + 3s) == start + 13s);
  CHECK(clock.deadline(timeouts, start - 3s) == start + 10s);
}

TEST_CASE("a notification is handed over in its time, paused or not") {
  MessageClock clock = started();
  clock.pause(start);
  CHECK(clock.deadline({0s, 0s, 5s, 30s}) == start + 30s);
}

TEST_CASE("another image of the program goes on with the time that is left in all") {
  MessageClock earlier = started();
  earlier.pause(start + 1s);
  MessageClock later;
  later.restore(earlier.started(start + 4s), earlier.excused(start + 4s), start + 4s);
  CHECK(later.deadline(timeouts) == start + 14s);
  later.note_activity(start + 62s);
  CHECK(later.deadline(timeouts) == start + 63s);
}
