// BEHAVIOUR, "Limits".
#include "upstream/streamable_http/exchange_table.hpp"

#include <doctest/doctest.h>

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

struct Fixture {
  ByteBudget budget{64 << 20};
  UnsentMessages unsent{budget};
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
  for (std::size_t i = 0; i < UnsentMessages::max_under_way; ++i) unsent.started(notification);
  unsent.started(request);
  CHECK(!unsent.may_start(notification));
  CHECK(unsent.may_start(request));
  CHECK(unsent.push(message(1, notification)));
  CHECK(next(unsent) == 0);
  unsent.message_ended(request);
  CHECK(next(unsent) == 0);
  unsent.message_ended(notification);
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
