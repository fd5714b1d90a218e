#include "router/call.hpp"

#include <doctest/doctest.h>

#include <utility>

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

TEST_CASE("a request whose client has left has no owner, in flight or answered") {
  CallTable pending;
  Call orphan = of_client(10);
  orphan.client.reset();
  pending.add(UpstreamId{1}, std::move(orphan));
  CHECK_FALSE(pending.owner(UpstreamId{1}));
  pending.take(UpstreamId{1});
  CHECK_FALSE(pending.owner(UpstreamId{1}));
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
