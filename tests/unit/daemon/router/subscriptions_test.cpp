#include "router/restorable_state.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <optional>

#include "../lines.hpp"

using bridge::ClientId;
using bridge::Subscriptions;

TEST_CASE("a subscription is remembered once and outlives its client") {
  Subscriptions subscriptions;
  subscriptions.accepted("b", ClientId{1});
  subscriptions.accepted("a", ClientId{1});
  subscriptions.accepted("a", ClientId{2});
  subscriptions.client_left(ClientId{1});
  subscriptions.client_left(ClientId{2});
  CHECK(subscriptions.uris() == Lines{"a", "b"});
  subscriptions.removed("a");
  subscriptions.removed("never there");
  CHECK(subscriptions.uris() == Lines{"b"});
}

TEST_CASE("it is still wanted while another connected client has asked for it") {
  Subscriptions subscriptions;
  subscriptions.accepted("a", ClientId{1});
  CHECK_FALSE(subscriptions.still_wanted_without("a", ClientId{1}));
  CHECK_FALSE(subscriptions.still_wanted_without("other", ClientId{1}));
  subscriptions.accepted("a", ClientId{2});
  CHECK(subscriptions.still_wanted_without("a", ClientId{1}));
  // The first one has unsubscribed: the second one is the last.
  CHECK_FALSE(subscriptions.still_wanted_without("a", ClientId{2}));
}

TEST_CASE("one who has not subscribed does not count as its last subscriber") {
  Subscriptions subscriptions;
  subscriptions.accepted("a", ClientId{1});
  CHECK(subscriptions.still_wanted_without("a", ClientId{9}));
  subscriptions.client_left(ClientId{1});
  CHECK_FALSE(subscriptions.still_wanted_without("a", ClientId{9}));
}

TEST_CASE("one whose client left before the answer is remembered, and stands in nobody's way") {
  Subscriptions subscriptions;
  subscriptions.accepted("a", std::nullopt);
  CHECK(subscriptions.uris() == Lines{"a"});
  CHECK_FALSE(subscriptions.still_wanted_without("a", ClientId{9}));
  subscriptions.accepted("a", ClientId{1});
  CHECK(subscriptions.still_wanted_without("a", ClientId{9}));
}

TEST_CASE("beyond the bound no further one is remembered, known ones still are") {
  Subscriptions subscriptions;
  for (std::size_t i = 0; i < Subscriptions::max_entries; ++i) {
    subscriptions.accepted(std::to_string(i), ClientId{1});
  }
  subscriptions.accepted("one more", ClientId{1});
  CHECK(subscriptions.uris().size() == Subscriptions::max_entries);
  subscriptions.accepted("7", ClientId{2});
  CHECK(subscriptions.still_wanted_without("7", ClientId{1}));
}

namespace {

using bridge::SteadyTime;

/// Subscriptions that have expired by then.
Lines expired(Subscriptions& subscriptions, SteadyTime now, SteadyTime* next = nullptr) {
  SteadyTime due = SteadyTime::max();
  const Lines ended = subscriptions.expire_listened(now, due);
  if (next != nullptr) *next = due;
  return ended;
}

}  // namespace

TEST_CASE("a resource that a listen names is subscribed for the first and until the last of them") {
  const SteadyTime now = SteadyTime{} + std::chrono::hours(1);
  Subscriptions subscriptions;
  CHECK(subscriptions.begin_listen("a"));
  CHECK_FALSE(subscriptions.begin_listen("a"));
  CHECK(subscriptions.uris().empty());
  subscriptions.end_listen("a", {});
  CHECK(expired(subscriptions, now).empty());
  SteadyTime next;
  subscriptions.end_listen("a", now + std::chrono::minutes(5));
  CHECK(expired(subscriptions, now, &next).empty());
  CHECK(next == now + std::chrono::minutes(5));
  CHECK(subscriptions.is_listened("a"));
  CHECK(expired(subscriptions, next) == Lines{"a"});
  CHECK_FALSE(subscriptions.is_listened("a"));
  CHECK(subscriptions.begin_listen("a"));
}

TEST_CASE("what legacy clients and listens have subscribed goes when neither wants it") {
  Subscriptions subscriptions;
  subscriptions.accepted("a", ClientId{1});
  CHECK_FALSE(subscriptions.begin_listen("a"));
  subscriptions.end_listen("a", {});
  CHECK(expired(subscriptions, SteadyTime{}).empty());
  CHECK(subscriptions.contains("a"));
  CHECK_FALSE(subscriptions.begin_listen("a"));
  subscriptions.removed("a");
  CHECK_FALSE(subscriptions.contains("a"));
  CHECK(subscriptions.is_listened("a"));
  subscriptions.end_listen("a", SteadyTime::max());
  subscriptions.end_lingering();
  CHECK(expired(subscriptions, SteadyTime{}) == Lines{"a"});
}
