#include "router/own_requests.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace bridge;

namespace {

const User ann{false, 1000};
const User bob{false, 2000};

/// The resources in the order in which they are sent; "-" before one that is unsubscribed.
std::string all_of(OwnRequests& requests, const std::optional<User>& only = {}) {
  std::string all;
  while (const auto one = requests.next([&](const User& user) { return !only || user == *only; }))
    all += (all.empty() ? "" : " ") + std::string(one->subscribes ? "" : "-") + one->uri;
  return all;
}

}  // namespace

TEST_CASE("users take turns, and each keeps its order") {
  OwnRequests requests;
  for (const char* uri : {"a1", "a2", "a3"}) requests.add_change(ann, uri, true);
  for (const char* uri : {"b1", "b2"}) requests.add_change(bob, uri, true);
  CHECK(requests.size() == 5);
  CHECK(all_of(requests) == "a1 b1 a2 b2 a3");
  CHECK(requests.empty());
}

TEST_CASE("who may not send now waits, others go on") {
  OwnRequests requests;
  requests.add_change(ann, "a", true);
  requests.add_change(bob, "b", false);
  CHECK(all_of(requests, bob) == "-b");
  CHECK(requests.waits("a") == true);
  CHECK_FALSE(requests.waits("b"));
  CHECK(all_of(requests) == "a");
}

TEST_CASE("what would be undone is not sent, and nothing waits twice") {
  OwnRequests requests;
  for (int time = 0; time < 100; ++time) {
    requests.add_change(ann, "a", true);
    requests.add_change(bob, "a", false);
    requests.add_change(ann, "b", false);
    requests.add_change(ann, "b", true);
  }
  CHECK(requests.empty());
  requests.add_change(ann, "a", true);
  requests.add_change(bob, "a", true);
  CHECK(all_of(requests) == "a");
}
