// What the supervisor says of the session, and when an unused daemon ends.
#include "control/supervisor.hpp"

#include <doctest/doctest.h>

#include <set>

#include "../event/simulated_clock.hpp"

using namespace bridge;
using State = Session::State;
using namespace std::chrono_literals;

TEST_CASE("every state of the session has words of its own that name the upstream") {
  std::set<std::string> all;
  for (const State state : {State::idle, State::opening, State::open, State::reopening,
                            State::waiting, State::refused}) {
    const std::string words = describe_state(state, "https://example.com/mcp", std::nullopt);
    CAPTURE(words);
    CHECK(words.find("https://example.com/mcp") != words.npos);
    CHECK(words.find('\n') == words.npos);
    all.insert(words);
  }
  CHECK(all.size() == 6);
}

TEST_CASE("why the upstream is away is said while it is away, and not afterwards") {
  const Failure failure = failure_of(ErrorKind::connect, Delivered::no, "connection refused");
  const auto says_why = [&](State state) {
    return describe_state(state, "there", failure).find("connection refused") != std::string::npos;
  };
  CHECK(says_why(State::waiting));
  CHECK(says_why(State::refused));
  CHECK_FALSE(says_why(State::open));
  CHECK_FALSE(says_why(State::idle));
}

namespace {

struct Idle {
  explicit Idle(std::chrono::milliseconds exit = 10min) : idle(make(exit)) {
    loop.after_turn([this] { idle.look(); });
    happens([] {});
  }
  IdleExit make(std::chrono::milliseconds exit) {
    return IdleExit(
        loop, {exit, 1h}, [this] { return activity; }, [this] { ++ended; });
  }
  template <class What>
  void happens(What&& what) {
    const EventLoop::Turn turn(loop);
    what();
  }
  void pass(std::chrono::milliseconds time) { let_pass(clock, loop, time); }

  SimulatedClock clock;
  EventLoop loop{clock};
  Activity activity;
  int ended = 0;
  IdleExit idle;
};

}  // namespace

TEST_CASE("it ends once nothing was under way for so long, and once only") {
  Idle t;
  t.pass(9min);
  t.happens([] {});  // no work
  t.pass(1min - 1ms);
  CHECK(t.ended == 0);
  t.pass(1ms);
  CHECK(t.ended == 1);
  t.happens([] {});
  t.pass(24h);
  CHECK(t.ended == 1);
}

TEST_CASE("whatever is under way begins the time anew") {
  Idle t;
  t.pass(9min);
  t.happens([&t] { t.activity.is_busy = true; });
  t.pass(24h);
  t.happens([&t] { t.activity.is_busy = false; });
  t.pass(9min);
  CHECK(t.ended == 0);
  t.pass(1min);
  CHECK(t.ended == 1);
}

TEST_CASE("untaken notifications keep it for a time of their own") {
  Idle t;
  t.happens([&t] { t.activity.has_untaken = true; });
  t.pass(1h);
  CHECK(t.ended == 0);
  t.pass(10min);
  CHECK(t.ended == 1);
  Idle taken;
  taken.happens([&taken] { taken.activity.has_untaken = true; });
  taken.pass(30min);
  taken.happens([&taken] { taken.activity.has_untaken = false; });
  taken.pass(0ms);
  CHECK(taken.ended == 1);
}

TEST_CASE("without a session so far, and without hope of one, a minute is enough") {
  Idle t;
  t.happens([&t] { t.activity.is_of_no_use = true; });
  t.pass(1min - 1ms);
  CHECK(t.ended == 0);
  t.pass(1ms);
  CHECK(t.ended == 1);
  Idle shorter(10s);
  shorter.happens([&shorter] { shorter.activity.is_of_no_use = true; });
  shorter.pass(10s);
  CHECK(shorter.ended == 1);
}

TEST_CASE("without --idle-exit nothing is looked at") {
  Idle t(0ms);
  CHECK_FALSE(t.loop.next_due().has_value());
  t.pass(48h);
  CHECK(t.ended == 0);
}
