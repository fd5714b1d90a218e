#include "auth/access_token.hpp"

#include <doctest/doctest.h>

#include "../event/simulated_clock.hpp"
#include "../support/fake_token_source.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

TokenAnswer no_token_because(const std::string& message) {
  return {{}, failure_of(ErrorKind::auth, Delivered::no, message)};
}

struct Fixture {
  FakeTokenSource* source = new FakeTokenSource;
  std::vector<std::string> told;
  AccessToken token{std::unique_ptr<TokenSource>(source),
                    [this](const std::optional<Failure>& failure) { tell("arrived", failure); }};

  void tell(const std::string& who, const std::optional<Failure>& failure) {
    told.push_back(failure ? who + ": " + failure->message : who);
  }
  AccessToken::Ready teller(const std::string& who) {
    return [this, who](const std::optional<Failure>& failure) { tell(who, failure); };
  }
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a token that is at hand is used at once, and none means no header") {
  source->token = "";
  CHECK(token.is_there());
  CHECK(token.text().empty());
  CHECK(token.generation() == 0);
  source->token = "one";
  token.with(teller("me"));
  CHECK(told == Texts{"me"});
  CHECK(token.text() == "one");
  CHECK(source->asked.empty());
}

TEST_CASE_FIXTURE(Fixture, "all who wait share one fetch, and messages are told first") {
  token.with(teller("a"));
  token.with(teller("b"));
  token.fetch();
  REQUIRE(source->asked.size() == 1);
  CHECK(told.empty());
  source->answer({"one", std::nullopt});
  CHECK(told == Texts{"arrived", "a", "b"});
  CHECK(token.text() == "one");
  CHECK(token.failures() == 0);
  token.fetch();
  CHECK(source->asked.size() == 1);
}

TEST_CASE_FIXTURE(Fixture, "why there is none is told to all, once, and the next is asked anew") {
  token.with(teller("a"));
  source->answer(no_token_because("no"));
  CHECK(told == Texts{"arrived: no", "a: no"});
  CHECK(token.failures() == 1);
  token.with(teller("b"));
  CHECK(source->asked.size() == 1);
}

TEST_CASE_FIXTURE(Fixture, "who waits may ask again from within") {
  token.with([this](const std::optional<Failure>& failure) {
    tell("a", failure);
    token.with(teller("again"));
  });
  source->answer(no_token_because("no"));
  REQUIRE(source->asked.size() == 1);
  source->answer({"one", std::nullopt});
  CHECK(told == Texts{"arrived: no", "a: no", "arrived", "again"});
}

TEST_CASE_FIXTURE(Fixture, "a change of the token is counted, the first token is none") {
  for (const char* one : {"one", "one", "two", "three"}) {
    source->token = one;
    CHECK(token.is_there());
  }
  CHECK(token.generation() == 3);
  CHECK(token.refreshes() == 2);
  CHECK(token.secrets() == Texts{"three"});
}

TEST_CASE_FIXTURE(Fixture,
                  "a refusal of the token in use fetches another one, if there can be one") {
  source->token = "one";
  CHECK(token.is_there());
  CHECK(token.refused(1, {401, ""}));
  CHECK(source->refusals == std::vector<std::pair<std::string, int>>{{"one", 401}});
  CHECK(source->asked.size() == 1);
  CHECK(token.refused(1, {401, ""}));
  CHECK(source->asked.size() == 1);
  source->answer({"two", std::nullopt});
  source->token = "two";
  source->can_renew = false;
  CHECK(!token.refused(2, {403, ""}));
  CHECK(source->asked.empty());
}

TEST_CASE_FIXTURE(Fixture, "a refusal of a token that is out of use is not the source's affair") {
  source->token = "one";
  CHECK(token.is_there());
  source->token = "two";
  CHECK(token.is_there());
  CHECK(token.refused(1, {401, ""}));
  CHECK(source->refusals.empty());
  CHECK(source->asked.empty());
}

TEST_CASE("what fails is tried again after 1, 2, 4 … 30 seconds") {
  FetchPace pace;
  FetchPace::Time now = FetchPace::Time{} + 1h;
  CHECK(pace.may_try(now));
  for (const auto delay : {1s, 2s, 4s, 8s, 16s, 30s, 30s}) {
    pace.failed(now);
    CHECK(!pace.may_try(now + delay - 1ms));
    now += delay;
    CHECK(pace.may_try(now));
  }
  pace.succeeded();
  pace.failed(now);
  CHECK(pace.may_try(now + 1s));
}

TEST_CASE("all who wait share one fetch, repeated in its time after a refusal or a failure") {
  SimulatedClock clock;
  EventLoop loop{clock};
  int begun = 0;
  Texts told;
  SharedFetch fetch(loop, [&begun] { ++begun; });
  const auto join = [&](int count) {
    const EventLoop::Turn turn(loop);
    for (int i = 0; i < count; ++i)
      fetch.join([&told](const TokenAnswer& answer) {
        told.push_back(answer.failure ? answer.failure->message : answer.token);
      });
  };
  const auto finish = [&](const TokenAnswer& answer) {
    const EventLoop::Turn turn(loop);
    fetch.finish(answer);
  };
  join(3);
  CHECK(begun == 1);
  CHECK(told.empty());
  finish({"one", std::nullopt});
  CHECK(told == Texts{"one", "one", "one"});
  fetch.token_refused();
  join(1);
  CHECK(begun == 2);
  finish({"refused as soon as it came", std::nullopt});
  fetch.token_refused();
  join(1);
  let_pass(clock, loop, 999ms);
  CHECK(begun == 2);
  let_pass(clock, loop, 1ms);
  CHECK(begun == 3);
  finish(no_token_because("no"));
  told.clear();
  join(1);
  CHECK(begun == 3);
  CHECK(told == Texts{"no"});
  fetch.forgive();
  join(1);
  CHECK(begun == 4);
}

TEST_CASE("a token is replaced at four fifths of its life or half a minute before its end") {
  const auto asked = TokenLife::Time{} + 100s;
  const auto life = [&](std::chrono::seconds expires_in) {
    return TokenLife::of(asked, asked + 100ms, expires_in);
  };
  CHECK(life(3600s).refresh == asked + 3570s);
  CHECK(life(3600s).expires == asked + 3600s);
  CHECK(life(150s).refresh == asked + 120s);
  CHECK(life(100s).refresh == asked + 80s);
  CHECK(life(10s).refresh == asked + 8s);
  CHECK(life(10s).is_refresh_due(asked + 8s));
  CHECK(!life(10s).is_over(asked + 9999ms));
  CHECK(life(10s).is_over(asked + 10s));
}

TEST_CASE("a token that has expired on its way counts for a second, one without an end for ever") {
  const auto asked = TokenLife::Time{} + 100s;
  const TokenLife life = TokenLife::of(asked, asked + 5s, 0s);
  CHECK(!life.is_over(asked + 5999ms));
  CHECK(life.is_over(asked + 6s));
  CHECK(life.refresh < life.expires);
  const TokenLife endless = TokenLife::of(asked, asked, std::nullopt);
  CHECK(!endless.is_over(asked + std::chrono::hours(100'000)));
  CHECK(!endless.is_refresh_due(asked + std::chrono::hours(100'000)));
}
