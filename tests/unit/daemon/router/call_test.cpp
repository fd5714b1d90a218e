// Requests in progress: the table of them, and what the next process restores after an upgrade.
#include "router/call_table.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <utility>

#include "../support/fake_client.hpp"
#include "router/client.hpp"
#include "router/questions.hpp"
#include "state/archive.hpp"

using namespace bridge;

namespace {

/// A client whose calls are in the table.
struct AClient {
  explicit AClient(std::uint64_t id) : channel(static_cast<ClientId>(id)) {}

  Call call() {
    Call request;
    request.caller = &client;
    request.client_request_id = "\"id\"";
    return request;
  }

  FakeClient channel;
  MessageTap tap;
  ByteBudget budget{1u << 20};
  Client client{channel, tap, budget};
};

StreamOwner owner_is(std::uint64_t client) { return {static_cast<ClientId>(client)}; }

template <class Value>
std::string bytes(const Value& value) {
  return Archive::write(Archive::Kind::memory, {}, value);
}

}  // namespace

TEST_CASE("a request in flight is found by its upstream id, and taken once") {
  CallTable pending;
  AClient first(10);
  AClient second(11);
  pending.add_call(UpstreamId{1}, first.call());
  pending.add_call(UpstreamId{2}, second.call());
  CHECK(pending.size() == 2);
  REQUIRE(pending.find_call(UpstreamId{1}) != nullptr);
  CHECK(pending.find_call(UpstreamId{1})->client() == &first.client);
  CHECK(pending.find_call(UpstreamId{3}) == nullptr);
  const auto taken = pending.take_call(UpstreamId{1});
  REQUIRE(taken);
  CHECK(taken->client_request_id == "\"id\"");
  CHECK_FALSE(pending.take_call(UpstreamId{1}));
  CHECK(pending.find_call(UpstreamId{1}) == nullptr);
  CHECK(pending.size() == 1);
}

TEST_CASE("what comes late on an answered request's stream still has its owner") {
  CallTable pending;
  AClient client(10);
  pending.add_call(UpstreamId{1}, client.call());
  CHECK(pending.owner(UpstreamId{1}) == owner_is(10));
  pending.take_call(UpstreamId{1});
  CHECK(pending.owner(UpstreamId{1}) == owner_is(10));
  CHECK_FALSE(pending.owner(UpstreamId{2}).is_known());
  CHECK_FALSE(pending.owner(UpstreamId{0}).is_known());
  CHECK_FALSE(pending.owner(UpstreamId{1 + 1024}).is_known());
}

TEST_CASE("the owners of the last 1024 answered requests are remembered") {
  CallTable pending;
  for (std::uint64_t id = 1; id <= 1025; ++id) {
    AClient client(id);
    pending.add_call(static_cast<UpstreamId>(id), client.call());
    pending.take_call(static_cast<UpstreamId>(id));
  }
  CHECK_FALSE(pending.owner(UpstreamId{1}).is_known());
  CHECK(pending.owner(UpstreamId{2}) == owner_is(2));
  CHECK(pending.owner(UpstreamId{1025}) == owner_is(1025));
}

TEST_CASE("a request is filled in where it stays, and goes on under another id") {
  CallTable pending;
  AClient client(10);
  Call& request = pending.add_call(UpstreamId{1}, Call::Kind::forwarded);
  request.caller = &client.client;
  pending.add_call(UpstreamId{2}, Call::Kind::opens_session);
  CHECK(pending.slots_used() == 1);
  CHECK(&pending.rename(UpstreamId{1}, UpstreamId{3}) == &request);
  CHECK(pending.find_call(UpstreamId{3}) == &request);
  CHECK(pending.find_call(UpstreamId{1}) == nullptr);
  CHECK(pending.owner(UpstreamId{1}) == owner_is(10));  // for a late response
  CHECK(pending.size() == 2);
  CHECK(pending.slots_used() == 1);
  CHECK(&*pending.take_call(UpstreamId{3}) == &request);
  CHECK(pending.slots_used() == 0);
}

TEST_CASE("one of a client that has left has no owner, in flight, answered or saved") {
  CallTable pending;
  pending.add_call(UpstreamId{1}, Call::Kind::forwarded).user = {true, 0};
  CHECK_FALSE(pending.owner(UpstreamId{1}).is_known());
  const Call again = Archive::copy(*pending.find_call(UpstreamId{1}));
  CHECK(again.caller == nullptr);
  CHECK(again.user == pending.find_call(UpstreamId{1})->user);
  pending.take_call(UpstreamId{1});
  CHECK_FALSE(pending.owner(UpstreamId{1}).is_known());
}

TEST_CASE("a job's request is its job's, late messages too") {
  CallTable pending;
  pending.add_call(UpstreamId{1}, Call::Kind::forwarded).job = std::make_unique<JobRequest>();
  CHECK(pending.owner(UpstreamId{1}) == StreamOwner{{}, true});
  pending.take_call(UpstreamId{1});
  CHECK(pending.owner(UpstreamId{1}).is_job);
}

TEST_CASE("all of a request in flight is the same in the next process") {
  SavedCall request;
  request.client = static_cast<ClientId>(4);
  request.user = {false, 1000};
  request.client_request_id = "\"a\"";
  request.kind = Call::Kind::opens_session;
  request.era = Era::modern;
  request.received = steady_time_of(10);
  request.job = std::make_unique<JobRequest>(
      JobRequest{.number = JobNumber{3}, .peer = Peer{false, 7, 8, {9, 10}}, .command = "agent"});
  const auto modern =
      parse_frame(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{)"
                  R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                  R"("io.modelcontextprotocol/clientCapabilities":{"roots":{}}}}})");
  request.to_legacy = std::make_unique<ModernToLegacy>(std::get<Frame>(modern));
  request.to_legacy->suspend(steady_time_of(20));
  request.to_modern = std::make_unique<LegacyToModern>("{\"id\":1}");
  request.traceparent = std::make_unique<const std::string>("00-1-2-01");
  const SavedCall again = Archive::copy(request);
  CHECK(bytes(again) == bytes(request));
  CHECK(again.client == ClientId{4});
  CHECK_FALSE(again.takes_slot());
  CHECK(again.job->peer.groups == std::vector<gid_t>{9, 10});
  CHECK(again.to_legacy->declared().covers("roots/list", AskedFor::roots));
  CHECK(again.is_suspended());
  CHECK(*again.traceparent == "00-1-2-01");
}

TEST_CASE("all of a question of the upstream is the same in the next process") {
  Question question;
  question.id = 5;
  question.upstream_request_id = "\"q\"";
  question.asked_for = AskedFor::elicitation_form;
  question.origin = UpstreamId{8};
  question.user = User{false, 1000};
  question.asked = static_cast<ClientId>(3);
  question.declined = {static_cast<ClientId>(2)};
  question.likely_caller = {LikelyCaller::Kind::one, static_cast<ClientId>(4)};
  CHECK(bytes(Archive::copy(question)) == bytes(question));
  CHECK(Archive::copy(question).likely_caller.client == static_cast<ClientId>(4));
  question.asked.reset();
  question.parked_until = steady_time_of(99);
  CHECK(bytes(Archive::copy(question)) == bytes(question));
  CHECK_FALSE(Archive::copy(question).asked);
}
