#include "auth/token_store.hpp"

#include <doctest/doctest.h>

#include "../event/loop_fixture.hpp"
#include "../event/simulated_clock.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "lock_holder.hpp"

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
  TokenStore store{loop, path("tokens.json"), log};
};

using Saved = TokenStore::Saved;

}  // namespace

TEST_CASE_FIXTURE(StoreFixture, "each client that an operator has named has its own login") {
  const LoginOwner one{upstream, "one", {}};
  const LoginOwner two{upstream, "two", {}};
  CHECK(store.save(one, login_at("https://as.example", "one", false)) == Saved::yes);
  CHECK(store.save(two, login_at("https://as.example", "two", false)) == Saved::yes);
  CHECK(store.save(anybody, login_at("https://as.example", "registered", true)) == Saved::yes);
  CHECK(store.find(one)->access_token == "at-of-one");
  CHECK(store.find(two)->access_token == "at-of-two");
  CHECK(store.find(anybody)->access_token == "at-of-registered");
  CHECK(store.erase(two) == Saved::yes);
  CHECK(store.has_none(two));
  CHECK(store.find(one));
  CHECK(store.find(anybody));
}

TEST_CASE_FIXTURE(StoreFixture, "another issuer has another registration, and both are kept") {
  CHECK(store.save(anybody, login_at("https://old.example", "a", true)) == Saved::yes);
  CHECK(store.save(anybody, login_at("https://new.example", "b", true)) == Saved::yes);
  CHECK(store.find(anybody)->issuer == "https://new.example");
  CHECK(store.registration(anybody, "https://old.example")->id == "a");
  CHECK(store.registration(anybody, "https://new.example")->id == "b");
  CHECK(!store.registration(anybody, "https://third.example"));
  // Back to the first server: the other one's tokens are not kept, since they would get stale.
  CHECK(store.save(anybody, login_at("https://old.example", "a", true)) == Saved::yes);
  CHECK(store.find(anybody)->access_token == "at-of-a");
  CHECK(store.erase(anybody) == Saved::yes);
  CHECK(store.has_none(anybody));
  CHECK(!store.registration(anybody, "https://new.example"));
}

TEST_CASE_FIXTURE(StoreFixture,
                  "a new registration with the same server takes the old one's place") {
  CHECK(store.save(anybody, login_at("https://as.example", "a", true)) == Saved::yes);
  CHECK(store.save(anybody, login_at("https://as.example", "b", true)) == Saved::yes);
  CHECK(store.registration(anybody, "https://as.example")->id == "b");
  CHECK(store.find(anybody)->access_token == "at-of-b");
}

TEST_CASE_FIXTURE(StoreFixture, "an issuer's registration is found with and without its slash") {
  CHECK(store.save(anybody, login_at("https://as.example/", "a", true)) == Saved::yes);
  CHECK(store.registration(anybody, "https://as.example")->id == "a");
  CHECK(store.save(anybody, login_at("https://as.example", "b", true)) == Saved::yes);
  CHECK(store.registration(anybody, "https://as.example/")->id == "b");
  CHECK(read_logins(read_regular_file(path("tokens.json"), 4096).bytes)->size() == 1);
}

TEST_CASE_FIXTURE(StoreFixture, "a metadata document is a client of its own") {
  const LoginOwner owner{upstream, {}, "https://me.example/client.json"};
  CHECK(store.save(owner, login_at("https://as.example", "https://me.example/client.json",
                                   false)) == Saved::yes);
  CHECK(store.find(owner));
  CHECK(store.has_none(anybody));
}

TEST_CASE("without a file it is kept in memory") {
  Log log{LogLevel::off};
  EventLoop loop;
  TokenStore store(loop, {}, log);
  CHECK(store.save(anybody, login_at("https://as.example", "a", true)) == Saved::no);
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

TEST_CASE_FIXTURE(TemporaryFolder, "a held lock delays the file, and nothing else") {
  const std::string file = path("tokens.json");
  SimulatedClock clock;
  EventLoop loop(clock);
  Log log{LogLevel::off};
  TokenStore store(loop, file, log);
  const StoredLogin first = login_at("https://as.example", "a", true);
  REQUIRE(store.save(anybody, first) == Saved::yes);
  StoredLogin next = first;
  next.access_token = "next";
  {
    const LockHolder other(file + ".lock");
    CHECK(store.save(anybody, next) == Saved::later);
    CHECK(store.has_unsaved());
    CHECK(store.find(anybody)->access_token == "next");
    CHECK(store.try_lock(next) == TokenStore::Lock::busy);
    CHECK(TokenStore(loop, file, log).find(anybody)->access_token == "at-of-a");
    let_pass(clock, loop, std::chrono::minutes(10));
    CHECK(store.has_unsaved());
    CHECK(store.erase(anybody) == Saved::later);
    CHECK(store.has_none(anybody));
    CHECK(store.save(anybody, next) == Saved::later);
  }
  let_pass(clock, loop, std::chrono::seconds(5));
  CHECK_FALSE(store.has_unsaved());
  CHECK_FALSE(loop.next_due());  // no timer remains
  CHECK(TokenStore(loop, file, log).find(anybody)->access_token == "next");
  CHECK(store.try_lock(next) == TokenStore::Lock::held);
}

TEST_CASE_FIXTURE(StoreFixture, "what a held lock kept from the file is tried again at the end") {
  {
    const LockHolder other(path("tokens.json.lock"));
    TokenStore ending(loop, path("tokens.json"), log);
    CHECK(ending.save(anybody, login_at("https://as.example", "a", true)) == Saved::later);
    CHECK_FALSE(store.find(anybody));
  }
  CHECK_FALSE(store.find(anybody));
  auto ending = std::make_unique<TokenStore>(loop, path("tokens.json"), log);
  {
    const LockHolder other(path("tokens.json.lock"));
    CHECK(ending->save(anybody, login_at("https://as.example", "a", true)) == Saved::later);
  }
  ending.reset();
  CHECK(store.find(anybody));
}
