// BEHAVIOUR, "Local server: its process".
#include "upstream/stdio/child_runs.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "../../event/simulated_clock.hpp"

using namespace bridge;
using namespace std::chrono_literals;
using Step = ChildShutdown::Step;

namespace {

struct Fixture {
  void pass(std::chrono::milliseconds time) { let_pass(clock, loop, time); }
  void begin() {
    shutdown.begin([this] { ++done; });
  }

  SimulatedClock clock;
  EventLoop loop{clock};
  std::vector<std::pair<Step, std::chrono::milliseconds>> steps;
  const SteadyTime start = clock.now();
  int done = 0;
  ChildShutdown shutdown{loop, [this](Step step) {
                           const auto since = clock.now() - start;
                           steps.emplace_back(
                               step, std::chrono::duration_cast<std::chrono::milliseconds>(since));
                         }};
};

using Steps = std::vector<std::pair<Step, std::chrono::milliseconds>>;

}  // namespace

TEST_CASE_FIXTURE(Fixture, "one that ignores everything is given up after 2.3 s") {
  begin();
  CHECK(shutdown.is_under_way());
  pass(2299ms);
  CHECK(steps == Steps{{Step::input_closed, 0ms}, {Step::terminated, 1s}, {Step::killed, 2s}});
  CHECK(done == 0);
  pass(1ms);
  CHECK(done == 1);
  shutdown.run_ended();
  pass(1h);
  CHECK(done == 1);
  CHECK(steps.size() == 3);
}

TEST_CASE_FIXTURE(Fixture, "one that ends when its stdin is closed gets no signal") {
  begin();
  pass(900ms);
  shutdown.run_ended();
  CHECK(done == 1);
  pass(1h);
  CHECK(done == 1);
  CHECK(steps == Steps{{Step::input_closed, 0ms}});
}

TEST_CASE_FIXTURE(Fixture, "one that has closed a pipe has 500 ms to end") {
  shutdown.pipe_closed();
  pass(400ms);
  shutdown.pipe_closed();
  CHECK(!shutdown.is_under_way());
  pass(100ms);
  CHECK(steps == Steps{{Step::none, 500ms}});
  shutdown.run_ended();
  shutdown.pipe_closed();
  shutdown.run_ended();
  pass(1h);
  CHECK(steps.size() == 1);
  CHECK(done == 0);
}

TEST_CASE_FIXTURE(Fixture, "while it is made to end, a pipe that it closes changes nothing") {
  shutdown.pipe_closed();
  begin();
  shutdown.pipe_closed();
  pass(999ms);
  CHECK(steps == Steps{{Step::input_closed, 0ms}});
  pass(1ms);
  CHECK(steps.back() == std::pair{Step::terminated, 1000ms});
}
