#include "../router/policies.hpp"
#include "job_fixture.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

struct RuledJobs : JobFixture {
  explicit RuledJobs(const std::string& rules, const RouterOptions& options = {})
      : JobFixture({}, options) {
    take(rules);
  }
  void ask_submit(const FakeClient& client, std::string_view tool) {
    send(
        client,
        fmt::format(
            R"({{"jsonrpc":"2.0","id":"q","method":"bridge/submit","params":{{"method":"tools/call","params":{{"name":"{}"}}}}}})",
            tool));
  }
  void take(const std::string& rules) {
    in_turn([&] { router.take_policy(policy_of(rules), false); });
  }
};

RouterOptions one_place() {
  RouterOptions options;
  options.max_inflight = 1;
  return options;
}

}  // namespace

TEST_CASE("a job whose rule was taken away before it starts fails, and reaches no server") {
  RuledJobs t("{}", one_place());
  FakeClient& busy = t.connect("unix", 1);
  t.call(busy, "1", "first");
  FakeClient& client = t.connect();
  const std::string job = t.submit(client, "rm");
  CHECK(t.state_of(job) == "working");
  t.take(R"({"uid":1000,"tools":["a"]},{"uid":1})");
  t.answer_call("first");
  CHECK(t.calls() == Lines{"first"});
  CHECK(t.state_of(job) == "failed");
  const std::string told = t.bridge(client, "collect", fmt::format(R"({{"job":"{}"}})", job));
  CHECK(contains(told, R"("kind":"denied")"));
}

TEST_CASE("a job is judged as its submitter, with the groups that it had") {
  RuledJobs t(R"({"gid":7,"tools":["a"]},{"uid":1})", one_place());
  FakeClient& client = t.connect();
  // Without the group no rule applies to it.
  t.ask_submit(client, "a");
  CHECK(contains(client.take_line(), R"("kind":"denied")"));
}

TEST_CASE("a job takes a token when it is submitted, and none when it starts") {
  RuledJobs t(R"({"rate":"2/10s"})");
  FakeClient& client = t.connect();
  const std::string job = t.submit(client, "a");
  CHECK(t.state_of(job) == "working");
  t.call(client, "1", "b");
  CHECK(t.calls() == Lines{"a", "b"});
  t.ask_submit(client, "c");
  CHECK(contains(client.take_line(), R"("kind":"rate_limited")"));
  t.advance(5s);
  t.ask_submit(client, "c");
  CHECK(t.calls() == Lines{"a", "b", "c"});
}

TEST_CASE("a list in a job has only what its submitter may see") {
  RuledJobs t(R"({"tools":["a"]})");
  FakeClient& client = t.connect();
  const std::string answer = t.bridge(client, "submit", R"({"method":"tools/list"})");
  const std::string job = *find_string(*find_member(answer, "result"), "job");
  t.upstream.answer(t.upstream.id_of("tools/list"), R"({"tools":[{"name":"a"},{"name":"b"}]})");
  CHECK(contains(t.bridge(client, "collect", fmt::format(R"({{"job":"{}"}})", job)),
                 R"("tools":[{"name":"a"}])"));
}

TEST_CASE("a grant's calls count jobs that may change something, once there is room for them") {
  JobOptions options;
  options.limits.jobs = 2;
  JobFixture t(options);
  Grants& grants = t.router.permissions().grants();
  const auto issued = grants.issue(std::get<Grant>(read_wanted_grant(R"({"calls":3})")),
                                   {false, 1000, 0, {}}, nullptr, t.router.permissions().now());
  const GrantHold hold = grants.hold_of(*std::get<Grants::Issued>(issued).alive);
  FakeClient& client = t.connect();
  t.in_turn([&] {
    t.router.from_clients().use_grant(*t.router.clients().find_client(client.identity().id), hold);
  });
  t.bridge(client, "submit", R"({"method":"resources/read","params":{"uri":"x://1"}})");
  CHECK(grants.calls_left(hold) == 3);
  t.submit(client, "a");
  CHECK(grants.calls_left(hold) == 2);
  const std::string refused =
      t.bridge(client, "submit", R"({"method":"tools/call","params":{"name":"b"}})");
  CHECK(contains(refused, "--jobs"));
  CHECK(grants.calls_left(hold) == 2);
}
