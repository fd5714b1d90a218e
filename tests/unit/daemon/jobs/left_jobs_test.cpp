// Jobs left by another daemon, and what is done with each of them (BEHAVIOUR, "State: jobs after a
// restart" and "State: at the end").
#include <doctest/doctest.h>

#include "job_fixture.hpp"

namespace bridge {
namespace {

using namespace std::chrono_literals;

Job left_job(std::uint64_t number, std::string_view method = "tools/call") {
  Job left;
  left.id = fmt::format("{:032x}", number);
  left.number = static_cast<JobNumber>(number);
  left.user = {false, 1000};
  left.method = method;
  left.keep = 1h;
  left.request = fmt::format(
      R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{{"name":"left","_meta":{{"progressToken":{}}}}}}})",
      number, method, number);
  return left;
}

struct LeftJobs : JobFixture {
  using JobFixture::JobFixture;

  std::string take_over(Job left, bool may_act = true) {
    std::string id = left.id;
    in_turn([&] { runner.take_over(std::move(left), may_act); });
    return id;
  }
  bool adopt(const Job& left) {
    bool is_adopted = false;
    in_turn([&] { is_adopted = runner.adopt(left); });
    return is_adopted;
  }
  std::string response_of(const std::string& job) { return runner.store().find_job(job)->response; }
  bool failed_unknown(const std::string& job) {
    return state_of(job) == "failed" && contains(response_of(job), R"("kind":"closed")") &&
           contains(response_of(job), R"("delivered":"unknown")");
  }
};

TEST_CASE("one that was never started is sent, and one that only reads is sent again") {
  LeftJobs t;
  const std::string waiting = t.take_over(left_job(3));
  Job reading = left_job(4, "tools/list");
  reading.position.started = true;
  const std::string read = t.take_over(std::move(reading));
  CHECK(t.upstream.methods() == Lines{"tools/call", "tools/list"});
  t.answer_call("left", R"({"x":1})");
  CHECK(t.state_of(waiting) == "completed");
  CHECK(t.response_of(waiting) == R"({"jsonrpc":"2.0","id":null,"result":{"x":1}})");
  t.upstream.answer(t.upstream.id_of("tools/list"));
  CHECK(t.state_of(read) == "completed");
  CHECK(value_of(t.runner.store().next_number()) == 5);
}

TEST_CASE(
    "one that may have acted is not sent again, nor anything if the state is not gone on with") {
  LeftJobs t;
  Job started = left_job(1);
  started.position.started = true;
  CHECK(t.failed_unknown(t.take_over(std::move(started))));
  CHECK(t.failed_unknown(t.take_over(left_job(2), false)));
  CHECK(t.upstream.sent.empty());
}

TEST_CASE("an answer is awaited behind its last event, in the session of before") {
  LeftJobs t;
  Job left = left_job(1);
  left.position.started = true;
  left.position.id = UpstreamId{77};
  left.position.session = t.session.number();
  left.position.event_id = "event";
  left.request.clear();
  const std::string job = t.take_over(left);
  REQUIRE(t.upstream.sent.size() == 1);
  CHECK(t.upstream.sent.front().id == UpstreamId{77});
  CHECK(t.upstream.sent.front().resumes_after == "event");
  CHECK(t.upstream.sent.front().body.empty());
  t.upstream.say(
      R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":77,"progress":1}})",
      UpstreamId{77});
  CHECK(t.runner.store().find_job(job)->progress == R"({"progress":1})");
  t.upstream.answer(UpstreamId{77}, R"({"x":1})");
  CHECK(t.state_of(job) == "completed");

  left.id = "b";
  left.number = JobNumber{2};
  left.position.session = 7;
  CHECK(t.failed_unknown(t.take_over(left)));
  CHECK(t.upstream.sent.size() == 1);
}

TEST_CASE("what is asked on that stream is answered as ever") {
  LeftJobs t;
  Job left = left_job(1);
  left.position = {true, UpstreamId{77}, t.session.number(), "event", 0, {}, {}, {}};
  const std::string job = t.take_over(left);
  t.ask("\"q\"", UpstreamId{77}, "elicitation/create");
  CHECK(t.state_of(job) == "input_required");
  FakeClient& client = t.connect();
  t.bridge(client, "answer", fmt::format(R"({{"job":"{}","result":{{"a":1}}}})", job));
  CHECK(t.responses() == Lines{R"({"jsonrpc":"2.0","id":"q","result":{"a":1}})"});
}

TEST_CASE("a request of a client becomes a job with an id, if there is room") {
  JobOptions options;
  options.limits.jobs = 1;
  LeftJobs t(options);
  Job left = left_job(4);
  left.id.clear();
  left.position = {true, UpstreamId{77}, t.session.number(), "event", 0, {}, {}, {}};
  CHECK(t.adopt(left));
  const Job& job = *t.runner.store().find_job(JobNumber{4});
  CHECK(job.id.size() == 32);
  CHECK(t.upstream.sent.front().resumes_after == "event");
  left.number = JobNumber{5};
  CHECK_FALSE(t.adopt(left));
  t.upstream.answer(UpstreamId{77}, R"({"x":1})");
  CHECK(job.state == JobState::completed);
}

TEST_CASE("a task is asked about again") {
  LeftJobs t({}, {}, false);
  t.open_modern();
  Job left = left_job(1);
  left.position.started = true;
  left.position.task = "\"x\"";
  const std::string job = t.take_over(std::move(left));
  REQUIRE(t.upstream.count("tasks/get") == 1);
  t.upstream.answer(t.upstream.id_of("tasks/get"),
                    R"({"resultType":"complete","taskId":"x","status":"completed","result":{}})");
  CHECK(t.state_of(job) == "completed");
}

TEST_CASE("what was asked in a result is asked again but for what was answered, and then goes on") {
  LeftJobs t({}, {}, false);
  t.open_modern();
  Job left = left_job(1);
  left.position.started = true;
  left.position.round =
      R"({"resultType":"input_required","inputRequests":{"one":{"method":"roots/list"},"two":{"method":"elicitation/create","params":{"m":1}}},"requestState":"state"})";
  left.position.answers = {R"({"roots":[]})"};
  const std::string job = t.take_over(left);
  CHECK(t.state_of(job) == "input_required");
  CHECK(t.runner.store().find_job(job)->question->params == R"({"m":1})");
  CHECK(t.upstream.sent.empty());
  FakeClient& client = t.connect();
  t.bridge(client, "answer", fmt::format(R"({{"job":"{}","result":{{"a":1}}}})", job));
  REQUIRE(t.upstream.sent.size() == 1);
  const std::string& body = t.upstream.sent.front().body;
  CHECK(contains(body, R"("inputResponses":{"one":{"roots":[]},"two":{"a":1}})"));
  CHECK(contains(body, R"("requestState":"state")"));
  t.upstream.answer(t.upstream.sent.front().id, R"({"resultType":"complete"})");
  CHECK(t.state_of(job) == "completed");

  left.id = "b";
  left.number = JobNumber{2};
  left.position.answers.push_back(R"({"a":2})");  // the last answer came, and was not sent
  t.take_over(left);
  CHECK(t.upstream.sent.size() == 2);
}

TEST_CASE("while the upstream is away it is tried again, until request-max") {
  JobOptions options;
  options.request_max = 60s;
  RouterOptions router_options;
  router_options.connect_wait = 2s;
  LeftJobs t(options, router_options, false);
  const std::string first = t.take_over(left_job(1));
  for (int n = 0; n < 8; ++n) {
    t.advance(2s);
    CHECK(t.state_of(first) == "working");
  }
  t.advance(60s);
  CHECK(t.state_of(first) == "failed");
  CHECK(contains(t.response_of(first), R"("kind":"timeout")"));

  const std::string second = t.take_over(left_job(2));
  t.advance(5s);
  CHECK(t.state_of(second) == "working");
  t.open();
  t.advance(10s);
  CHECK(t.calls() == Lines{"left"});
  t.answer_call("left");
  CHECK(t.state_of(second) == "completed");
}

TEST_CASE("how long one may work counts from its start, but for the time that it was asked") {
  for (const bool asks : {false, true}) {
    CAPTURE(asks);
    JobOptions options;
    options.request_max = 60s;
    LeftJobs t(options);
    Job left = left_job(1);
    left.position = {true, UpstreamId{77}, t.session.number(), "event", 0, {}, {}, {}};
    left.position.time = {5s, t.loop.wall_time() - 50s, asks};
    const std::string job = t.take_over(left);
    t.advance(asks ? 50s : 4s);
    CHECK(t.state_of(job) == "working");
    t.advance(6s);
    CHECK(t.state_of(job) == "failed");
    CHECK(contains(t.response_of(job), R"("kind":"timeout")"));
  }
}

TEST_CASE("one that is cancelled while it waits is never sent") {
  RouterOptions router_options;
  router_options.connect_wait = 2s;
  LeftJobs t({}, router_options, false);
  const std::string job = t.take_over(left_job(1));
  t.advance(3s);
  FakeClient& client = t.connect();
  t.bridge(client, "cancel", fmt::format(R"({{"job":"{}"}})", job));
  CHECK(t.state_of(job) == "cancelled");
  t.open();
  t.advance(60s);
  CHECK(t.calls().empty());
}

TEST_CASE("at the end of a daemon with a state they are left as they are") {
  LeftJobs t;
  FakeClient& client = t.connect();
  const std::string job = t.submit(client, "a");
  t.in_turn([&] {
    t.runner.leave_unfinished();
    t.router.begin_shutdown();
  });
  t.in_turn([&] { t.router.end_shutdown(true); });
  CHECK(t.state_of(job) == "working");
  CHECK(t.upstream.count("notifications/cancelled") == 0);
}

}  // namespace
}  // namespace bridge
