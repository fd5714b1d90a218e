#include "upstream/streamable_http/exchange.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

bool is_news(Continuation& continuation, const std::string& event_id) {
  return continuation.is_news(&event_id);
}

const SteadyTime start{1000s};
const MessageTimeouts timeouts{10s, 60s, 5s};

MessageClock started() {
  MessageClock clock;
  clock.start_clock(start);
  return clock;
}

}  // namespace

TEST_CASE("a stream that broke is continued after a second, then ever later, up to 30 s") {
  Continuation continuation;
  for (const auto delay : {1s, 2s, 4s, 8s, 16s, 30s, 30s})
    CHECK(continuation.next_delay() == delay);
}

TEST_CASE("an event makes the next delay the first one again") {
  Continuation continuation;
  continuation.next_delay();
  continuation.next_delay();
  CHECK(is_news(continuation, "1"));
  CHECK(continuation.next_delay() == 1s);
}

TEST_CASE("the server's retry counts, but it is not asked in a loop") {
  Continuation continuation;
  continuation.set_retry(0ms);
  CHECK(continuation.next_delay() == 100ms);
  CHECK(continuation.next_delay() == 200ms);
  continuation.set_retry(45s);
  CHECK(continuation.next_delay() == 45s);
  continuation.set_retry(48h);
  CHECK(continuation.next_delay() == 1h);
}

TEST_CASE("what is sent again after a break is no news; before it, ids may come twice") {
  Continuation continuation;
  CHECK(is_news(continuation, "1"));
  CHECK(is_news(continuation, "1"));
  continuation.next_delay();
  CHECK_FALSE(is_news(continuation, "1"));
  CHECK(continuation.next_delay() == 2s);  // not the first one again
  CHECK(is_news(continuation, "2"));
  CHECK(continuation.is_news(nullptr));
}

TEST_CASE("the ids of the last 1024 events are known") {
  Continuation continuation;
  continuation.next_delay();
  for (int id = 0; id < 1025; ++id) CHECK(is_news(continuation, std::to_string(id)));
  CHECK_FALSE(is_news(continuation, "1"));
  CHECK(is_news(continuation, "0"));
}

TEST_CASE("another token is tried once") {
  Continuation continuation;
  CHECK(continuation.may_renew_token());
  CHECK_FALSE(continuation.may_renew_token());
}

TEST_CASE("another image of the program knows the events that came before") {
  Continuation earlier;
  CHECK(is_news(earlier, "a"));
  CHECK(is_news(earlier, "b"));
  earlier.set_retry(5s);
  Continuation later;
  later.restore({earlier.seen().begin(), earlier.seen().end()}, earlier.retry());
  CHECK_FALSE(is_news(later, "b"));
  CHECK(is_news(later, "c"));
  CHECK(later.next_delay() == 5s);
}

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
