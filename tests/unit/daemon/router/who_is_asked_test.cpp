#include "router/questions.hpp"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

constexpr bool own = true, busy = true, silent = true, no = false;

std::optional<ClientId> asked(const std::vector<Candidate>& candidates) {
  const Candidate* const one = who_is_asked(candidates);
  return one != nullptr ? std::optional(one->client) : std::nullopt;
}

}  // namespace

TEST_CASE("nobody is asked where there is nobody") { CHECK_FALSE(asked({})); }

TEST_CASE("the one connected longest is asked") {
  CHECK(asked({{ClientId{1}, no, no, no}, {ClientId{2}, no, no, no}}) == ClientId{1});
}

TEST_CASE("the only one with requests in flight is asked, and not one of several") {
  const Candidate idle{ClientId{1}, no, no, no}, second{ClientId{2}, no, busy, no},
      third{ClientId{3}, no, busy, no};
  CHECK(asked({idle, second}) == ClientId{2});
  CHECK(asked({idle, second, third}) == ClientId{1});
  CHECK(asked({second, third}) == ClientId{2});
}

TEST_CASE("a job is asked only while nobody connected has requests in flight") {
  const Candidate job{ClientId{1}, no, busy, no, JobNumber{7}}, idle{ClientId{2}, no, no, no},
      waits{ClientId{3}, no, busy, no}, other{ClientId{4}, no, busy, no};
  CHECK(asked({job, waits}) == ClientId{3});
  CHECK(asked({job, waits, other}) == ClientId{3});
  CHECK(asked({job, idle}) == ClientId{1});
  CHECK(asked({{ClientId{1}, own, busy, no, JobNumber{7}}, waits}) == ClientId{1});
  CHECK(asked({job, {ClientId{3}, no, busy, silent}}) == ClientId{1});
}

TEST_CASE("whose request it is about comes first") {
  CHECK(
      asked({{ClientId{1}, no, no, no}, {ClientId{2}, no, busy, no}, {ClientId{3}, own, no, no}}) ==
      ClientId{3});
}

TEST_CASE("who has left a question open for long is asked no further one while another could") {
  const Candidate waits{ClientId{1}, own, busy, silent}, other{ClientId{2}, no, no, no},
      another{ClientId{3}, no, busy, silent};
  CHECK(asked({waits, other}) == ClientId{2});
  CHECK(asked({waits, other, another}) == ClientId{2});
  CHECK(asked({waits}) == ClientId{1});
  CHECK(asked({another, waits}) == ClientId{1});
}
