#include "process/resources.hpp"

#include <doctest/doctest.h>

#include "base/byte_budget.hpp"

using namespace bridge;

TEST_CASE("the budget knows the most that was held since it was last asked") {
  ByteBudget budget(100);
  ByteBudget::Share share(budget);
  share.set(70);
  share.set(20);
  CHECK(budget.peak() == 70);
  CHECK(budget.take_peak() == 70);
  CHECK(budget.peak() == 20);
  share.add(5);
  share.set(0);
  CHECK(budget.take_peak() == 25);
  CHECK(budget.peak() == 0);
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
