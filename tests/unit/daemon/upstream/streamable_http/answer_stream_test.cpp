#include "upstream/streamable_http/answer_stream.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

bool is_news(Continuation& continuation, const std::string& event_id) {
  return continuation.is_news(&event_id);
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
