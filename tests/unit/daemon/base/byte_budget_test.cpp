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
