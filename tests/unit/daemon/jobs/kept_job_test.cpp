#include "jobs/kept_job.hpp"

#include <doctest/doctest.h>

#include "daemon_snapshot.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

Job an_ended_job() {
  Job job;
  job.id = "0123";
  job.number = JobNumber{7};
  job.user = {false, 1000};
  job.method = "tools/call";
  job.tool = "echo";
  job.key = "k";
  job.digest = ~std::uint64_t{0};
  job.holds_key = true;
  job.pid = 42;
  job.command = "sh";
  job.created = WallTime(1'700'000'000s);
  job.keep = 24h;
  job.state = JobState::failed;
  job.progress = R"({"progress":1})";
  job.response = R"({"jsonrpc":"2.0","id":null,"error":{}})";
  job.ended = SteadyTime(5s);
  return job;
}

/// As it is after it went through the state that one image leaves to the next.
DaemonSnapshot handed_over(KeptJob job, KeptKey key) {
  DaemonSnapshot state;
  state.jobs = {std::move(job)};
  state.job_keys = {std::move(key)};
  return std::get<DaemonSnapshot>(read_snapshot(write_snapshot(std::move(state))));
}

}  // namespace

TEST_CASE("an ended job and a used key are the same in the next image of the program") {
  const Job job = an_ended_job();
  const UsedKey key{"old", 9, "4567", JobState::cancelled, SteadyTime(99s)};
  const DaemonSnapshot state = handed_over(kept_job(job), kept_key({true, 0}, key));
  REQUIRE(state.jobs.size() == 1);
  const auto read = job_of(state.jobs[0]);
  REQUIRE(read);
  CHECK(read->id == job.id);
  CHECK(read->number == job.number);
  CHECK(read->user == job.user);
  CHECK(read->method == job.method);
  CHECK(read->tool == job.tool);
  CHECK(read->key == job.key);
  CHECK(read->digest == job.digest);
  CHECK(read->holds_key);
  CHECK(read->pid == job.pid);
  CHECK(read->command == job.command);
  CHECK(read->created == job.created);
  CHECK(read->keep == job.keep);
  CHECK(read->state == job.state);
  CHECK(read->progress == job.progress);
  CHECK(read->response == job.response);
  CHECK(read->ended == job.ended);
  REQUIRE(state.job_keys.size() == 1);
  CHECK(user_of(state.job_keys[0]) == User{true, 0});
  const auto left = used_key_of(state.job_keys[0]);
  REQUIRE(left);
  CHECK(left->key == "old");
  CHECK(left->digest == 9);
  CHECK(left->job == "4567");
  CHECK(left->state == JobState::cancelled);
  CHECK(left->until == key.until);
}

TEST_CASE("what has not ended is no kept job") {
  for (const std::uint64_t state :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{5}, ~std::uint64_t{0}}) {
    KeptJob job = kept_job(an_ended_job());
    job.state = state;
    CHECK_FALSE(job_of(job));
    CHECK_FALSE(used_key_of({false, 0, "k", 1, "id", state, 0}));
  }
}

TEST_CASE("a job that has not ended is the same in the next image of the program") {
  Job job = an_ended_job();
  job.state = JobState::input_required;
  KeptRunningJob kept;
  kept.job = kept_job(job);
  kept.client = 4;
  kept.in_flight = true;
  kept.task_form = 1;
  kept.task = "\"t\"";
  kept.answers = {{"\"a\"", "{}"}};
  kept.answered = {"\"a\"", "\"b\""};
  kept.questions = {{"5", "elicitation/create", "{}", ""}};
  kept.since = 11;
  kept.worked = 12;
  DaemonSnapshot state;
  state.running_jobs = {kept};
  state = std::get<DaemonSnapshot>(read_snapshot(write_snapshot(std::move(state))));
  REQUIRE(state.running_jobs.size() == 1);
  const KeptRunningJob& read = state.running_jobs[0];
  CHECK(read.client == 4);
  CHECK(read.in_flight);
  CHECK(read.task == "\"t\"");
  REQUIRE(read.answers.size() == 1);
  CHECK(read.answers[0].result == "{}");
  CHECK(read.answered == kept.answered);
  REQUIRE(read.questions.size() == 1);
  CHECK(read.questions[0].method == "elicitation/create");
  CHECK(read.worked == 12);
  CHECK_FALSE(job_of(read.job));
  const Job again = unfinished_job_of(read.job);
  CHECK(again.id == job.id);
  CHECK(again.number == job.number);
  CHECK(again.key == job.key);
  CHECK(again.created == job.created);
  CHECK(again.state == JobState::working);
}
