// Jobs as they are saved in an upgrade.
#include <doctest/doctest.h>

#include "daemon_snapshot.hpp"
#include "job_fixture.hpp"
#include "state/archive.hpp"

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

/// The job after it was written to and read from the snapshot that is handed over in an upgrade.
JobRunner::Saved restored(const JobRunner::Saved& saved) {
  DaemonSnapshot snapshot;
  snapshot.jobs = Archive::copy(saved);
  return std::move(std::get<DaemonSnapshot>(read_snapshot(write_snapshot(snapshot))).jobs);
}

}  // namespace

TEST_CASE("an ended job and a used key are the same in the next process") {
  const Job job = an_ended_job();
  const UsedKey key{"old", 9, "4567", JobState::cancelled, SteadyTime(99s)};
  JobRunner::Saved saved;
  saved.ended = {job};
  saved.keys = {{{true, 0}, key}};
  saved = restored(saved);
  REQUIRE(saved.ended.size() == 1);
  const Job* const read = &saved.ended[0];
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
  REQUIRE(saved.keys.size() == 1);
  CHECK(saved.keys[0].first == User{true, 0});
  const UsedKey* const left = &saved.keys[0].second;
  CHECK(left->key == "old");
  CHECK(left->digest == 9);
  CHECK(left->job == "4567");
  CHECK(left->state == JobState::cancelled);
  CHECK(left->until == key.until);
}

TEST_CASE("what has not ended is not restored as if it had") {
  JobFixture t;
  for (const JobState state : {JobState::working, JobState::input_required}) {
    Job job = an_ended_job();
    job.state = state;
    t.runner.restore_ended({job}, {{job.user, {"k", 1, "id", state, SteadyTime::max()}}});
    CHECK(t.runner.store().find(job.number) == nullptr);
    CHECK(t.runner.store().used_key(job.user, "k", t.loop.now()) == nullptr);
  }
  Job job = an_ended_job();
  t.runner.restore_ended({job}, {{job.user, {"l", 1, "id", JobState::failed, SteadyTime::max()}}});
  CHECK(t.runner.store().find(job.number) != nullptr);
  CHECK(t.runner.store().used_key(job.user, "l", t.loop.now()) != nullptr);
}

TEST_CASE("a job that has not ended is the same in the next process") {
  JobRunner::Saved saved;
  JobRunner::SavedJob& one = saved.running.emplace_back();
  one.job = an_ended_job();
  one.job.state = JobState::input_required;
  one.job.question = JobQuestion{"elicitation/create", "{}"};
  one.job.request = "{}";
  one.job.position.id = UpstreamId{5};
  one.job.position.task = "\"t\"";
  one.job.position.round = "{}";
  one.running.stage = JobRunner::Running::Stage::asked;
  one.running.for_client = true;
  one.running.was_left = true;
  one.running.task = std::make_unique<JobRunner::Task>();
  one.running.task->answers = {{"\"a\"", "{}"}};
  one.running.task->answered = {"\"a\"", "\"b\""};
  one.running.question = 5;
  one.running.since = SteadyTime(11s);
  one.running.worked = 12s;
  saved = restored(saved);
  REQUIRE(saved.running.size() == 1);
  const JobRunner::SavedJob& read = saved.running[0];
  CHECK(read.job.id == "0123");
  CHECK(read.job.number == JobNumber{7});
  CHECK(read.job.key == "k");
  CHECK(read.job.created == an_ended_job().created);
  CHECK(read.job.state == JobState::input_required);
  CHECK(read.job.request == "{}");
  CHECK(read.job.position.id == UpstreamId{5});
  CHECK(read.job.position.task == "\"t\"");
  CHECK(read.job.position.round == "{}");
  CHECK(read.running.stage == JobRunner::Running::Stage::asked);
  CHECK(read.running.for_client);
  CHECK(read.running.was_left);
  REQUIRE(read.running.task);
  REQUIRE(read.running.task->answers.size() == 1);
  CHECK(read.running.task->answers[0].result == "{}");
  CHECK(read.running.task->answered.size() == 2);
  CHECK(read.running.question == 5);
  CHECK(read.running.since == SteadyTime(11s));
  CHECK(read.running.worked == SteadyTime::duration(12s));
}
