#include "auth/token_store.hpp"

#include <doctest/doctest.h>

#include "../event/loop_fixture.hpp"
#include "base/log.hpp"

using namespace bridge;

namespace {

const std::string upstream = "https://r.example/mcp";
const LoginOwner anybody{upstream, {}, {}};

StoredLogin login_at(const std::string& issuer, const std::string& client, bool is_registered) {
  StoredLogin login;
  login.upstream = upstream;
  login.resource = upstream;
  login.issuer = issuer;
  login.token_endpoint = issuer + "/token";
  login.client.id = client;
  login.client.is_registered = is_registered;
  login.access_token = "at-of-" + client;
  login.refresh_token = "rt-of-" + client;
  return login;
}

struct StoreFixture : LoopFixture {
  Log log{LogLevel::off};
  TokenStore store{path("tokens.json"), log};
};

}  // namespace

TEST_CASE_FIXTURE(StoreFixture, "each client that an operator has named has its own login") {
  const LoginOwner one{upstream, "one", {}};
  const LoginOwner two{upstream, "two", {}};
  CHECK(store.save(one, login_at("https://as.example", "one", false)));
  CHECK(store.save(two, login_at("https://as.example", "two", false)));
  CHECK(store.save(anybody, login_at("https://as.example", "registered", true)));
  CHECK(store.find(one)->access_token == "at-of-one");
  CHECK(store.find(two)->access_token == "at-of-two");
  CHECK(store.find(anybody)->access_token == "at-of-registered");
  CHECK(store.erase(two));
  CHECK(store.has_none(two));
  CHECK(store.find(one));
  CHECK(store.find(anybody));
}

TEST_CASE_FIXTURE(StoreFixture, "another issuer has another registration, and both are kept") {
  CHECK(store.save(anybody, login_at("https://old.example", "a", true)));
  CHECK(store.save(anybody, login_at("https://new.example", "b", true)));
  CHECK(store.find(anybody)->issuer == "https://new.example");
  CHECK(store.registration(anybody, "https://old.example")->id == "a");
  CHECK(store.registration(anybody, "https://new.example")->id == "b");
  CHECK(!store.registration(anybody, "https://third.example"));
  // Back to the first server: the other one's tokens are not kept, since they would get stale.
  CHECK(store.save(anybody, login_at("https://old.example", "a", true)));
  CHECK(store.find(anybody)->access_token == "at-of-a");
  CHECK(store.erase(anybody));
  CHECK(store.has_none(anybody));
  CHECK(!store.registration(anybody, "https://new.example"));
}

TEST_CASE_FIXTURE(StoreFixture,
                  "a new registration with the same server takes the old one's place") {
  CHECK(store.save(anybody, login_at("https://as.example", "a", true)));
  CHECK(store.save(anybody, login_at("https://as.example", "b", true)));
  CHECK(store.registration(anybody, "https://as.example")->id == "b");
  CHECK(store.find(anybody)->access_token == "at-of-b");
}

TEST_CASE_FIXTURE(StoreFixture, "a metadata document is a client of its own") {
  const LoginOwner owner{upstream, {}, "https://me.example/client.json"};
  CHECK(store.save(owner, login_at("https://as.example", "https://me.example/client.json", false)));
  CHECK(store.find(owner));
  CHECK(store.has_none(anybody));
}

TEST_CASE("without a file it is kept in memory") {
  Log log{LogLevel::off};
  TokenStore store({}, log);
  CHECK(!store.save(anybody, login_at("https://as.example", "a", true)));
  CHECK(!store.has_changed());
  CHECK(store.registration(anybody, "https://as.example")->id == "a");
  store.erase(anybody);
  CHECK(store.has_none(anybody));
}

TEST_CASE("a stored login keeps that its resource is public, and none goes to a bad endpoint") {
  StoredLogin good = login_at("https://as.example", "a", true);
  good.is_public = true;
  good.revocation_endpoint = "http://elsewhere.example/revoke";
  StoredLogin bad = login_at("http://elsewhere.example", "b", true);
  const auto read = read_logins(logins_text({good, bad}));
  REQUIRE(read);
  REQUIRE(read->size() == 1);
  CHECK(read->front().client.id == "a");
  CHECK(read->front().is_public);
  CHECK(read->front().revocation_endpoint.empty());
}

TEST_CASE("a store is read as it was written, and nothing else is one") {
  StoredLogin login;
  login.upstream = "https://r.example/mcp";
  login.resource = "https://r.example";
  login.issuer = "https://as.example";
  login.token_endpoint = "https://as.example/token";
  login.client = {"me", "s\"1", SecretPlace::body, "http://127.0.0.1:1/callback", true};
  login.scope = "a b";
  login.access_token = "at";
  login.refresh_token = "rt";
  login.expires = WallTime(std::chrono::seconds(1'800'000'000));
  login.redemptions = 1;
  StoredLogin least;
  least.token_endpoint = "https://as.example/token";
  const auto read = read_logins(logins_text({login, least}));
  REQUIRE(read);
  REQUIRE(read->size() == 2);
  const StoredLogin& first = read->front();
  CHECK(first.is_of(login));
  CHECK(first.client.secret == "s\"1");
  CHECK(first.client.place == SecretPlace::body);
  CHECK(first.client.is_registered);
  CHECK(first.refresh_token == "rt");
  CHECK(first.expires == login.expires);
  CHECK(first.redemptions == 1);
  CHECK(!read->back().expires);
  CHECK(read_logins(logins_text({}))->empty());
  for (const char* text : {"", "{}", "[]", R"({"version":2,"logins":[]})", R"({"version":1})",
                           R"({"version":1,"logins":{}})", "root:x:0:0"})
    CHECK_MESSAGE(!read_logins(text), text);
}
