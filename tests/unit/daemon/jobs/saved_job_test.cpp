// Jobs as they are saved in an upgrade.
#include <doctest/doctest.h>

#include "daemon_snapshot.hpp"
#include "job_fixture.hpp"
#include "jobs/job_upgrade.hpp"
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

TEST_CASE("what has not ended is not restored as if it had") {
  JobFixture t;
  for (const JobState state : {JobState::working, JobState::input_required}) {
    Job job = an_ended_job();
    job.state = state;
    JobUpgrade(t.runner).restore_ended({job},
                                       {{job.user, {"k", 1, "id", state, SteadyTime::max()}}});
    CHECK(t.runner.store().find_job(job.number) == nullptr);
    CHECK(t.runner.store().used_key(job.user, "k", t.loop.now()) == nullptr);
  }
  Job job = an_ended_job();
  JobUpgrade(t.runner).restore_ended(
      {job}, {{job.user, {"l", 1, "id", JobState::failed, SteadyTime::max()}}});
  CHECK(t.runner.store().find_job(job.number) != nullptr);
  CHECK(t.runner.store().used_key(job.user, "l", t.loop.now()) != nullptr);
}

TEST_CASE("jobs and used keys are the same in the next process") {
  JobRunner::Saved saved;
  saved.ended = {an_ended_job()};
  saved.keys = {{{true, 0}, {"old", 9, "4567", JobState::cancelled, SteadyTime(99s)}}};
  JobRunner::SavedJob& one = saved.running.emplace_back();
  one.job = an_ended_job();
  one.job.state = JobState::input_required;
  one.job.question = JobQuestion{"elicitation/create", "{}"};
  one.job.request = "{}";
  one.job.position.id = UpstreamId{5};
  one.job.peer = {false, 7, 8, {9}};
  one.running.stage = JobRunner::Running::Stage::asked;
  one.running.for_client = true;
  one.running.was_left = true;
  one.running.task = std::make_unique<JobRunner::Task>();
  one.running.task->answers = {{"\"a\"", "{}"}};
  one.running.task->answered = {"\"a\"", "\"b\""};
  one.running.question = 5;
  one.running.since = SteadyTime(11s);
  one.running.worked = 12s;
  const JobRunner::Saved again = restored(saved);
  const auto bytes = [](const JobRunner::Saved& jobs) {
    return Archive::write(Archive::Kind::memory, {}, jobs);
  };
  CHECK(bytes(again) == bytes(saved));
  REQUIRE(again.running.size() == 1);
  CHECK(again.running[0].job.id == "0123");
  CHECK(again.running[0].job.peer.groups == std::vector<gid_t>{9});
  CHECK(again.running[0].running.task->answered.size() == 2);
}
