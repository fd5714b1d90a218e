// BEHAVIOUR, "Login: refresh".
#include "auth/refresher.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <memory>
#include <set>

#include "../event/loop_fixture.hpp"
#include "../event/simulated_clock.hpp"
#include "base/log.hpp"
#include "lock_holder.hpp"

using namespace bridge;

namespace {

/// A server that rotates refresh tokens, treats the second use of one as theft unless the response
/// to the first was lost, and fails as configured. It responds when the test says so.
class FlappingServer final : public TokenEndpoint {
 public:
  enum class Mood { well, unreachable, failing, losing, refusing };

  void post(const std::string&, bool, const TokenForm& form, Done done) override {
    form_ = form.body;
    done_ = std::move(done);
  }
  void cancel() override { done_ = nullptr; }
  bool is_asked() const { return done_ != nullptr; }

  void answer() {
    const Done done = std::exchange(done_, nullptr);
    SmallAnswer answer;
    const auto at = form_.find("refresh_token=rt-");
    REQUIRE(at != std::string::npos);
    const int number = std::stoi(form_.substr(at + 17));
    switch (mood) {
      case Mood::unreachable:
        answer.fault = "no route";
        answer.was_sent = false;
        break;
      case Mood::failing: answer.status = 503; break;
      case Mood::refusing:
        answer.status = refusal;
        answer.body = said;
        break;
      case Mood::losing:
      case Mood::well: redeem(number, answer);
    }
    done(answer);
  }

  Mood mood = Mood::well;
  int issued = 0;  ///< the number of the valid refresh token
  int expires_in = 3600;
  std::map<int, int> redeemed;
  int most_for_one = 0;
  int thefts = 0;
  int refusal = 0;  ///< of Mood::refusing: status and body
  std::string said;

 private:
  void redeem(int number, SmallAnswer& answer) {
    most_for_one = std::max(most_for_one, ++redeemed[number]);
    const bool is_repeated = redeemed[number] > 1;
    if (is_repeated && lost_.count(number) == 0) ++thefts;
    if (is_repeated && lost_.count(number) == 0) {
      answer.status = 400;
      answer.body = R"({"error":"invalid_grant"})";
      return;
    }
    ++issued;
    if (mood == Mood::losing) {
      lost_.insert(number);
      mood = Mood::well;
      answer.fault = "the connection broke";
      answer.was_sent = true;
      return;
    }
    answer.status = 200;
    answer.body = fmt::format(
        R"({{"access_token":"at-{0}","refresh_token":"rt-{0}","token_type":"Bearer","expires_in":{1}}})",
        issued, expires_in);
  }

  Done done_;
  std::string form_;
  std::set<int> lost_;
};

struct RefresherFixture {
  explicit RefresherFixture(std::chrono::milliseconds idle = std::chrono::milliseconds(0),
                            std::string path = {})
      : store(loop, std::move(path), log),
        refresher({loop, server, store, log, owner, idle, "mcp-nc -s /s login"}) {}

  StoredLogin login() const {
    StoredLogin login;
    login.resource = "https://r.example/mcp";
    login.issuer = "https://as.example";
    login.token_endpoint = "https://as.example/token";
    login.client.id = "me";
    login.access_token = "at-0";
    login.refresh_token = "rt-0";
    login.expires = clock.wall_time() + std::chrono::seconds(server.expires_in);
    return login;
  }

  void advance(std::chrono::milliseconds time) {
    clock.advance(time);
    while (loop.run_due()) {
    }
    answer_all();
  }
  void answer_all() {
    for (int i = 0; i < 10 && server.is_asked(); ++i) {
      const EventLoop::Turn turn(loop);
      server.answer();
    }
  }
  /// Whether a request that needs the token gets one.
  bool is_served() {
    const EventLoop::Turn turn(loop);
    return refresher.token().has_value();
  }
  void fetch(TokenSource::Done done = [](const TokenAnswer&) {}) {
    const EventLoop::Turn turn(loop);
    refresher.fetch(std::move(done));
  }
  /// A refresh of the login that the server is asked for, and answers so; refusing, as invalid.
  void begin_refresh(FlappingServer::Mood mood, std::optional<TokenAnswer>& answer) {
    server.mood = mood;
    server.refusal = 400;
    server.said = R"({"error":"invalid_grant"})";
    refresher.refused("at-0");
    fetch([&answer](const TokenAnswer& given) { answer = given; });
    REQUIRE(server.is_asked());
  }
  std::optional<Failure> fetched() {
    std::optional<TokenAnswer> answer;
    fetch([&](const TokenAnswer& given) { answer = given; });
    answer_all();
    REQUIRE(answer);
    return answer->failure;
  }

  /// A person has logged in again, at another server.
  void log_in_elsewhere() {
    StoredLogin other = login();
    other.issuer = "https://other.example";
    other.token_endpoint = "https://other.example/token";
    other.access_token = "other-at";
    other.refresh_token = "other-rt";
    const EventLoop::Turn turn(loop);
    refresher.take(other);
  }
  void check_logged_in_elsewhere() {
    for (const std::optional<StoredLogin>& one :
         {store.find(owner),
          refresher.login() ? std::optional(*refresher.login()) : std::nullopt}) {
      REQUIRE(one);
      CHECK(one->issuer == "https://other.example");
      CHECK(one->token_endpoint == "https://other.example/token");
      CHECK(one->access_token == "other-at");
      CHECK(one->refresh_token == "other-rt");
      CHECK(one->redemptions == 0);
    }
    CHECK(is_served());
    CHECK(refresher.why_over().empty());
  }

  LoginOwner owner{"https://r.example/mcp", "me", {}};
  SimulatedClock clock;
  EventLoop loop{clock};
  Log log{LogLevel::off};
  FlappingServer server;
  TokenStore store;
  Refresher refresher;
};

}  // namespace

TEST_CASE("a week with a flapping server: no refresh token is used twice, no request is lost") {
  using Mood = FlappingServer::Mood;
  RefresherFixture f;
  f.refresher.take(f.login());
  int asked = 0;
  int without = 0;
  int lost_answers = 0;
  unsigned random = 7;
  for (int minute = 0; minute < 7 * 24 * 60; ++minute) {
    // Failures last less than the remaining life of a token when its refresh is due.
    random = random * 1103515245u + 12345u;
    if (minute % 7 == 0) {
      f.server.mood = static_cast<Mood>((random >> 16) % 3);
      if ((random >> 20) % 5 == 0) f.server.mood = Mood::losing, ++lost_answers;
    }
    // Every twelfth hour the session is unused.
    const bool is_used = minute / 60 % 12 != 0;
    f.advance(std::chrono::minutes(1));
    if (!is_used) continue;
    ++asked;
    if (!f.is_served()) {
      // The token has expired while the session was unused, or on a bad day: the request waits.
      for (int tries = 0; tries < 600 && !f.refresher.has_good_token(); ++tries) {
        if (f.fetched()) f.advance(std::chrono::seconds(1));
        if (tries == 500) f.server.mood = Mood::well;
      }
      if (!f.refresher.has_good_token()) ++without;
    }
    f.answer_all();
  }
  CHECK(asked > 9000);
  CHECK(without == 0);
  CHECK(lost_answers > 20);
  CHECK(f.server.thefts == 0);
  CHECK(f.server.most_for_one == 2);
  CHECK(f.refresher.can_refresh());
  CHECK(f.refresher.refreshes() > 150);
}

TEST_CASE("who asks while one is under way joins it") {
  RefresherFixture f;
  f.refresher.take(f.login());
  f.refresher.refused("at-0");
  int answered = 0;
  for (int i = 0; i < 64; ++i)
    f.fetch([&](const TokenAnswer& answer) { answered += answer.token == "at-1"; });
  f.answer_all();
  CHECK(answered == 64);
  CHECK(f.server.redeemed.size() == 1);
  CHECK(f.server.most_for_one == 1);
}

TEST_CASE("a refused refresh is not tried again, and a person is needed at once") {
  RefresherFixture f;
  f.refresher.take(f.login());
  f.server.redeemed[0] = 1;
  f.advance(std::chrono::minutes(59) + std::chrono::seconds(40));
  CHECK(f.is_served());
  f.answer_all();
  CHECK(!f.refresher.can_refresh());
  CHECK(!f.is_served());
  const auto failure = f.fetched();
  REQUIRE(failure);
  CHECK(failure->kind == ErrorKind::auth);
  CHECK(failure->login == "mcp-nc -s /s login");
  CHECK(f.server.redeemed[0] == 2);
}

TEST_CASE("after each refusal a person is needed, and a forgotten registration is made again") {
  struct Row {
    int status;
    const char* body;
    bool is_forgotten;
  };
  for (const Row& row : {Row{400, R"({"error":"invalid_grant"})", false},
                         Row{400, R"({"error":"invalid_request"})", false}, Row{400, "{}", false},
                         Row{403, "<html>", false}, Row{404, "", false},
                         Row{401, R"({"error":"unauthorized_client"})", false},
                         Row{401, R"({"error":"invalid_client"})", true},
                         Row{400, R"({"error":"invalid_client"})", true}}) {
    for (const bool is_registered : {true, false}) {
      CAPTURE(row.body);
      CAPTURE(is_registered);
      RefresherFixture f;
      if (is_registered) f.owner.client_id.clear();
      TokenStore store(f.loop, {}, f.log);
      Refresher refresher({f.loop, f.server, store, f.log, f.owner, std::chrono::milliseconds(0),
                           "mcp-nc -s /s login"});
      StoredLogin login = f.login();
      login.client.is_registered = is_registered;
      refresher.take(login);
      f.server.mood = FlappingServer::Mood::refusing;
      f.server.refusal = row.status;
      f.server.said = row.body;
      f.advance(std::chrono::minutes(59) + std::chrono::seconds(40));
      {
        const EventLoop::Turn turn(f.loop);
        CHECK(refresher.token());
      }
      f.answer_all();
      CHECK(!refresher.can_refresh());
      CHECK(!refresher.has_good_token());
      REQUIRE(refresher.login());
      CHECK(!refresher.why_over().empty());
      const bool is_kept = is_registered && !row.is_forgotten;
      CHECK(refresher.registration("https://as.example/").has_value() == is_kept);
      CHECK((refresher.login()->client.id == "me") == (is_kept || !is_registered));
    }
  }
}

TEST_CASE("after two lost answers the token serves while it lasts") {
  RefresherFixture f;
  f.refresher.take(f.login());
  f.advance(std::chrono::minutes(59) + std::chrono::seconds(40));
  CHECK(f.is_served());
  for (int i = 0; i < 2; ++i) {
    REQUIRE(f.server.is_asked());
    f.server.mood = FlappingServer::Mood::losing;
    const EventLoop::Turn turn(f.loop);
    f.server.answer();
  }
  CHECK(!f.server.is_asked());
  CHECK(!f.refresher.can_refresh());
  CHECK(f.server.most_for_one == 2);
  CHECK(f.is_served());
  f.advance(std::chrono::minutes(1));
  CHECK(!f.is_served());
}

TEST_CASE("while nobody uses it it is refreshed once in the time that was said") {
  RefresherFixture f(std::chrono::hours(24));
  f.refresher.take(f.login());
  for (int hour = 0; hour < 24 * 7; ++hour) f.advance(std::chrono::hours(1));
  CHECK(f.server.issued >= 6);
  CHECK(f.server.issued <= 8);
  CHECK(f.server.thefts == 0);
}

TEST_CASE_FIXTURE(LoopFixture, "two daemons that share a store refresh once") {
  RefresherFixture one(std::chrono::milliseconds(0), path("tokens.json"));
  RefresherFixture two(std::chrono::milliseconds(0), path("tokens.json"));
  one.refresher.take(one.login());
  two.refresher.look_into_store();
  REQUIRE(two.refresher.can_refresh());
  one.refresher.refused("at-0");
  two.refresher.refused("at-0");
  one.fetch();
  std::optional<TokenAnswer> second;
  two.fetch([&](const TokenAnswer& answer) { second = answer; });
  CHECK(one.server.is_asked());
  CHECK(!two.server.is_asked());  // it waits for the lock
  one.answer_all();
  two.advance(std::chrono::milliseconds(150));
  REQUIRE(second);
  CHECK(second->token == "at-1");
  CHECK(two.server.redeemed.empty());
}

TEST_CASE_FIXTURE(LoopFixture, "a daemon that dies between two uses counts as one lost answer") {
  const std::string file = path("tokens.json");
  {
    RefresherFixture dying(std::chrono::milliseconds(0), file);
    dying.refresher.take(dying.login());
    dying.refresher.refused("at-0");
    dying.fetch();
    REQUIRE(dying.server.is_asked());
  }
  RefresherFixture next(std::chrono::milliseconds(0), file);
  next.refresher.look_into_store();
  REQUIRE(next.refresher.login() != nullptr);
  CHECK(next.refresher.login()->redemptions == 1);
  next.refresher.refused("at-0");
  next.server.mood = FlappingServer::Mood::losing;
  const auto failure = next.fetched();
  REQUIRE(failure);
  CHECK(failure->login == "mcp-nc -s /s login");
  CHECK(next.server.most_for_one == 1);
}

TEST_CASE_FIXTURE(LoopFixture, "a store that others may read is not used, and is named") {
  const std::string file = write("tokens.json", logins_text({}), 0644);
  CHECK(contains(fault_of_token_store(file), "chmod 600"));
  std::filesystem::permissions(file, std::filesystem::perms(0600));
  CHECK(fault_of_token_store(file).empty());
  write("tokens.json", "something else");
  CHECK(contains(fault_of_token_store(file), "not a token store"));
  CHECK(fault_of_token_store(path("new.json")).empty());
  CHECK(contains(fault_of_token_store(path("no/new.json")), "folder"));
}

TEST_CASE_FIXTURE(LoopFixture, "the store is for its owner only, and others' entries stay") {
  RefresherFixture f(std::chrono::milliseconds(0), path("tokens.json"));
  const LoginOwner others{"https://other.example/mcp", "them", {}};
  StoredLogin other = f.login();
  other.upstream = others.upstream;
  other.client.id = "them";
  other.access_token = "theirs";
  CHECK(f.store.save(others, other) == TokenStore::Saved::yes);
  f.refresher.take(f.login());
  const auto mode = std::filesystem::status(path("tokens.json")).permissions();
  CHECK(mode == std::filesystem::perms(0600));
  CHECK(f.store.find(others)->access_token == "theirs");
  CHECK(f.refresher.forget().has_value());
  CHECK(!f.store.find(f.owner));
  CHECK(f.store.find(others));
}

TEST_CASE_FIXTURE(LoopFixture, "a logout is one of all daemons that share the store") {
  RefresherFixture one(std::chrono::milliseconds(0), path("tokens.json"));
  RefresherFixture two(std::chrono::milliseconds(0), path("tokens.json"));
  one.refresher.take(one.login());
  two.refresher.look_into_store();
  REQUIRE(two.refresher.has_good_token());
  one.refresher.forget();
  two.refresher.look_into_store();
  CHECK(two.refresher.login() == nullptr);
}

TEST_CASE_FIXTURE(LoopFixture, "a process that holds the store's lock delays a refresh, no token") {
  RefresherFixture f(std::chrono::milliseconds(0), path("tokens.json"));
  f.refresher.take(f.login());
  auto other = std::make_unique<LockHolder>(path("tokens.json.lock"));
  f.advance(std::chrono::minutes(59) + std::chrono::seconds(30));
  CHECK(f.is_served());  // and a refresh is due
  f.advance(std::chrono::milliseconds(150));
  CHECK(f.is_served());
  CHECK(f.server.redeemed.empty());
  f.advance(std::chrono::minutes(1));
  CHECK_FALSE(f.is_served());  // it has expired
  std::optional<TokenAnswer> answer;
  f.fetch([&](const TokenAnswer& given) { answer = given; });
  f.advance(std::chrono::seconds(30));
  REQUIRE(answer);
  REQUIRE(answer->failure);
  CHECK(contains(answer->failure->message, "lock"));
  CHECK(f.server.redeemed.empty());
  other.reset();
  f.advance(std::chrono::minutes(1));
  CHECK_FALSE(f.fetched());
  CHECK(f.is_served());
}

TEST_CASE_FIXTURE(LoopFixture, "new tokens that a held lock keeps from the store serve at once") {
  RefresherFixture f(std::chrono::milliseconds(0), path("tokens.json"));
  f.refresher.take(f.login());
  f.refresher.refused("at-0");
  f.fetch();
  REQUIRE(f.server.is_asked());
  const auto other = std::make_unique<LockHolder>(path("tokens.json.lock"), 0, 1);
  f.answer_all();
  CHECK(f.is_served());
  CHECK(f.refresher.is_unsaved());
  RefresherFixture next(std::chrono::milliseconds(0), path("tokens.json"));
  StoredLogin saved = *f.refresher.login();  // as an upgrade passes it on
  saved.is_unsaved = true;
  next.refresher.restore(saved);
  next.refresher.look_into_store();
  CHECK(next.refresher.login()->access_token == "at-1");
}

TEST_CASE_FIXTURE(LoopFixture, "a login during a refresh ends it, and is all that remains") {
  for (const auto mood : {FlappingServer::Mood::well, FlappingServer::Mood::refusing,
                          FlappingServer::Mood::losing, FlappingServer::Mood::failing}) {
    for (const bool is_on_disk : {false, true}) {
      CAPTURE(is_on_disk);
      RefresherFixture f(std::chrono::milliseconds(0), is_on_disk ? path("tokens.json") : "");
      f.refresher.take(f.login());
      std::optional<TokenAnswer> answer;
      f.begin_refresh(mood, answer);
      f.log_in_elsewhere();
      REQUIRE(answer);
      CHECK(answer->token == "other-at");
      f.answer_all();  // of a server that is still asked
      f.advance(std::chrono::seconds(30));
      f.check_logged_in_elsewhere();
      if (!is_on_disk) continue;
      RefresherFixture next(std::chrono::milliseconds(0), path("tokens.json"));
      next.refresher.look_into_store();
      next.check_logged_in_elsewhere();
      CHECK(next.store.try_lock(*next.refresher.login()) == TokenStore::Lock::held);
      next.store.unlock();
      f.refresher.forget();
    }
  }
}

TEST_CASE_FIXTURE(LoopFixture, "another daemon's login or logout during a refresh stays, too") {
  for (const auto mood : {FlappingServer::Mood::well, FlappingServer::Mood::refusing}) {
    for (const bool logs_in : {true, false}) {
      CAPTURE(logs_in);
      RefresherFixture one(std::chrono::milliseconds(0), path("tokens.json"));
      RefresherFixture two(std::chrono::milliseconds(0), path("tokens.json"));
      one.refresher.take(one.login());
      two.refresher.look_into_store();
      std::optional<TokenAnswer> answer;
      one.begin_refresh(mood, answer);
      if (logs_in) {
        two.log_in_elsewhere();
      } else {
        two.refresher.forget();
      }
      one.answer_all();
      REQUIRE(answer);
      if (logs_in) {
        CHECK(answer->token == "other-at");
        one.check_logged_in_elsewhere();
        two.check_logged_in_elsewhere();
      } else {
        CHECK(answer->failure);
        CHECK(one.refresher.login() == nullptr);
        CHECK(two.store.has_none(two.owner));
      }
    }
  }
}

TEST_CASE_FIXTURE(LoopFixture, "a login while a refresh waits for the store's lock ends it") {
  RefresherFixture f(std::chrono::milliseconds(0), path("tokens.json"));
  f.refresher.take(f.login());
  f.refresher.refused("at-0");
  RefresherFixture other(std::chrono::milliseconds(0), path("tokens.json"));
  REQUIRE(other.store.try_lock(*f.refresher.login()) == TokenStore::Lock::held);
  std::optional<TokenAnswer> answer;
  f.fetch([&](const TokenAnswer& given) { answer = given; });
  REQUIRE(!answer);
  REQUIRE(!f.server.is_asked());
  f.log_in_elsewhere();
  REQUIRE(answer);
  CHECK(answer->token == "other-at");
  other.store.unlock();
  f.advance(std::chrono::seconds(1));
  CHECK(f.server.redeemed.empty());
  f.check_logged_in_elsewhere();
}

TEST_CASE("a login serves those that wait for the pause after a refusal, without a refresh") {
  RefresherFixture f;
  f.refresher.take(f.login());
  f.refresher.refused("at-0");
  CHECK(!f.fetched());
  f.refresher.refused("at-1");
  std::optional<TokenAnswer> answer;
  f.fetch([&](const TokenAnswer& given) { answer = given; });
  REQUIRE(!f.server.is_asked());
  f.log_in_elsewhere();
  REQUIRE(answer);
  CHECK(answer->token == "other-at");
  f.advance(std::chrono::seconds(2));
  CHECK(f.server.redeemed.size() == 1);
  f.check_logged_in_elsewhere();
}
