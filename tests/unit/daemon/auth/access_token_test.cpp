#include "auth/access_token.hpp"

#include <doctest/doctest.h>

#include "../support/fake_token_source.hpp"

using namespace bridge;

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
