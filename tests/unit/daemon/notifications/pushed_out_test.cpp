#include "notifications/ring.hpp"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

void add(PushedOut& pushed_out, std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t number = first; number <= last; ++number) {
    pushed_out.add(static_cast<Sequence>(number));
  }
}

std::uint64_t from(const PushedOut& pushed_out, std::uint64_t number) {
  return pushed_out.count_from(static_cast<Sequence>(number));
}

}  // namespace

TEST_CASE("as many were pushed out as there are from the reader's place on") {
  PushedOut pushed_out;
  CHECK(from(pushed_out, 1) == 0);
  add(pushed_out, 1, 10);
  CHECK(from(pushed_out, 1) == 10);
  CHECK(from(pushed_out, 10) == 1);
  CHECK(from(pushed_out, 11) == 0);
}

TEST_CASE("a hole between those that were pushed out does not count") {
  PushedOut pushed_out;
  add(pushed_out, 3, 4);
  add(pushed_out, 7, 9);
  CHECK(from(pushed_out, 1) == 5);
  CHECK(from(pushed_out, 4) == 4);
  CHECK(from(pushed_out, 5) == 3);
  CHECK(from(pushed_out, 7) == 3);
  CHECK(from(pushed_out, 8) == 2);
  CHECK(from(pushed_out, 10) == 0);
}

TEST_CASE("of more holes than are kept the oldest are forgotten") {
  PushedOut pushed_out;
  const std::uint64_t count = PushedOut::max_runs + 10;
  for (std::uint64_t i = 1; i <= count; ++i) add(pushed_out, 2 * i, 2 * i);
  CHECK(from(pushed_out, 2 * count) == 1);
  CHECK(from(pushed_out, 2 * (count - 5)) == 6);
  CHECK(from(pushed_out, 1) == PushedOut::max_runs);
}
