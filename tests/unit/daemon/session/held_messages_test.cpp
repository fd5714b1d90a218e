#include "session/retries.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

const SteadyTime start{};

HeldMessage message(std::uint64_t id, std::chrono::seconds not_before,
                    std::chrono::seconds deadline) {
  HeldMessage held;
  held.message.id = static_cast<UpstreamId>(id);
  held.not_before = start + not_before;
  held.deadline = start + deadline;
  return held;
}

std::vector<std::uint64_t> ids(const std::vector<HeldMessage>& messages) {
  std::vector<std::uint64_t> all;
  for (const HeldMessage& held : messages) all.push_back(value_of(held.message.id));
  return all;
}

using Ids = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("those that are ready are taken in the order they were given back, the others stay") {
  HeldMessages held;
  held.hold(message(1, 5s, 10s));
  held.hold(message(2, 0s, 10s));
  held.hold(message(3, 2s, 10s));
  CHECK(ids(held.take_ready(start + 1s)) == Ids{2});
  CHECK(ids(held.take_ready(start + 5s)) == Ids{1, 3});
  CHECK(held.empty());
}

TEST_CASE("a message is ready and expires at its very time, not before") {
  HeldMessages held;
  held.hold(message(1, 2s, 4s));
  CHECK(held.take_ready(start + 1999ms).empty());
  CHECK(held.take_expired(start + 3999ms).empty());
  CHECK(ids(held.take_expired(start + 4s)) == Ids{1});
  held.hold(message(2, 2s, 4s));
  CHECK(ids(held.take_ready(start + 2s)) == Ids{2});
}

TEST_CASE("the next time is when one expires, or may be sent if that is possible at all") {
  HeldMessages held;
  CHECK_FALSE(held.next_time(true));
  held.hold(message(1, 3s, 20s));
  held.hold(message(2, 5s, 10s));
  CHECK(held.next_time(true) == start + 3s);
  CHECK(held.next_time(false) == start + 10s);
  held.hold(message(3, 50s, 2s));
  CHECK(held.next_time(true) == start + 2s);
  CHECK(held.next_time(false) == start + 2s);
}

TEST_CASE("one can be removed, and all can be taken") {
  HeldMessages held;
  for (std::uint64_t id = 1; id <= 3; ++id) held.hold(message(id, 0s, 10s));
  CHECK(held.remove(UpstreamId{2}));
  CHECK_FALSE(held.remove(UpstreamId{2}));
  CHECK(held.size() == 2);
  CHECK(ids(held.take_all()) == Ids{1, 3});
  CHECK(held.empty());
}
