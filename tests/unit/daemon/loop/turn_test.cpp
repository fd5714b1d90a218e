#include "loop/turn.hpp"

#include <doctest/doctest.h>

using bridge::Turn;

TEST_CASE("a turn is finished once, at the end of its outermost scope, if somebody asked for it") {
  Turn turn;
  int finished = 0;
  turn.on_finish([&] { ++finished; });
  { Turn::Scope scope(turn); }
  CHECK(finished == 0);
  {
    Turn::Scope outer(turn);
    {
      Turn::Scope inner(turn);
      turn.request_finish();
      turn.request_finish();
    }
    CHECK(finished == 0);
    turn.request_finish();
  }
  CHECK(finished == 1);
}

TEST_CASE("what finishing brings with it is finished in the same turn") {
  Turn turn;
  int finished = 0;
  turn.on_finish([&] {
    Turn::Scope scope(turn);
    if (++finished < 3) turn.request_finish();
  });
  {
    Turn::Scope scope(turn);
    turn.request_finish();
  }
  CHECK(finished == 3);
}
