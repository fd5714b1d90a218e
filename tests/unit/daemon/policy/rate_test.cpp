#include "policy/rate.hpp"

#include <doctest/doctest.h>

using bridge::Rate;
using bridge::TokenBucket;
using namespace std::chrono_literals;

namespace {

constexpr TokenBucket::Time start{1000s};

}  // namespace

TEST_CASE("a burst of N goes at once, then one for each part of the time") {
  const Rate rate{3, 3s};
  TokenBucket bucket;
  for (int i = 0; i < 3; ++i) CHECK_FALSE(bucket.take(rate, start));
  CHECK(bucket.take(rate, start) == 1000ms);
  CHECK(bucket.take(rate, start + 400ms) == 600ms);
  CHECK_FALSE(bucket.take(rate, start + 1s));
  CHECK(bucket.take(rate, start + 1s) == 1000ms);
}

TEST_CASE("what is refused takes no token") {
  const Rate rate{1, 1s};
  TokenBucket bucket;
  CHECK_FALSE(bucket.take(rate, start));
  for (int i = 0; i < 100; ++i) CHECK(bucket.take(rate, start + 500ms) == 500ms);
  CHECK_FALSE(bucket.take(rate, start + 1s));
}

TEST_CASE("after a long time no more than the burst is there") {
  const Rate rate{2, 2s};
  TokenBucket bucket;
  CHECK_FALSE(bucket.take(rate, start));
  CHECK_FALSE(bucket.take(rate, start + 1h));
  CHECK_FALSE(bucket.take(rate, start + 1h));
  CHECK(bucket.take(rate, start + 1h));
}

TEST_CASE("less than a millisecond is told as one") {
  const Rate rate{10000, 1s};
  TokenBucket bucket;
  for (int i = 0; i < 10000; ++i) CHECK_FALSE(bucket.take(rate, start));
  CHECK(bucket.take(rate, start) == 1ms);
}

TEST_CASE("another rate goes on with the same bucket, which is no emptier than empty") {
  TokenBucket bucket;
  const Rate slow{1, 1h};
  CHECK_FALSE(bucket.take(slow, start));
  const Rate fast{1, 1s};
  CHECK(bucket.take(fast, start) == 1000ms);
  CHECK_FALSE(bucket.take(fast, start + 1s));
}

TEST_CASE("a bucket goes on where another one was") {
  const Rate rate{1, 10s};
  TokenBucket bucket;
  CHECK_FALSE(bucket.take(rate, start));
  TokenBucket next(bucket.full_at());
  CHECK(next.take(rate, start + 4s) == 6000ms);
}
