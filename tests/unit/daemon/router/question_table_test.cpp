// BEHAVIOUR, "Limits".
#include "router/questions.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace bridge;

namespace {

Question request(std::uint64_t id, std::size_t bytes, bool parked = true) {
  Question made;
  made.id = id;
  made.upstream_request_id = std::to_string(id);
  made.line = std::string(bytes, 'x');
  if (!parked) made.asked = ClientId{1};
  return made;
}

}  // namespace

TEST_CASE("at most 64 may be parked, not counting those that a client was asked") {
  QuestionTable requests;
  for (std::uint64_t i = 0; i < 100; ++i) requests.add_question(request(1000 + i, 1, false));
  for (std::uint64_t i = 0; i < 64; ++i) {
    CHECK(requests.can_park(1));
    requests.add_question(request(i, 1));
  }
  CHECK(requests.parked() == 64);
  CHECK_FALSE(requests.can_park(1));
  requests.find_question(5)->asked = ClientId{1};
  CHECK(requests.can_park(1));
}

TEST_CASE("at most 1 MiB may be parked, exactly") {
  QuestionTable requests;
  constexpr std::size_t limit = 1u << 20;
  CHECK(requests.can_park(limit));
  CHECK_FALSE(requests.can_park(limit + 1));
  requests.add_question(request(1, limit - 10));
  CHECK(requests.can_park(10));
  CHECK_FALSE(requests.can_park(11));
  requests.remove(*requests.find_question(1));
  CHECK(requests.can_park(limit));
}

TEST_CASE("at most 1024 requests and 16 MiB are kept in all") {
  QuestionTable many;
  for (std::uint64_t i = 0; i < 1024; ++i) {
    CHECK(many.has_room_for(1));
    many.add_question(request(i, 1, false));
  }
  CHECK_FALSE(many.has_room_for(1));
  many.remove(*many.find_question(3));
  CHECK(many.has_room_for(1));

  QuestionTable large;
  large.add_question(request(1, (16u << 20) - 5, false));
  CHECK(large.has_room_for(5));
  CHECK_FALSE(large.has_room_for(6));
  large.remove(*large.find_question(1));
  CHECK(large.has_room_for(16u << 20));
}

TEST_CASE("one is found by the client's id and by the upstream's, and once removed no more") {
  QuestionTable requests;
  CHECK(requests.next_id() != requests.next_id());
  Question made = request(7, 1);
  made.upstream_request_id = R"("\u0061")";
  requests.add_question(made);
  requests.add_question(request(8, 1));
  REQUIRE(requests.find_question(7) != nullptr);
  CHECK(requests.find_by_upstream_id(R"("a")", 0) == requests.find_question(7));
  CHECK(requests.find_by_upstream_id("8", 0) == requests.find_question(8));
  CHECK(requests.find_by_upstream_id("\"8\"", 0) == requests.find_question(8));
  CHECK(requests.find_by_upstream_id("8.0", 0) == requests.find_question(8));
  CHECK(requests.find_by_upstream_id("8.5", 0) == nullptr);
  CHECK(requests.find_question(9) == nullptr);
  requests.remove(*requests.find_question(7));
  CHECK(requests.find_question(7) == nullptr);
  CHECK(requests.find_by_upstream_id(R"("a")", 0) == nullptr);
  const Question stranger = request(8, 1);
  requests.remove(stranger);
  CHECK(requests.find_question(8) != nullptr);
}

TEST_CASE("they may be removed while they are looked through") {
  QuestionTable requests;
  for (std::uint64_t i = 1; i <= 5; ++i) requests.add_question(request(i, 1));
  std::vector<std::uint64_t> seen;
  requests.each_question([&](Question& one) {
    seen.push_back(one.id);
    if (one.id % 2 == 1) requests.remove(one);
  });
  CHECK(seen == std::vector<std::uint64_t>{1, 2, 3, 4, 5});
  CHECK(requests.parked() == 2);
}

namespace {

constexpr bool own = true, busy = true, silent = true, no = false;

}  // namespace

TEST_CASE("of those that can be asked, one is") {
  const Candidate idle{ClientId{1}, no, no, no}, second{ClientId{2}, no, busy, no},
      third{ClientId{3}, no, busy, no}, own_one{ClientId{4}, own, no, no},
      quiet{ClientId{5}, own, busy, silent}, quiet_too{ClientId{6}, no, busy, silent},
      job{ClientId{7}, no, busy, no, JobNumber{7}},
      own_job{ClientId{8}, own, busy, no, JobNumber{8}};
  struct Row {
    std::string what;
    std::vector<Candidate> candidates;
    std::optional<ClientId> asked;
  };
  for (const Row& row : std::vector<Row>{
           {"there is none", {}, std::nullopt},
           {"the one connected longest", {idle, {ClientId{9}, no, no, no}}, ClientId{1}},
           {"the only one with requests in flight", {idle, second}, ClientId{2}},
           {"and not one of several", {idle, second, third}, ClientId{1}},
           {"all have some", {second, third}, ClientId{2}},
           {"whose request it is about", {idle, second, own_one}, ClientId{4}},
           {"one that left a question open only alone", {quiet, idle}, ClientId{1}},
           {"also beside another such", {quiet, idle, quiet_too}, ClientId{1}},
           {"it is the only one", {quiet}, ClientId{5}},
           {"of two such whose request it is about", {quiet_too, quiet}, ClientId{5}},
           {"a job while no client has requests", {job, idle}, ClientId{7}},
           {"a client with requests before a job", {job, third}, ClientId{3}},
           {"one of several such too", {job, second, third}, ClientId{2}},
           {"a job whose request it is about", {own_job, third}, ClientId{8}},
           {"a job before one that left a question open", {job, quiet_too}, ClientId{7}}}) {
    CAPTURE(row.what);
    const Candidate* const one = who_is_asked(row.candidates);
    CHECK((one != nullptr ? std::optional(one->client) : std::nullopt) == row.asked);
  }
}
