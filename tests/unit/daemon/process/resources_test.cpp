#include "process/resources.hpp"

#include <doctest/doctest.h>

#include "base/byte_budget.hpp"
#include "base/descriptors.hpp"

using namespace bridge;

TEST_CASE("with few descriptors clients and callers get less, and the session what it needs") {
  const DescriptorShares with_frontend{64, 256, 320, 1320, 0};
  const DescriptorShares without_frontend{64, 256, 320, 0, 0};
  const DescriptorShares of_child{64, 256, 16, 0, 0};
  struct {
    DescriptorShares needs;
    std::size_t limit;
    std::size_t own, clients, upstream, frontend;
  } const rows[] = {
      {with_frontend, 1960, 64, 256, 320, 1320},
      {with_frontend, 100'000, 64, 256, 320, 1320},
      {with_frontend, 1024, 64, 256, 320, 384},
      {with_frontend, 700, 64, 229, 320, 87},
      {with_frontend, 256, 64, 32, 128, 32},
      {with_frontend, 64, 32, 8, 16, 8},
      {without_frontend, 640, 64, 256, 320, 0},
      {without_frontend, 256, 64, 32, 160, 0},
      {without_frontend, 64, 40, 8, 16, 0},
      {of_child, 128, 64, 48, 16, 0},
      {of_child, 64, 40, 8, 16, 0},
  };
  for (const auto& row : rows) {
    const DescriptorShares shares = row.needs.within(row.limit);
    CAPTURE(row.limit);
    CAPTURE(row.needs.frontend);
    CHECK(shares.own == row.own);
    CHECK(shares.clients == row.clients);
    CHECK(shares.upstream == row.upstream);
    CHECK(shares.frontend == row.frontend);
    CHECK(shares.all() <= row.limit);
  }
  for (std::size_t limit = 0; limit < 300; ++limit) {
    const DescriptorShares shares = DescriptorShares{64, 256, 320, 1320, 16}.within(limit);
    CHECK(shares.clients >= 1);
    CHECK(shares.upstream >= 1);
    CHECK(shares.frontend >= 1);
    if (limit >= DescriptorShares::smallest_limit) CHECK(shares.all() <= limit);
  }
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
