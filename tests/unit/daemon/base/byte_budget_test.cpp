#include "base/byte_budget.hpp"

#include <doctest/doctest.h>

#include <optional>

using bridge::ByteBudget;

TEST_CASE("what all holders hold is counted together, and given back when one goes") {
  ByteBudget budget(100);
  ByteBudget::Share first(budget);
  first.set(60);
  CHECK_FALSE(budget.over());
  {
    ByteBudget::Share second(budget);
    second.add(40);
    CHECK(budget.used() == 100);
    CHECK_FALSE(budget.over());
    second.add(1);
    CHECK(budget.over());
    second.remove(21);
    CHECK(second.held() == 20);
    CHECK(budget.used() == 80);
  }
  CHECK(budget.used() == 60);
  first.set(0);
  CHECK(budget.used() == 0);
}

TEST_CASE("relief is told once, when it falls to the limit again") {
  ByteBudget budget(10);
  int relieved = 0;
  budget.on_relief([&] { ++relieved; });
  std::optional<ByteBudget::Share> share(std::in_place, budget);
  share->set(10);
  share->set(5);
  CHECK(relieved == 0);
  share->set(12);
  share->set(11);
  CHECK(relieved == 0);
  share->set(10);
  CHECK(relieved == 1);
  share->set(3);
  CHECK(relieved == 1);
  share->set(20);
  share.reset();
  CHECK(relieved == 2);
}

TEST_CASE("what was freed beside it counts for the peak, until that is taken") {
  ByteBudget budget(100);
  ByteBudget::Share share(budget);
  share.set(10);
  budget.note_freed(50);
  CHECK(budget.peak() == 60);
  CHECK(budget.used() == 10);
  budget.note_freed(5);
  CHECK(budget.take_peak() == 60);
  CHECK(budget.peak() == 10);
}

TEST_CASE("a release is told once to those that wait for room, wherever the total is") {
  ByteBudget budget(100);
  int told = 0;
  budget.on_release([&] { ++told; });
  budget.on_release([&] { ++told; });
  ByteBudget::Share share(budget);
  share.set(150);
  share.set(140);
  CHECK(told == 0);
  budget.await_room();
  budget.await_room();
  share.set(160);
  CHECK(told == 0);
  share.set(159);
  CHECK(told == 2);
  share.set(10);
  CHECK(told == 2);
  budget.await_room();
  share.set(9);
  CHECK(told == 4);
}

TEST_CASE("within a large text it is too full sooner than within a small one") {
  struct Row {
    std::size_t used, pending;
    bool too_full;
  };
  constexpr std::size_t limit = 16u << 20;
  ByteBudget budget(limit);
  ByteBudget::Share share(budget);
  for (const Row row : {Row{limit, limit, false},
                        {limit + 1, budget.small() - 1, false},
                        {limit + 1, budget.small(), true},
                        {limit / 4 * 5, 0, false},
                        {limit / 4 * 5 + 1, 0, true}}) {
    share.set(row.used);
    CHECK(budget.is_too_full_for(row.pending) == row.too_full);
  }
}
