#include "event/event_loop.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

using namespace bridge;

namespace {

struct Timer final : QueuedTimer {
  explicit Timer(std::vector<Timer*>& log_) : log(log_) {}
  void expired() override { log.push_back(this); }
  std::vector<Timer*>& log;
};

}  // namespace

TEST_CASE("whatever is set, moved and removed, the earliest timer comes first") {
  std::minstd_rand random(7);
  std::vector<Timer*> log;
  std::vector<std::unique_ptr<Timer>> timers;
  for (int i = 0; i < 200; ++i) timers.push_back(std::make_unique<Timer>(log));
  TimerQueue queue;
  const auto at = [](unsigned second) { return SteadyTime{} + std::chrono::seconds(second); };
  for (int step = 0; step < 5000; ++step) {
    Timer& timer = *timers[random() % timers.size()];
    if (random() % 4 == 0) {
      queue.remove(timer);
      CHECK_FALSE(timer.is_queued());
    } else {
      queue.set(timer, at(static_cast<unsigned>(random() % 1000)));
      CHECK(timer.is_queued());
    }
    SteadyTime earliest = SteadyTime::max();
    for (const auto& one : timers) {
      if (one->is_queued()) earliest = std::min(earliest, one->due());
    }
    REQUIRE(queue.next().value_or(SteadyTime::max()) == earliest);
  }
  std::size_t left = 0;
  for (const auto& one : timers) left += one->is_queued() ? 1 : 0;
  CHECK_FALSE(queue.run_one(SteadyTime{} - std::chrono::seconds(1)));
  while (queue.run_one(at(2000))) {
  }
  CHECK(log.size() == left);
  CHECK(std::is_sorted(log.begin(), log.end(),
                       [](const Timer* a, const Timer* b) { return a->due() < b->due(); }));
}
