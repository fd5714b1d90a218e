#include "session/upstream_listen.hpp"

#include <doctest/doctest.h>

#include <string>

using bridge::StreamOverlap;
using bridge::UpstreamId;

namespace {

constexpr UpstreamId one{1};
constexpr UpstreamId two{2};
constexpr UpstreamId three{3};

}  // namespace

TEST_CASE("of one stream all is news") {
  StreamOverlap told;
  told.begin(one);
  CHECK(told.is_news(one, "a"));
  CHECK(told.is_news(one, "a"));
  CHECK_FALSE(told.has_several());
}

TEST_CASE("of two streams the n-th equal text is one, whichever tells it first") {
  StreamOverlap told;
  told.begin(one);
  told.begin(two);
  CHECK(told.is_news(one, "a"));
  CHECK(told.is_news(two, "b"));
  CHECK(told.is_news(one, "a"));
  CHECK_FALSE(told.is_news(one, "b"));
  CHECK_FALSE(told.is_news(two, "a"));
  CHECK_FALSE(told.is_news(two, "a"));
  CHECK(told.is_news(two, "a"));
}

TEST_CASE("what was told before a stream was asked for does not come on it") {
  StreamOverlap told;
  told.begin(one);
  told.begin(two);
  CHECK(told.is_news(one, "a"));
  CHECK_FALSE(told.is_news(two, "a"));
  told.begin(three);
  CHECK(told.is_news(three, "a"));
  CHECK_FALSE(told.is_news(two, "a"));
  CHECK_FALSE(told.is_news(one, "a"));
}

TEST_CASE("a stream of which two are left repeats them still, and alone nothing") {
  StreamOverlap told;
  told.begin(one);
  told.begin(two);
  told.begin(three);
  CHECK(told.is_news(one, "a"));
  told.keep_only({two, three});
  CHECK_FALSE(told.is_news(two, "a"));
  told.keep_only({three});
  CHECK(told.is_news(three, "a"));
}

TEST_CASE("it is bounded") {
  StreamOverlap told;
  told.begin(one);
  told.begin(two);
  for (std::size_t text = 0; text < 3 * StreamOverlap::max_texts; ++text)
    CHECK(told.is_news(one, std::to_string(text)));
  CHECK_FALSE(told.is_news(two, std::to_string(3 * StreamOverlap::max_texts - 1)));
  CHECK(told.is_news(two, "0"));
}

TEST_CASE("the last words of a stream that was given up are repeated, what was before is not") {
  StreamOverlap told;
  told.begin(one);
  told.begin(two);
  CHECK(told.is_news(one, "a"));  // before the second was listened to
  told.acknowledged();
  CHECK(told.is_news(one, "b"));
  told.settle(two);
  CHECK_FALSE(told.is_news(two, "b"));
  CHECK(told.is_news(two, "a"));
  CHECK(told.is_news(two, "b"));
}
