#include <unistd.h>

#include <chrono>
#include <string>

#include "policies.hpp"
#include "router/permissions.hpp"
#include "router_fixture.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

constexpr uid_t issuer = 4242;
constexpr uid_t step = 4243;

struct Granted : RouterFixture {
  explicit Granted(const std::string& rules = {}) {
    open();
    if (!rules.empty()) take(rules, false);
  }
  void take(const std::string& rules, bool tells = true) {
    in_turn([&] { router.take_policy(policy_of(rules), tells); });
  }
  Grants& grants() { return router.permissions().grants(); }
  GrantHold grant(const std::string& params, const GrantHold* under = nullptr, uid_t by = issuer) {
    const auto issued = grants().issue(std::get<Grant>(read_wanted_grant(params)),
                                       {false, by, 0, {}}, under, router.permissions().now());
    in_turn([&] { router.permissions().watch_expiry(); });
    return grants().hold_of(*std::get<Grants::Issued>(issued).alive);
  }
  FakeClient& with(const GrantHold& hold, uid_t uid = step) {
    FakeClient& client = connect("unix", uid);
    use(client, hold);
    return client;
  }
  void use(const FakeClient& client, const GrantHold& hold) {
    in_turn([&] {
      router.from_clients().use_grant(*router.clients().find_client(client.identity().id), hold);
    });
  }
  void end(const GrantHold& hold) {
    in_turn([&] { router.permissions().end_grant(hold.id()); });
  }
  std::string listed(FakeClient& client) {
    client.take_lines();
    request(client, "7", "tools/list");
    upstream.answer(upstream.id_of("tools/list"), R"({"tools":[{"name":"a"},{"name":"b"}]})");
    return client.take_line();
  }
};

}  // namespace

TEST_CASE("a grant's lists hold without a policy, for requests and lists") {
  Granted t;
  FakeClient& client = t.with(t.grant(R"({"tools":["a"]})"));
  t.call(client, "1", "b");
  const std::string answer = client.take_line();
  CHECK(contains(answer, R"("kind":"denied","delivered":"no")"));
  CHECK(contains(answer, "tool 'b' is not allowed with this grant"));
  t.call(client, "2", "a");
  CHECK(t.calls() == Lines{"a"});
  const std::string list = t.listed(client);
  CHECK(contains(list, R"("a")"));
  CHECK_FALSE(contains(list, R"("b")"));
  FakeClient& other = t.connect("unix", step);
  t.call(other, "1", "b");
  CHECK(t.calls() == Lines{"a", "b"});
}

TEST_CASE("a holder has its issuer's rights, not its own") {
  Granted t(R"({"uid":4242,"tools":["a"]},{"uid":4243,"tools":["b"]})");
  const GrantHold hold = t.grant("{}");
  FakeClient& client = t.with(hold);
  t.call(client, "1", "a");
  t.call(client, "2", "b");
  CHECK(t.calls() == Lines{"a"});
  FakeClient& unknown = t.with(hold, 7);
  t.call(unknown, "1", "a");
  CHECK(t.calls() == Lines{"a", "a"});
}

TEST_CASE("a changed rule of the issuer holds at once, also for what waits and for the ring") {
  Granted t(R"({"uid":4242})");
  FakeClient& client = t.with(t.grant("{}"));
  t.call(client, "1", "a");
  t.take(R"({"uid":4242,"tools":["b"],"resources":["x://*"]})");
  t.call(client, "2", "a");
  t.call(client, "3", "b");
  CHECK(t.calls() == Lines{"a", "b"});
  REQUIRE(client.filter != nullptr);
  t.take(R"({"uid":1})");
  t.call(client, "4", "b");
  CHECK(t.calls() == Lines{"a", "b"});
}

TEST_CASE("a grant that ends denies what comes and what waits, and carries out what is in flight") {
  for (const bool expires : {false, true}) {
    INFO(expires);
    Granted t;
    const GrantHold hold = t.grant(R"({"ttlMs":60000})");
    FakeClient& client = t.with(hold);
    t.call(client, "1", "a");
    t.request(client, "2", "bridge/later");
    client.take_lines();
    if (expires) {
      t.advance(60s);
    } else {
      t.end(hold);
    }
    const std::string why = expires ? "has expired" : "was revoked";
    const Lines told = client.take_lines();
    REQUIRE(told.size() == 1);  // the waiting request
    CHECK(contains(told[0], why));
    t.call(client, "3", "a");
    const std::string denied = client.take_line();
    CHECK(contains(denied, why));
    CHECK(contains(denied, R"("kind":"denied","delivered":"no")"));
    t.answer_call("a", R"({"content":[]})");
    CHECK(contains(client.take_line(), R"("result")"));
    CHECK(t.calls() == Lines{"a"});
    CHECK(client.filter != nullptr);
    CHECK(t.grants()
              .counts.refused[static_cast<int>(expires ? GrantEnd::expired : GrantEnd::revoked)] ==
          2);
  }
}

TEST_CASE("a revoked parent ends its children") {
  Granted t;
  const GrantHold parent = t.grant("{}");
  FakeClient& client = t.with(t.grant("{}", &parent, step), 7);
  t.call(client, "1", "a");
  t.end(parent);
  t.call(client, "2", "b");
  CHECK(t.calls() == Lines{"a"});
}

TEST_CASE("calls are counted once each, without denied ones and what only reads") {
  Granted t;
  const GrantHold hold = t.grant(R"({"calls":2,"tools":["a"]})");
  FakeClient& client = t.with(hold);
  t.call(client, "1", "b");
  t.listed(client);
  t.request(client, "2", "resources/read", R"({"uri":"x://1"})");
  CHECK(t.grants().calls_left(hold) == 2);
  t.call(client, "3", "a");
  CHECK(t.grants().calls_left(hold) == 1);
  FakeClient& second = t.with(hold, 7);
  t.call(second, "1", "a");
  t.call(second, "2", "a");
  CHECK(contains(second.take_line(), "are used up"));
  CHECK(t.calls() == Lines{"a", "a"});
  CHECK_FALSE(t.listed(second).empty());
  CHECK(t.grants().counts.refused[static_cast<int>(GrantEnd::used_up)] == 1);
}

TEST_CASE("a child's calls use up its parent's") {
  Granted t;
  const GrantHold parent = t.grant(R"({"calls":1})");
  FakeClient& child = t.with(t.grant("{}", &parent, step), 7);
  FakeClient& client = t.with(parent);
  t.call(child, "1", "a");
  t.call(client, "1", "b");
  CHECK(t.calls() == Lines{"a"});
}

TEST_CASE("the rate and the requests in flight are the issuer's, whoever calls") {
  Granted t(R"({"uid":4242,"rate":"2/1m","inflight":1},{"uid":4243,"rate":"100/1m"})");
  const GrantHold hold = t.grant("{}");
  FakeClient& client = t.with(hold);
  FakeClient& other = t.with(hold, 7);
  FakeClient& own = t.connect("unix", issuer);
  t.call(client, "1", "a");
  t.call(other, "1", "b");
  CHECK(t.calls() == Lines{"a"});
  t.answer_call("a");
  CHECK(t.calls() == Lines{"a", "b"});
  t.answer_call("b");
  t.call(own, "1", "c");
  CHECK(contains(own.take_line(), "rate_limited"));
}

TEST_CASE("a connection whose grant was refused can do nothing") {
  Granted t(R"({"uid":4243})");
  FakeClient& client = t.connect("unix", step);
  t.call(client, "1", "a");
  GrantHold refused;
  refused.refused = GrantEnd::invalid;
  t.use(client, refused);
  t.call(client, "2", "b");
  CHECK(contains(client.take_line(), "not valid here"));
  t.request(client, "3", "bridge/jobs");
  CHECK(contains(client.take_line(), "not valid here"));
  CHECK(t.calls() == Lines{"a"});
}

TEST_CASE("without control methods a grant is refused, reaches no server, and nothing follows it") {
  RouterOptions options;
  options.control = false;
  OpenRouter t(options);
  FakeClient& client = t.connect();
  t.request(client, "1", "bridge/use", R"({"grant":"mcpg_x"})");
  CHECK(contains(client.take_line(), "--no-control"));
  t.notify(client, "bridge/use", R"({"grant":"mcpg_x"})");
  t.call(client, "2", "a");
  CHECK(contains(client.take_line(), R"("kind":"denied")"));
  CHECK(t.upstream.count("bridge/use") == 0);
  CHECK(t.calls().empty());
}

TEST_CASE("a frame that has waited is denied if its grant has expired meanwhile") {
  Granted t(R"({"uid":4242,"inflight":1})");
  FakeClient& client = t.with(t.grant(R"({"ttlMs":600000})"));
  t.call(client, "1", "a");
  t.call(client, "2", "b");
  t.clock.advance(11min);  // no timer runs
  t.answer_call("a");
  CHECK(t.calls() == Lines{"a"});
  const Lines told = client.take_lines();
  REQUIRE(told.size() == 2);
  CHECK(contains(told[1], "has expired"));
}

TEST_CASE("what comes after a calendar was set forward is not sent to holders of expired grants") {
  Granted t;
  FakeClient& client = t.with(t.grant(R"({"ttlMs":600000})"));
  t.clock.advance(11min);  // no timer runs
  t.upstream.notify("notifications/resources/updated", R"({"uri":"x://1"})");
  REQUIRE(client.filter != nullptr);
  CHECK(t.grants().size() == 0);
}

TEST_CASE("a client that leaves its user for a grant holds up none of that user's others") {
  Granted t(R"({"uid":4242},{"uid":4243,"inflight":1})");
  FakeClient& busy = t.connect("unix", step);
  FakeClient& client = t.connect("unix", step);
  FakeClient& third = t.connect("unix", step);
  t.call(busy, "1", "a");
  t.call(client, "1", "b");
  t.call(third, "1", "c");
  t.use(client, t.grant("{}"));
  CHECK(t.calls() == Lines{"a", "b"});
  t.answer_call("a");
  CHECK(t.calls() == Lines{"a", "b", "c"});
}

TEST_CASE("a question about a call that was sent before a grant came is still its user's") {
  Granted t;
  FakeClient& own = t.connect_answering(R"("sampling/createMessage")", "unix", issuer);
  FakeClient& client = t.connect("unix", issuer);
  t.call(client, "1", "a");
  t.use(client, t.grant("{}"));
  own.take_lines();
  t.ask("9", t.id_of_call("a"));
  CHECK_FALSE(own.take_lines().empty());
}

TEST_CASE("a call that waited when the grant came is judged by it") {
  Granted t;
  FakeClient& client = t.connect("unix", step);
  for (const char* id : {"1", "2"}) {
    for (std::size_t i = 0; i < RouterOptions().client_inflight; ++i)
      t.call(client, std::string(id) + std::to_string(i), "b");
  }
  const std::size_t before = t.calls().size();
  t.use(client, t.grant(R"({"tools":["a"]})"));
  t.answer_call("b");
  CHECK(t.calls().size() == before);
}

TEST_CASE("a question about a call with a grant is not shown to the user's other clients") {
  Granted t;
  FakeClient& own = t.connect_answering(R"("sampling/createMessage")", "unix", issuer);
  FakeClient& client = t.with(t.grant("{}"), issuer);
  t.call(client, "1", "a");
  own.take_lines();
  t.ask("9", t.id_of_call("a"));
  CHECK(own.take_lines().empty());
}

TEST_CASE("the file of the policy is not named to the holder of a grant of the daemon's user") {
  Granted t(R"({"tools":["a"]})");
  FakeClient& client = t.with(t.grant("{}", nullptr, geteuid()), geteuid());
  t.call(client, "1", "b");
  CHECK_FALSE(contains(client.take_line(), "policy.json"));
}
