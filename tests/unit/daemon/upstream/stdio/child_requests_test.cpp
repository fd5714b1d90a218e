#include "upstream/stdio/child_requests.hpp"

#include <doctest/doctest.h>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

const SteadyTime start{1000s};
constexpr UpstreamId id(std::uint64_t number) { return static_cast<UpstreamId>(number); }

ChildRequest at(SteadyTime time, std::uint32_t run = 1) {
  ChildRequest request;
  request.started = time;
  request.run = run;
  return request;
}

}  // namespace

TEST_CASE("a request waits for a byte of the child, and for its answer in all") {
  const ChildRequests::Timeouts timeouts{10s, 60s};
  CHECK(ChildRequests::deadline(at(start), start - 5s, timeouts) == start + 10s);
  CHECK(ChildRequests::deadline(at(start), start + 5s, timeouts) == start + 15s);
  CHECK(ChildRequests::deadline(at(start), start + 55s, timeouts) == start + 60s);
  CHECK(ChildRequests::deadline(at(start), start, {0s, 0s}) == SteadyTime::max());
}

TEST_CASE(
    "a notification waits for a child that does not read no longer than what is behind it may") {
  ChildRequest notification = at(start);
  notification.message.kind = OutgoingKind::notification;
  CHECK(ChildRequests::deadline(notification, start, {0s, 0s}) == start + 30s);
}

TEST_CASE("those whose time is over are named in order, and when the next one is due") {
  ChildRequests requests;
  requests.add(id(3), at(start));
  requests.add(id(1), at(start));
  requests.add(id(2), at(start + 4s));
  SteadyTime next = SteadyTime::max();
  CHECK(requests.expired(start + 10s, start, {10s, 0s}, next) ==
        std::vector<UpstreamId>{id(1), id(3)});
  CHECK(next == start + 14s);
}

TEST_CASE("a run's requests are those that were given to it") {
  ChildRequests requests;
  requests.add(id(2), at(start, 1));
  requests.add(id(1), at(start, 1));
  requests.add(id(3), at(start, 2));
  CHECK(requests.of_run(1) == std::vector<UpstreamId>{id(1), id(2)});
  CHECK(requests.take(id(1)));
  CHECK_FALSE(requests.take(id(1)));
  CHECK(requests.find(id(1)) == nullptr);
  CHECK(requests.of_run(1) == std::vector<UpstreamId>{id(2)});
}
