// BEHAVIOUR, "Limits".
#include "upstream/streamable_http/exchange_table.hpp"

#include <doctest/doctest.h>

#include "../../event/simulated_clock.hpp"

using namespace bridge;

namespace {

Outgoing message(std::uint64_t id, OutgoingKind kind, std::size_t bytes = 10) {
  Outgoing one;
  one.id = static_cast<UpstreamId>(id);
  one.kind = kind;
  one.body.assign(bytes, 'x');
  return one;
}

std::uint64_t next(UnsentMessages& unsent) {
  const auto one = unsent.pop();
  return one ? static_cast<std::uint64_t>(one->id) : 0;
}

Outgoing cancellation(std::uint64_t id, std::size_t bytes = 10) {
  Outgoing one = message(id, OutgoingKind::notification, bytes);
  one.cancels = true;
  return one;
}

struct Fixture {
  void advance(std::chrono::milliseconds time) { let_pass(clock, loop, time); }

  SimulatedClock clock;
  EventLoop loop{clock};
  ByteBudget budget{64 << 20};
  std::vector<std::uint64_t> dropped;
  std::size_t wakeups = 0;
  UnsentMessages unsent{loop, budget, [this] {
                          ++wakeups;
                          for (const UpstreamId id : unsent.take_overdue())
                            dropped.push_back(value_of(id));
                        }};
};

constexpr OutgoingKind request = OutgoingKind::request;
constexpr OutgoingKind notification = OutgoingKind::notification;

}  // namespace

TEST_CASE_FIXTURE(Fixture, "requests go first, each kind in its order") {
  CHECK(unsent.push(message(1, notification)));
  CHECK(unsent.push(message(2, request)));
  CHECK(unsent.push(message(3, OutgoingKind::response)));
  CHECK(unsent.push(message(4, request)));
  for (const std::uint64_t id : {2u, 4u, 1u, 3u}) CHECK(next(unsent) == id);
  CHECK(unsent.empty());
  CHECK(budget.used() == 0);
}

TEST_CASE_FIXTURE(Fixture,
                  "32 notifications and answers are under way at a time; a request always may") {
  for (std::size_t i = 0; i < UnsentMessages::max_under_way; ++i)
    unsent.started(message(9, notification));
  unsent.started(message(9, request));
  CHECK(!unsent.may_start(message(1, notification)));
  CHECK(unsent.may_start(message(1, request)));
  CHECK(unsent.push(message(1, notification)));
  CHECK(next(unsent) == 0);
  unsent.message_ended(message(9, request));
  CHECK(next(unsent) == 0);
  unsent.message_ended(message(9, notification));
  CHECK(next(unsent) == 1);
}

TEST_CASE_FIXTURE(Fixture, "what is over the bound is not taken, but one alone always is") {
  CHECK(unsent.push(message(1, notification, UnsentMessages::max_bytes + 1)));
  Outgoing second = message(2, notification);
  CHECK(!unsent.push(std::move(second)));
  CHECK(second.body.size() == 10);
  CHECK(unsent.push(message(3, request)));
  unsent.forget(static_cast<UpstreamId>(1));
  CHECK(budget.used() == 0);
  CHECK(unsent.push(std::move(second)));
}

TEST_CASE_FIXTURE(Fixture, "requests can be taken out alone, or all at once") {
  for (const std::uint64_t id : {1u, 2u}) {
    CHECK(unsent.push(message(id, notification)));
    CHECK(unsent.push(message(id + 10, request)));
  }
  unsent.forget(static_cast<UpstreamId>(11));
  CHECK(unsent.take_requests().size() == 1);
  CHECK(unsent.push(message(13, request)));
  const auto all = unsent.take_all();
  REQUIRE(all.size() == 3);
  CHECK(static_cast<std::uint64_t>(all[0].id) == 13);
  CHECK(static_cast<std::uint64_t>(all[2].id) == 2);
  CHECK(unsent.empty());
  CHECK(budget.used() == 0);
}

TEST_CASE_FIXTURE(Fixture,
                  "what has waited for 30 s is dropped, and a timer is set only for that") {
  CHECK(!loop.next_due());
  CHECK(unsent.push(message(1, request)));
  CHECK(!loop.next_due());
  CHECK(unsent.push(cancellation(2)));
  advance(std::chrono::seconds(10));
  CHECK(unsent.push(message(3, notification)));
  CHECK(unsent.push(message(4, OutgoingKind::response)));
  advance(std::chrono::milliseconds(19999));
  CHECK(dropped.empty());
  advance(std::chrono::milliseconds(1));
  CHECK(dropped == std::vector<std::uint64_t>{2});
  advance(std::chrono::seconds(10));
  CHECK(dropped == std::vector<std::uint64_t>{2, 3, 4});
  CHECK(wakeups == 2);
  CHECK(!loop.next_due());
  CHECK(budget.used() == 0);
  CHECK(next(unsent) == 1);
  CHECK(unsent.push(message(5, notification)));
  CHECK(loop.next_due());
  CHECK(next(unsent) == 5);
  CHECK(!loop.next_due());
}

TEST_CASE_FIXTURE(Fixture,
                  "cancellations leave half of the room and of the connections to others") {
  constexpr std::size_t half = UnsentMessages::max_under_way / 2;
  for (std::uint64_t id = 1; id <= 100; ++id) CHECK(unsent.push(cancellation(id)));
  std::size_t begun = 0;
  while (const auto one = unsent.pop()) {
    unsent.started(*one);
    ++begun;
  }
  CHECK(begun == half);
  CHECK(unsent.may_start(message(200, notification)));
  CHECK(unsent.push(message(200, notification)));
  CHECK(next(unsent) == 200);
  unsent.message_ended(cancellation(1));
  CHECK(unsent.push(message(201, OutgoingKind::response)));
  CHECK(next(unsent) == 201);
  CHECK(next(unsent) == half + 1);

  std::uint64_t id = 300;
  while (unsent.push(cancellation(id, 1u << 20))) ++id;
  CHECK(budget.used() <= UnsentMessages::max_bytes / 2);
  CHECK(unsent.push(message(400, notification, 3u << 20)));
}
