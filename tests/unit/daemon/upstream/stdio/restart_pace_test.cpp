#include "upstream/stdio/child_upstream.hpp"

#include <doctest/doctest.h>

#include "../../event/simulated_clock.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

struct Fixture {
  explicit Fixture(bool lazy = false) : pace(loop, lazy, [this] { ++begun_by_itself; }) {}

  void run_for(std::chrono::milliseconds time) {
    pace.begun();
    clock.advance(time);
    pace.ended();
  }
  void pass(std::chrono::milliseconds time) { let_pass(clock, loop, time); }

  SimulatedClock clock;
  EventLoop loop{clock};
  int begun_by_itself = 0;
  RestartPace pace;
};

struct LazyFixture : Fixture {
  LazyFixture() : Fixture(true) {}
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "the first run may begin at once, and so may one after a good run") {
  CHECK(pace.may_begin());
  run_for(30s);
  CHECK(pace.may_begin());
}

TEST_CASE_FIXTURE(Fixture, "after a short run none begins for 500 ms, however it is asked for") {
  run_for(29s);
  CHECK(!pace.may_begin());
  pace.asked();
  pass(499ms);
  CHECK(!pace.may_begin());
  CHECK(begun_by_itself == 0);
  pass(1ms);
  CHECK(pace.may_begin());
  CHECK(begun_by_itself == 1);
}

TEST_CASE_FIXTURE(Fixture, "a run that nobody asks for begins later each time, up to 30 s") {
  for (int i = 0; i < 10; ++i) run_for(1ms);
  pass(22s);
  CHECK(begun_by_itself == 0);
  pass(8s);
  CHECK(begun_by_itself == 1);
  run_for(30s);
  pass(500ms);
  CHECK(begun_by_itself == 2);
}

TEST_CASE_FIXTURE(Fixture, "one that is asked for does not wait for that") {
  for (int i = 0; i < 10; ++i) run_for(1ms);
  pace.asked();
  pass(500ms);
  CHECK(begun_by_itself == 1);
}

TEST_CASE_FIXTURE(Fixture, "one that could not begin is tried again, until nothing is to run") {
  pace.could_not_begin();
  pass(500ms);
  CHECK(begun_by_itself == 1);
  pace.could_not_begin();
  pace.stop();
  pass(1h);
  CHECK(begun_by_itself == 1);
}

TEST_CASE_FIXTURE(LazyFixture, "a lazy one begins only when it is asked for") {
  run_for(1ms);
  pace.could_not_begin();
  pass(1h);
  CHECK(begun_by_itself == 0);
  run_for(1ms);
  pace.asked();
  pass(500ms);
  CHECK(begun_by_itself == 1);
}
