// Jobs as records of a log, by value.
#include <doctest/doctest.h>

#include "daemon_state.hpp"
#include "jobs/job_log.hpp"
#include "state/log_format.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

const Moment now{SteadyTime(1000s), WallTime(std::chrono::seconds(1700000200))};
const SteadyTime ended_at(900s);

template <class... Values>
std::string payload_of(const Values&... values) {
  return Archive::write(Archive::Kind::disk, now, values...);
}
std::string job_record(const Job& job, const std::string& request = "",
                       const JobPosition& position = {}) {
  Job whole = job;
  whole.request = request;
  whole.position = position;
  return payload_of(whole);
}
std::string changed_record(const Job& job) {
  return payload_of(job.number, static_cast<const JobOutcome&>(job));
}

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

JobPosition a_way() {
  JobPosition position;
  position.started = true;
  position.id = UpstreamId{9};
  position.session = 3;
  position.event_id = "event";
  position.task_form = 1;
  position.task = "\"task\"";
  position.round = "{}";
  position.time = {1500ms, WallTime(std::chrono::seconds(1700000050)), true};
  position.answers = {"{\"a\":1}", "{}"};
  return position;
}

/// By all that is saved.
template <class Value>
void check_same(const Value& left, const Value& right) {
  CHECK(payload_of(left) == payload_of(right));
}

}  // namespace

TEST_CASE("a job is kept with all it has, and its record's size is known") {
  Job job = a_job(1);
  job.state = JobState::input_required;
  job.question = JobQuestion{"elicitation/create", "{\"message\":\"?\"}"};
  job.progress = "{\"progress\":1}";
  job.request = "the request";
  job.position = a_way();
  const std::string record = payload_of(job);
  CHECK(record.size() == Archive::measure(Archive::Kind::disk, job));
  ReplayedState state(now);
  REQUIRE(state.take(record::job, record));
  const Job& replayed = state.jobs.jobs().at(JobNumber{1});
  check_same(replayed, job);
  CHECK(replayed.question->params == job.question->params);
  CHECK(replayed.request == "the request");
}

TEST_CASE("what becomes of a job is applied, and its end leaves no request and no submitter") {
  ReplayedState state(now);
  Job job = a_job(1);
  job.peer = {false, 7, 8, {9, 10}};
  CHECK(state.take(record::job, job_record(job, "the request", {})));
  CHECK(state.take(record::job_position, payload_of(job.number, a_way())));
  job.progress = "{}";
  CHECK(state.take(record::job_changed, changed_record(job)));
  CHECK(state.jobs.jobs().at(JobNumber{1}).peer.groups == job.peer.groups);
  const Job& replayed = state.jobs.jobs().at(JobNumber{1});
  check_same<JobOutcome>(replayed, job);
  check_same(replayed.position, a_way());
  CHECK(state.jobs.resumable_in(3) == std::vector<UpstreamId>{UpstreamId{9}});
  CHECK(state.jobs.resumable_in(2).empty());
  job.state = JobState::failed;
  job.holds_key = false;
  job.response = "{\"error\":{}}";
  job.ended = ended_at;
  CHECK(state.take(record::job_changed, changed_record(job)));
  check_same<JobOutcome>(replayed, job);
  CHECK(replayed.request.empty());
  CHECK(replayed.peer.groups.empty());
  CHECK_FALSE(replayed.position.started);
  CHECK(state.jobs.resumable_in(3).empty());
  CHECK(state.take(record::job_forgotten, payload_of(job.number)));
  CHECK(state.jobs.jobs().empty());
}

TEST_CASE("a log that was written anew may tell of changes before their jobs") {
  ReplayedState state(now);
  Job first = a_job(1);
  Job second = a_job(2);
  second.state = JobState::completed;
  second.response = "{}";
  CHECK(state.take(record::job, job_record(a_job(3), "new", {})));
  CHECK(state.take(record::job_position, payload_of(JobNumber{1}, JobPosition{})));
  CHECK(state.take(record::job_changed, changed_record(second)));
  CHECK(state.take(record::job_changed, changed_record(first)));
  CHECK(state.take(record::job_forgotten, payload_of(JobNumber{7})));
  CHECK(state.jobs.jobs().size() == 1);
  CHECK(state.take(record::job, job_record(first, "old", a_way())));
  CHECK(state.take(record::job, job_record(second, "", {})));
  REQUIRE(state.jobs.jobs().size() == 3);
  CHECK(state.jobs.jobs().at(JobNumber{1}).position.started);
  CHECK(state.jobs.jobs().at(JobNumber{2}).state == JobState::completed);
}

TEST_CASE("what a key leaves behind is kept") {
  const UsedKey key{"key", 5, "abc", JobState::cancelled, ended_at};
  ReplayedState state(now);
  const std::string record = payload_of(User{false, 7}, key);
  CHECK(record.size() == Archive::measure(Archive::Kind::disk, User{}, UsedKey{}) + 6);
  REQUIRE(state.take(record::used_key, record));
  REQUIRE(state.jobs.keys().size() == 1);
  const auto& [user, replayed] = state.jobs.keys().front();
  CHECK(user == User{false, 7});
  check_same(replayed, key);
}

TEST_CASE("payloads that are cut, or longer, or say what cannot be, are damage") {
  const Job job = a_job(1);
  Job ended = a_job(1);
  ended.state = JobState::completed;
  UsedKey key;
  key.key = "k";
  key.job = "a";
  const std::vector<std::pair<std::uint32_t, std::string>> records = {
      {record::job, job_record(job, "request", a_way())},
      {record::job_position, payload_of(job.number, a_way())},
      {record::job_changed, changed_record(job)},
      {record::job_changed, changed_record(ended)},
      {record::job_forgotten, payload_of(job.number)},
      {record::used_key, payload_of(User{}, key)}};
  for (const auto& [type, payload] : records) {
    const auto tried = type;  // clang 14 captures no structured binding
    CAPTURE(tried);
    CHECK(ReplayedState(now).take(type, payload));
    CHECK_FALSE(ReplayedState(now).take(type, payload.substr(0, payload.size() - 1)));
    CHECK_FALSE(ReplayedState(now).take(type, payload + "x"));
    CHECK_FALSE(ReplayedState(now).take(type, ""));
  }
  UsedKey unended = key;
  unended.state = JobState::working;
  ReplayedState state(now);
  Job asks = ended;
  asks.question = JobQuestion{"elicitation/create", "{}"};
  CHECK_FALSE(state.take(record::job_changed, changed_record(asks)));  // it has ended
  CHECK_FALSE(state.take(record::used_key, payload_of(User{}, unended)));
  Job unplain = job;
  unplain.id = "\"";
  CHECK_FALSE(state.take(record::job, job_record(unplain, "", {})));
  Job asked = job;
  asked.state = JobState::input_required;  // without a question
  CHECK_FALSE(state.take(record::job, job_record(asked, "", {})));
}
