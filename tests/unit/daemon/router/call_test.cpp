// Requests in progress: the table of them, and what the next process restores after an upgrade.
#include "router/call.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <utility>

#include "router/questions.hpp"
#include "state/archive.hpp"

using namespace bridge;

namespace {

Call of_client(std::uint64_t client) {
  Call request;
  request.client = static_cast<ClientId>(client);
  request.client_request_id = "\"id\"";
  return request;
}

}  // namespace

TEST_CASE("a request in flight is found by its upstream id, and taken once") {
  CallTable pending;
  pending.add(UpstreamId{1}, of_client(10));
  pending.add(UpstreamId{2}, of_client(11));
  CHECK(pending.size() == 2);
  REQUIRE(pending.find(UpstreamId{1}) != nullptr);
  CHECK(pending.find(UpstreamId{1})->client == ClientId{10});
  CHECK(pending.find(UpstreamId{3}) == nullptr);
  const auto taken = pending.take(UpstreamId{1});
  REQUIRE(taken);
  CHECK(taken->client_request_id == "\"id\"");
  CHECK_FALSE(pending.take(UpstreamId{1}));
  CHECK(pending.find(UpstreamId{1}) == nullptr);
  CHECK(pending.size() == 1);
}

TEST_CASE("what comes late on an answered request's stream still has its owner") {
  CallTable pending;
  pending.add(UpstreamId{1}, of_client(10));
  CHECK(pending.owner(UpstreamId{1}) == ClientId{10});
  pending.take(UpstreamId{1});
  CHECK(pending.owner(UpstreamId{1}) == ClientId{10});
  CHECK_FALSE(pending.owner(UpstreamId{2}));
  CHECK_FALSE(pending.owner(UpstreamId{0}));
  CHECK_FALSE(pending.owner(UpstreamId{1 + 1024}));
}

TEST_CASE("the owners of the last 1024 answered requests are remembered") {
  CallTable pending;
  for (std::uint64_t id = 1; id <= 1025; ++id) {
    pending.add(static_cast<UpstreamId>(id), of_client(id));
    pending.take(static_cast<UpstreamId>(id));
  }
  CHECK_FALSE(pending.owner(UpstreamId{1}));
  CHECK(pending.owner(UpstreamId{2}) == ClientId{2});
  CHECK(pending.owner(UpstreamId{1025}) == ClientId{1025});
}

TEST_CASE("a request is filled in where it stays, and goes on under another id") {
  CallTable pending;
  Call& request = pending.add(UpstreamId{1}, Call::Kind::forwarded);
  request.client = ClientId{10};
  pending.add(UpstreamId{2}, Call::Kind::own);
  CHECK(pending.slots_used() == 1);
  CHECK(&pending.rename(UpstreamId{1}, UpstreamId{3}) == &request);
  CHECK(pending.find(UpstreamId{3}) == &request);
  CHECK(pending.find(UpstreamId{1}) == nullptr);
  CHECK(pending.owner(UpstreamId{1}) == ClientId{10});  // for a late response
  CHECK(pending.size() == 2);
  CHECK(pending.slots_used() == 1);
  CHECK(&*pending.take(UpstreamId{3}) == &request);
  CHECK(pending.slots_used() == 0);
}

TEST_CASE("a request in flight is saved with whose it is, its ids and its times") {
  Call request;
  request.client = static_cast<ClientId>(4);
  request.user = {false, 1000};
  request.client_request_id = "\"a\"";
  request.progress_token = "7";
  request.method = "tools/call";
  request.subject = "file:///a";
  request.kind = Call::Kind::opens_session;
  request.stage = Call::Stage::suspended;
  request.mirrored_again = true;
  request.received = steady_time_of(10);
  request.sent = steady_time_of(20);
  const Call again = Archive::copy(request);
  CHECK(again.client == request.client);
  CHECK(again.user == request.user);
  CHECK(again.client_request_id == "\"a\"");
  CHECK(again.progress_token == "7");
  CHECK(again.method == "tools/call");
  CHECK(again.subject == "file:///a");
  CHECK(again.kind == Call::Kind::opens_session);
  CHECK(again.stage == Call::Stage::suspended);
  CHECK_FALSE(again.takes_slot());
  CHECK(again.mirrored_again);
  CHECK(again.era == Era::legacy);
  CHECK(again.modern == nullptr);
  CHECK(again.rounds == nullptr);
  CHECK(again.received == request.received);
  CHECK(again.sent == request.sent);
}

TEST_CASE("one of a client that has left has no owner, in flight, answered or saved") {
  CallTable pending;
  pending.add(UpstreamId{1}, Call::Kind::forwarded).user = {true, 0};
  CHECK_FALSE(pending.owner(UpstreamId{1}));
  const Call again = Archive::copy(*pending.find(UpstreamId{1}));
  CHECK_FALSE(again.client);
  CHECK(again.user == pending.find(UpstreamId{1})->user);
  pending.take(UpstreamId{1});
  CHECK_FALSE(pending.owner(UpstreamId{1}));
}

TEST_CASE("one of a job is saved with the submitter of the job") {
  Call request;
  request.job = std::make_unique<JobRequest>(JobRequest{.number = JobNumber{3},
                                                        .for_client = true,
                                                        .peer = Peer{false, 7, 8, {9, 10}},
                                                        .pid = 11,
                                                        .command = "agent",
                                                        .job = "named"});
  const Call again = Archive::copy(request);
  REQUIRE(again.job != nullptr);
  CHECK(again.job->number == JobNumber{3});
  CHECK(again.job->for_client);
  CHECK(again.job->peer.uid == 7);
  CHECK(again.job->peer.gid == 8);
  CHECK(again.job->peer.groups == std::vector<gid_t>{9, 10});
  CHECK(again.job->pid == 11);
  CHECK(again.job->command == "agent");
  CHECK(again.job->job == "named");
}

TEST_CASE("what a modern client says, and the rounds of a legacy one, are saved") {
  Call request;
  request.era = Era::modern;
  request.modern = std::make_unique<ModernRequest>();
  request.modern->declared.name_methods(R"({"methods":["roots/list"]})");
  request.modern->log_level = "warning";
  request.modern->digest = 77;
  request.modern->undeclared = "{}";
  request.modern->undeclared_by_one_of_several = true;
  request.rounds = std::make_unique<InputRound>(InputRound{"{\"id\":1}", 3, 2});
  request.traceparent = std::make_unique<const std::string>("00-1-2-01");
  const Call again = Archive::copy(request);
  REQUIRE(again.modern != nullptr);
  CHECK(again.era == Era::modern);
  CHECK(again.modern->declared.covers("roots/list", AskedFor::roots));
  CHECK(again.modern->log_level == "warning");
  CHECK(again.modern->digest == 77);
  CHECK(again.modern->undeclared == "{}");
  CHECK(again.modern->undeclared_by_one_of_several);
  REQUIRE(again.rounds != nullptr);
  CHECK(again.rounds->original == "{\"id\":1}");
  CHECK(again.rounds->rounds == 3);
  CHECK(again.rounds->pauses == 2);
  CHECK(*again.traceparent == "00-1-2-01");
}

TEST_CASE("a question of the upstream is saved with who was asked, and who declined") {
  Question request;
  request.id = 5;
  request.upstream_request_id = "\"q\"";
  request.method = "elicitation/create";
  request.asked_for = AskedFor::elicitation_form;
  request.line = R"({"id":5})";
  request.origin = UpstreamId{8};
  request.owner = static_cast<ClientId>(2);
  request.user = User{false, 1000};
  request.asked = static_cast<ClientId>(3);
  request.asked_since = steady_time_of(11);
  request.declined = {static_cast<ClientId>(2)};
  request.shown = true;
  request.likely_caller = {LikelyCaller::Kind::one, static_cast<ClientId>(4)};
  const Question again = Archive::copy(request);
  CHECK(again.id == 5);
  CHECK(again.upstream_request_id == "\"q\"");
  CHECK(again.method == "elicitation/create");
  CHECK(again.asked_for == AskedFor::elicitation_form);
  CHECK(again.line == request.line);
  CHECK(again.origin == request.origin);
  CHECK(again.owner == request.owner);
  CHECK(again.user == request.user);
  CHECK(again.asked == request.asked);
  CHECK(again.asked_since == request.asked_since);
  CHECK(again.declined == request.declined);
  CHECK(again.shown);
  CHECK(again.likely_caller.kind == LikelyCaller::Kind::one);
  CHECK(again.likely_caller.client == static_cast<ClientId>(4));
  request.asked.reset();
  request.origin.reset();
  request.user.reset();
  request.parked_until = steady_time_of(99);
  const Question parked = Archive::copy(request);
  CHECK_FALSE(parked.asked);
  CHECK_FALSE(parked.origin);
  CHECK_FALSE(parked.user);
  CHECK(parked.parked_until == steady_time_of(99));
}
