#include "event/event_loop.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "event/descriptor_watch.hpp"
#include "simulated_clock.hpp"

using namespace bridge;
using namespace std::chrono_literals;

TEST_CASE("what is deferred is done once, at the end of the outermost turn") {
  EventLoop loop;
  int done = 0;
  Deferred deferred(loop, [&] { ++done; });
  {
    const EventLoop::Turn outer(loop);
    {
      const EventLoop::Turn inner(loop);
      deferred.schedule();
      deferred.schedule();
    }
    CHECK(done == 0);
    deferred.schedule();
  }
  CHECK(done == 1);
  { const EventLoop::Turn another(loop); }
  CHECK(done == 1);
  // Outside of any turn it begins one.
  deferred.schedule();
  CHECK(done == 1);
  loop.run();
  CHECK(done == 2);
}

TEST_CASE("what is deferred while others run is done in the same turn, in the order of asking") {
  EventLoop loop;
  std::string order;
  Deferred second(loop, [&] { order += "2"; });
  Deferred first(loop, [&] {
    order += "1";
    if (order.size() < 4) second.schedule();
  });
  Deferred third(loop, [&] {
    order += "3";
    if (order.size() < 4) first.schedule();
  });
  {
    const EventLoop::Turn turn(loop);
    first.schedule();
    third.schedule();
  }
  CHECK(order == "1321");
}

TEST_CASE("what is destroyed or cancelled while it is deferred is not done") {
  EventLoop loop;
  int done = 0;
  {
    const EventLoop::Turn turn(loop);
    Deferred last(loop, [&] { ++done; });
    auto destroyed = std::make_unique<Deferred>(loop, [&] { ++done; });
    Deferred cancelled(loop, [&] { ++done; });
    destroyed->schedule();
    cancelled.schedule();
    last.schedule();
    destroyed.reset();
    cancelled.cancel();
    CHECK_FALSE(cancelled.is_scheduled());
  }
  CHECK(done == 0);
}

namespace {

/// A pipe with a byte to read.
class ReadablePipe {
 public:
  ReadablePipe(EventLoop& loop, std::function<void()> readable) {
    std::array<int, 2> ends{};
    REQUIRE(pipe(ends.data()) == 0);
    REQUIRE(write(ends[1], "x", 1) == 1);
    close(ends[1]);
    watch_ = std::make_unique<DescriptorWatch>(
        loop, ends[0], [action = std::move(readable)](DescriptorWatch::Event) { action(); });
    watch_->want(DescriptorWatch::Event::readable);
  }

 private:
  std::unique_ptr<DescriptorWatch> watch_;
};

}  // namespace

TEST_CASE("what waits for the end of the round is done when all that came at once was told") {
  EventLoop loop;
  std::string order;
  Deferred again(
      loop, [&] { order += "A"; }, Deferred::Until::end_of_round);
  Deferred round(
      loop,
      [&] {
        order += "R";
        again.schedule();
      },
      Deferred::Until::end_of_round);
  Deferred cancelled(
      loop, [&] { order += "-"; }, Deferred::Until::end_of_round);
  Deferred turn(loop, [&] { order += "t"; });
  loop.after_turn([&] { order += "."; });
  const auto came = [&] {
    order += "e";
    round.schedule();
    cancelled.schedule();
    turn.schedule();
  };
  const ReadablePipe one(loop, came);
  const ReadablePipe other(loop, [&] {
    came();
    cancelled.cancel();
  });
  CHECK(loop.run_once(5s) == 2);
  CHECK(order == "et.et.RA.");
}

TEST_CASE("a round began when the wait for it ended, however long its turns take") {
  SimulatedClock clock;
  EventLoop loop(clock);
  std::vector<SteadyTime> began;
  const SteadyTime start = clock.now();
  Deferred round(
      loop, [&] { began.push_back(loop.round_began()); }, Deferred::Until::end_of_round);
  const auto came = [&] {
    began.push_back(loop.round_began());
    clock.advance(1s);
    round.schedule();
  };
  const ReadablePipe one(loop, came), other(loop, came);
  CHECK(loop.run_once(5s) == 2);
  CHECK(began == std::vector<SteadyTime>{start, start, start});
  CHECK(loop.round_began() == start + 2s);
}

TEST_CASE("a loop that was stopped in a round ends it, and tells the rest in another one") {
  EventLoop loop;
  std::string order;
  Deferred round(
      loop, [&] { order += "R"; }, Deferred::Until::end_of_round);
  const auto came = [&] {
    order += "e";
    round.schedule();
    loop.stop();
  };
  const ReadablePipe one(loop, came), other(loop, came);
  loop.run();
  CHECK(order == "eR");
  loop.settle();
  CHECK(order == "eReR");
}

TEST_CASE("outside of a round its end is that of the turn") {
  EventLoop loop;
  std::string order;
  Deferred round(
      loop, [&] { order += "R"; }, Deferred::Until::end_of_round);
  {
    const EventLoop::Turn turn(loop);
    round.schedule();
    order += "t";
  }
  CHECK(order == "tR");
  round.schedule();
  CHECK(order == "tR");
  loop.run();
  CHECK(order == "tRR");
}

TEST_CASE("what is over is destroyed when the turn ends, after what was deferred") {
  EventLoop loop;
  std::string order;
  struct Over {
    std::string& order;
    Deferred* next = nullptr;
    ~Over() {
      order += "x";
      if (next != nullptr) next->schedule();
    }
  };
  Deferred after(loop, [&] { order += "2"; });
  Deferred before(loop, [&] { order += "1"; });
  loop.after_turn([&] { order += "."; });
  {
    const EventLoop::Turn turn(loop);
    loop.reap(std::unique_ptr<Over>(new Over{order, &after}));
    before.schedule();
    CHECK(order.empty());
  }
  CHECK(order == "1x2.");
}

TEST_CASE(
    "what the loop owns is destroyed when it is disowned, at the end of the turn, or with it") {
  int destroyed = 0;
  struct Owned {
    int& count;
    ~Owned() { ++count; }
  };
  {
    EventLoop loop;
    auto first = std::unique_ptr<Owned>(new Owned{destroyed});
    const Owned* const known = first.get();
    loop.own(std::move(first));
    loop.own(std::unique_ptr<Owned>(new Owned{destroyed}));
    {
      const EventLoop::Turn turn(loop);
      loop.disown(known);
      CHECK(destroyed == 0);
    }
    CHECK(destroyed == 1);
  }
  CHECK(destroyed == 2);
}

TEST_CASE("timers run in their order, by the loop's clock") {
  SimulatedClock clock;
  EventLoop loop(clock);
  std::string order;
  DeadlineTimer late(loop, [&] { order += "l"; });
  DeadlineTimer early(loop, [&] {
    order += "e";
    late.set_after(1s);
  });
  late.set_after(3s);
  early.set_after(2s);
  CHECK_FALSE(loop.run_due());
  clock.advance(2s);
  CHECK(loop.run_due());
  CHECK(order == "e");
  clock.advance(1s);
  CHECK(loop.run_due());
  CHECK(order == "el");
  CHECK_FALSE(loop.next_due().has_value());
}

TEST_CASE("a deadline that was moved later, cleared or destroyed does not come at its old time") {
  SimulatedClock clock;
  EventLoop loop(clock);
  int expired = 0;
  DeadlineTimer moved(loop, [&] { ++expired; });
  DeadlineTimer cleared(loop, [&] { ++expired; });
  auto destroyed = std::make_unique<DeadlineTimer>(loop, [&] { ++expired; });
  for (DeadlineTimer* timer : {&moved, &cleared, destroyed.get()}) timer->set_after(1s);
  moved.set_after(5s);
  cleared.clear();
  destroyed.reset();
  clock.advance(4s);
  loop.run_due();
  CHECK(expired == 0);
  CHECK(moved.is_set());
  clock.advance(1s);
  loop.run_due();
  CHECK(expired == 1);
}

TEST_CASE("with the machine's clock the loop wakes up for its timers by itself") {
  EventLoop loop;
  int expired = 0;
  DeadlineTimer far(loop, [] {});
  DeadlineTimer near(loop, [&] {
    ++expired;
    loop.stop();
  });
  far.set_after(1h);
  near.set_after(1ms);
  loop.run();
  CHECK(expired == 1);
}

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
