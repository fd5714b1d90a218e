// Jobs as records of a log, by value.
#include "durable/job_records.hpp"

#include <doctest/doctest.h>

#include "durable/record_types.hpp"
#include "durable/replayed_state.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

const WallTime ended_at(std::chrono::seconds(1700000100));

Job a_job(std::uint64_t number) {
  Job job;
  job.id = "0af" + std::to_string(number);
  job.number = static_cast<JobNumber>(number);
  job.user = {true, 1000};
  job.method = "tools/call";
  job.tool = "tool";
  job.key = "key";
  job.digest = 77;
  job.holds_key = true;
  job.pid = 42;
  job.command = "command";
  job.created = WallTime(std::chrono::seconds(1700000000));
  job.keep = 5000ms;
  return job;
}

JobWay a_way() {
  JobWay way;
  way.started = true;
  way.id = UpstreamId{9};
  way.session = 3;
  way.event_id = "event";
  way.task_form = 1;
  way.task = "\"task\"";
  way.round = "{}";
  way.time = {1500ms, WallTime(std::chrono::seconds(1700000050)), true};
  way.answers = {"{\"a\":1}", "{}"};
  return way;
}

void check_same(const Job& left, const Job& right) {
  CHECK(left.id == right.id);
  CHECK(left.number == right.number);
  CHECK(left.user == right.user);
  CHECK(left.method == right.method);
  CHECK(left.tool == right.tool);
  CHECK(left.key == right.key);
  CHECK(left.digest == right.digest);
  CHECK(left.holds_key == right.holds_key);
  CHECK(left.pid == right.pid);
  CHECK(left.command == right.command);
  CHECK(left.created == right.created);
  CHECK(left.keep == right.keep);
  CHECK(left.state == right.state);
  CHECK(left.question.has_value() == right.question.has_value());
  CHECK(left.progress == right.progress);
  CHECK(left.response == right.response);
}

void check_same(const JobWay& left, const JobWay& right) {
  CHECK(left.started == right.started);
  CHECK(left.id == right.id);
  CHECK(left.session == right.session);
  CHECK(left.event_id == right.event_id);
  CHECK(left.task_form == right.task_form);
  CHECK(left.time.worked == right.time.worked);
  CHECK(left.time.since == right.time.since);
  CHECK(left.time.asks == right.time.asks);
  CHECK(left.task == right.task);
  CHECK(left.round == right.round);
  CHECK(left.answers == right.answers);
}

}  // namespace

TEST_CASE("a job is kept with all it has, and its record's size is known") {
  Job job = a_job(1);
  job.state = JobState::input_required;
  job.question = JobQuestion{"elicitation/create", "{\"message\":\"?\"}"};
  job.progress = "{\"progress\":1}";
  const std::string record = job_record(job, {}, "the request", a_way());
  CHECK(record.size() == size_of_job_record(job, "the request", a_way()));
  ReplayedState state;
  REQUIRE(state.take(record::job, record));
  const ReplayedJob& replayed = state.jobs.jobs().at(JobNumber{1});
  check_same(replayed.kept.job, job);
  CHECK(replayed.kept.job.question->params == job.question->params);
  CHECK(replayed.kept.request == "the request");
  check_same(replayed.kept.way, a_way());
}

TEST_CASE("what becomes of a job is applied, and its end leaves no request") {
  ReplayedState state;
  Job job = a_job(1);
  CHECK(state.take(record::job, job_record(job, {}, "the request", {})));
  CHECK(state.take(record::job_way, job_way_record(job.number, a_way())));
  job.progress = "{}";
  CHECK(state.take(record::job_changed, job_changed_record(job)));
  const ReplayedJob& replayed = state.jobs.jobs().at(JobNumber{1});
  check_same(replayed.kept.job, job);
  check_same(replayed.kept.way, a_way());
  CHECK(state.jobs.resumable_in(3) == std::vector<UpstreamId>{UpstreamId{9}});
  CHECK(state.jobs.resumable_in(2).empty());
  job.state = JobState::failed;
  job.holds_key = false;
  job.response = "{\"error\":{}}";
  CHECK(state.take(record::job_ended, job_ended_record(job, ended_at)));
  check_same(replayed.kept.job, job);
  CHECK(replayed.ended == ended_at);
  CHECK(replayed.kept.request.empty());
  check_same(replayed.kept.way, {});
  CHECK(state.jobs.resumable_in(3).empty());
  CHECK(state.take(record::job_forgotten, job_forgotten_record(job.number)));
  CHECK(state.jobs.jobs().empty());
}

TEST_CASE("a log that was written anew may tell of changes before their jobs") {
  ReplayedState state;
  Job first = a_job(1);
  Job second = a_job(2);
  second.state = JobState::completed;
  second.response = "{}";
  CHECK(state.take(record::job, job_record(a_job(3), {}, "new", {})));
  CHECK(state.take(record::job_way, job_way_record(JobNumber{1}, {})));
  CHECK(state.take(record::job_ended, job_ended_record(second, ended_at)));
  CHECK(state.take(record::job_changed, job_changed_record(first)));
  CHECK(state.take(record::job_forgotten, job_forgotten_record(JobNumber{7})));
  CHECK(state.jobs.jobs().size() == 1);
  CHECK(state.take(record::job, job_record(first, {}, "old", a_way())));
  CHECK(state.take(record::job, job_record(second, ended_at, {}, {})));
  REQUIRE(state.jobs.jobs().size() == 3);
  CHECK(state.jobs.jobs().at(JobNumber{1}).kept.way.started);
  CHECK(state.jobs.jobs().at(JobNumber{2}).kept.job.state == JobState::completed);
}

TEST_CASE("what a key leaves behind is kept") {
  UsedKey key;
  key.key = "key";
  key.digest = 5;
  key.job = "abc";
  key.state = JobState::cancelled;
  ReplayedState state;
  const std::string record = used_key_record({false, 7}, key, ended_at);
  CHECK(record.size() == size_of_used_key_record() + 6);
  REQUIRE(state.take(record::used_key, record));
  REQUIRE(state.jobs.keys().size() == 1);
  const ReplayedKey& replayed = state.jobs.keys().front();
  CHECK(replayed.user == User{false, 7});
  CHECK(replayed.key.key == "key");
  CHECK(replayed.key.digest == 5);
  CHECK(replayed.key.job == "abc");
  CHECK(replayed.key.state == JobState::cancelled);
  CHECK(replayed.until == ended_at);
}

TEST_CASE("payloads that are cut, or longer, or say what cannot be, are damage") {
  const Job job = a_job(1);
  Job ended = a_job(1);
  ended.state = JobState::completed;
  UsedKey key;
  key.key = "k";
  key.job = "a";
  const std::vector<std::pair<std::uint32_t, std::string>> records = {
      {record::job, job_record(job, {}, "request", a_way())},
      {record::job_way, job_way_record(job.number, a_way())},
      {record::job_changed, job_changed_record(job)},
      {record::job_ended, job_ended_record(ended, ended_at)},
      {record::job_forgotten, job_forgotten_record(job.number)},
      {record::used_key, used_key_record({}, key, ended_at)}};
  for (const auto& [type, payload] : records) {
    const auto tried = type;  // clang 14 captures no structured binding
    CAPTURE(tried);
    CHECK(ReplayedState().take(type, payload));
    CHECK_FALSE(ReplayedState().take(type, payload.substr(0, payload.size() - 1)));
    CHECK_FALSE(ReplayedState().take(type, payload + "x"));
    CHECK_FALSE(ReplayedState().take(type, ""));
  }
  ReplayedState state;
  CHECK_FALSE(state.take(record::job_ended, job_ended_record(job, ended_at)));  // it goes on
  Job unplain = job;
  unplain.id = "\"";
  CHECK_FALSE(state.take(record::job, job_record(unplain, {}, "", {})));
  Job asked = job;
  asked.state = JobState::input_required;  // without a question
  CHECK_FALSE(state.take(record::job, job_record(asked, {}, "", {})));
}
