#include "process/resources.hpp"

#include <doctest/doctest.h>

#include "base/byte_budget.hpp"

using namespace bridge;

TEST_CASE("the face gets what the socket's clients and the upstream leave") {
  const DescriptorNeeds needs{256, 320, 1320};
  CHECK(needs.all() == 64 + 256 + 320 + 1320);
  CHECK(needs.frontend_share(needs.all()) == 1320);
  CHECK(needs.frontend_share(100'000) == 1320);
  CHECK(needs.frontend_share(1024) == 384);
  CHECK(needs.frontend_share(700) == 87);  // an eighth: others have to do with less
  CHECK(needs.frontend_share(256) == 32);
  CHECK(needs.frontend_share(0) == 1);
}

TEST_CASE("the soft limit is raised as far as needed and allowed, and never lowered") {
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit low = before;
  low.rlim_cur = 100;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &low) == 0);
  CHECK(raise_descriptor_limit(200).rlim_cur == 100);
  CHECK(descriptor_limit() == 200);
  CHECK(raise_descriptor_limit(50).rlim_cur == 200);
  CHECK(descriptor_limit() == 200);
  raise_descriptor_limit(static_cast<std::size_t>(-1));
  CHECK(descriptor_limit() == before.rlim_max);
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
}

TEST_CASE("a timer runs only once much has been given up, and once for it") {
  EventLoop loop;
  ByteBudget budget(64u << 20);
  HeapTrimmer heap(loop, budget);
  loop.after_turn([&heap] { heap.look(); });
  const auto runs_dry = [&loop] { return !loop.can_happen(); };
  ByteBudget::Share share(budget);
  const auto hold = [&](std::size_t bytes) {
    const EventLoop::Turn turn(loop);
    share.set(bytes);
  };
  hold(10u << 20);
  CHECK(runs_dry());  // still held
  hold((10u << 20) - 1000);
  CHECK(runs_dry());
  hold(8u << 20);
  CHECK_FALSE(runs_dry());
  loop.run();
  CHECK(runs_dry());
  hold(0);
  CHECK_FALSE(runs_dry());
}
