#include "upstream/stdio/child_upstream.hpp"

#include <doctest/doctest.h>

#include "../../event/simulated_clock.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

const SteadyTime start{1000s};
constexpr UpstreamId id(std::uint64_t number) { return static_cast<UpstreamId>(number); }

ChildRequest at(SteadyTime time, std::uint32_t run = 1) {
  ChildRequest request;
  request.clock.start_clock(time);
  request.run = run;
  return request;
}

struct Fixture {
  SteadyTime deadline(const ChildRequest& request, SteadyTime last_activity,
                      MessageTimeouts timeouts) {
    requests.set_timeouts(timeouts);
    requests.note_activity(last_activity);
    return requests.deadline(request);
  }

  ByteBudget budget{1 << 20};
  ChildRequests requests{budget, {0s, 0s}};
};

struct PaceFixture {
  explicit PaceFixture(bool lazy = false) : pace(loop, lazy, [this] { ++begun_by_itself; }) {}

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

struct LazyFixture : PaceFixture {
  LazyFixture() : PaceFixture(true) {}
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a request waits for a byte of the child, and for its answer in all") {
  const MessageTimeouts timeouts{10s, 60s};
  CHECK(deadline(at(start), start - 5s, timeouts) == start + 10s);
  CHECK(deadline(at(start), start + 5s, timeouts) == start + 15s);
  CHECK(!requests.took_too_long(at(start), start + 59s));
  CHECK(requests.took_too_long(at(start), start + 60s));
}

TEST_CASE_FIXTURE(Fixture,
                  "no time runs while a question is open, and all of the silence is left then") {
  const MessageTimeouts timeouts{10s, 60s};
  requests.set_timeouts(timeouts);
  ChildRequest& request = requests.add(id(1), at(start));
  requests.hold_deadline(id(1), true, start + 9s);
  requests.hold_deadline(id(1), true, start + 20s);
  CHECK(requests.deadline(request) == SteadyTime::max());
  requests.hold_deadline(id(1), false, start + 109s);
  CHECK(requests.deadline(request) == start + 119s);
  requests.hold_deadline(id(2), true, start);
}

TEST_CASE_FIXTURE(
    Fixture,
    "a notification waits for a child that does not read no longer than what is behind it may") {
  ChildRequest notification = at(start);
  notification.message.kind = OutgoingKind::notification;
  CHECK(deadline(notification, start, {0s, 0s}) == start + 30s);
}

TEST_CASE_FIXTURE(Fixture,
                  "those whose time is over are named in order, and when the next one is due") {
  requests.set_timeouts({10s, 0s});
  requests.note_activity(start);
  requests.add(id(3), at(start));
  requests.add(id(1), at(start));
  requests.add(id(2), at(start + 4s));
  SteadyTime next = SteadyTime::max();
  CHECK(requests.expired(start + 10s, next) == std::vector<UpstreamId>{id(1), id(3)});
  CHECK(next == start + 14s);
}

TEST_CASE_FIXTURE(Fixture, "a run's requests are those that were given to it") {
  requests.add(id(2), at(start, 1));
  requests.add(id(1), at(start, 1));
  requests.add(id(3), at(start, 2));
  CHECK(requests.of_run(1) == std::vector<UpstreamId>{id(1), id(2)});
  CHECK(requests.take(id(1)));
  CHECK_FALSE(requests.take(id(1)));
  CHECK(requests.find(id(1)) == nullptr);
  CHECK(requests.of_run(1) == std::vector<UpstreamId>{id(2)});
}

TEST_CASE_FIXTURE(Fixture, "what is written is kept, and counted, until it is answered") {
  for (const std::uint64_t number : {1u, 2u}) {
    requests.keep(requests.add(id(number), at(start)), {id(number), std::string(100, 'x'), 7});
  }
  CHECK(budget.used() == 200);
  const auto answered = requests.take(id(1));
  REQUIRE(answered);
  CHECK(answered->written);
  CHECK(answered->begin == 7);
  CHECK(answered->message.body.size() == 100);
  CHECK(budget.used() == 100);
  requests.clear();
  CHECK(budget.used() == 0);
}

TEST_CASE("another image of the program awaits what was asked, for the time that is left") {
  Fixture earlier;
  earlier.requests.note_activity(start + 1s);
  ChildRequest request = at(start, 3);
  request.message.id = id(7);
  request.message.kind = OutgoingKind::request;
  request.message.may_repeat = true;
  request.message.notes.session = 2;
  ChildRequest& asked = earlier.requests.add(id(7), std::move(request));
  earlier.requests.keep(asked, {id(7), "{}", 40});
  const auto saved = earlier.requests.save_requests(start + 1s);
  REQUIRE(saved.size() == 1);
  Fixture later;
  const ChildRequest& again = later.requests.restore(saved[0]);
  CHECK(later.requests.of_run(3) == std::vector<UpstreamId>{id(7)});
  CHECK(again.written);
  CHECK(again.begin == 40);
  CHECK(again.message.body == "{}");
  CHECK(again.message.may_repeat);
  CHECK(again.message.notes.session == 2);
  later.requests.set_timeouts({10s, 60s});
  CHECK(later.requests.deadline(again) == start + 11s);
  CHECK(later.requests.take(id(7)));
}

TEST_CASE_FIXTURE(PaceFixture, "the first run may begin at once, and so may one after a good run") {
  CHECK(pace.may_begin());
  run_for(30s);
  CHECK(pace.may_begin());
}

TEST_CASE_FIXTURE(PaceFixture,
                  "after a short run none begins for 500 ms, however it is asked for") {
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

TEST_CASE_FIXTURE(PaceFixture, "a run that nobody asks for begins later each time, up to 30 s") {
  for (int i = 0; i < 10; ++i) run_for(1ms);
  pass(22s);
  CHECK(begun_by_itself == 0);
  pass(8s);
  CHECK(begun_by_itself == 1);
  run_for(30s);
  pass(500ms);
  CHECK(begun_by_itself == 2);
}

TEST_CASE_FIXTURE(PaceFixture, "one that is asked for does not wait for that") {
  for (int i = 0; i < 10; ++i) run_for(1ms);
  pace.asked();
  pass(500ms);
  CHECK(begun_by_itself == 1);
}

TEST_CASE_FIXTURE(PaceFixture, "one that could not begin is tried again, until nothing is to run") {
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
