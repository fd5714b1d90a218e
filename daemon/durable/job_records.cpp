#include "durable/job_records.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "durable/plain_name.hpp"
#include "durable/wall_time.hpp"
#include "state/fields.hpp"

namespace bridge {
namespace {

constexpr std::size_t number_size = 8;

/// Of a time that is no longer than anything here can take.
std::chrono::milliseconds milliseconds_in(FieldReader& fields) {
  constexpr std::uint64_t longest = std::uint64_t{1} << 40;
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::min(fields.number(), longest)));
}

void put_user(FieldWriter& fields, const User& user) {
  fields.number(user.remote).number(user.uid);
}

User take_user(FieldReader& fields) {
  User user;
  user.remote = fields.number() != 0;
  user.uid = static_cast<uid_t>(fields.number());
  return user;
}

void put_change(FieldWriter& fields, const Job& job) {
  fields.number(static_cast<std::uint64_t>(job.state)).number(job.holds_key);
  fields.number(job.question.has_value());
  fields.text(job.question ? job.question->method : "");
  fields.text(job.question ? job.question->params : "");
  fields.text(job.progress);
}

std::optional<JobState> take_state(FieldReader& fields) {
  const std::uint64_t number = fields.number();
  if (number >= job_states) return std::nullopt;
  return static_cast<JobState>(number);
}

/// False if it is none.
bool take_change(FieldReader& fields, Job& job) {
  const auto state = take_state(fields);
  if (!state) return false;
  job.state = *state;
  job.holds_key = fields.number() != 0;
  const bool asks = fields.number() != 0;
  JobQuestion question;
  question.method = fields.text();
  question.params = fields.text();
  job.question.reset();
  if (asks) job.question = std::move(question);
  job.progress = fields.text();
  return fields.is_good() && asks == (job.state == JobState::input_required);
}

/// At the end of a payload: the answers are as many as there are.
void put_way(FieldWriter& fields, const JobWay& way) {
  fields.number(way.started).number(value_of(way.id)).number(way.session).text(way.event_id);
  fields.number(way.task_form).text(way.task).text(way.round);
  fields.number(static_cast<std::uint64_t>(way.time.worked.count()));
  fields.number(microseconds_of(way.time.since)).number(way.time.asks);
  for (const std::string& answer : way.answers) fields.text(answer);
}

JobWay take_way(FieldReader& fields) {
  JobWay way;
  way.started = fields.number() != 0;
  way.id = static_cast<UpstreamId>(fields.number());
  way.session = static_cast<std::uint32_t>(fields.number());
  way.event_id = fields.text();
  way.task_form = fields.number();
  way.task = fields.text();
  way.round = fields.text();
  way.time.worked = milliseconds_in(fields);
  way.time.since = wall_time_of(fields.number());
  way.time.asks = fields.number() != 0;
  while (fields.is_good() && !fields.is_at_end()) way.answers.emplace_back(fields.text());
  return way;
}

}  // namespace

std::string job_record(const Job& job, WallTime ended, std::string_view request,
                       const JobWay& way) {
  FieldWriter fields;
  fields.number(value_of(job.number)).text(job.id);
  put_user(fields, job.user);
  fields.text(job.method).text(job.tool).text(job.key).number(job.digest);
  fields.number(static_cast<std::uint64_t>(job.pid)).text(job.command);
  fields.number(microseconds_of(job.created));
  fields.number(static_cast<std::uint64_t>(job.keep.count()));
  put_change(fields, job);
  fields.text(job.response).number(microseconds_of(ended)).text(request);
  put_way(fields, way);
  return fields.bytes();
}

std::size_t size_of_job_record(const Job& job, std::string_view request, const JobWay& way) {
  constexpr std::size_t fields = 31;  // of eight bytes: the numbers, and the texts' lengths
  std::size_t size = fields * number_size + job.id.size() + job.method.size() + job.tool.size() +
                     job.key.size() + job.command.size() + job.progress.size() +
                     job.response.size() + request.size() + way.event_id.size() + way.task.size() +
                     way.round.size();
  if (job.question) size += job.question->method.size() + job.question->params.size();
  for (const std::string& answer : way.answers) size += number_size + answer.size();
  return size;
}

std::string job_way_record(JobNumber number, const JobWay& way) {
  FieldWriter fields;
  fields.number(value_of(number));
  put_way(fields, way);
  return fields.bytes();
}

std::string job_changed_record(const Job& job) {
  FieldWriter fields;
  fields.number(value_of(job.number));
  put_change(fields, job);
  return fields.bytes();
}

std::string job_ended_record(const Job& job, WallTime ended) {
  FieldWriter fields;
  fields.number(value_of(job.number));
  put_change(fields, job);
  fields.text(job.response).number(microseconds_of(ended));
  return fields.bytes();
}

std::string job_forgotten_record(JobNumber number) {
  return FieldWriter().number(value_of(number)).bytes();
}

std::string used_key_record(const User& user, const UsedKey& key, WallTime until) {
  FieldWriter fields;
  put_user(fields, user);
  fields.text(key.key).number(key.digest).text(key.job);
  fields.number(static_cast<std::uint64_t>(key.state)).number(microseconds_of(until));
  return fields.bytes();
}

std::size_t size_of_used_key_record() { return 7 * number_size; }

ReplayedJob* JobReplay::find(std::uint64_t number) {
  const auto found = jobs_.find(static_cast<JobNumber>(number));
  return found == jobs_.end() ? nullptr : &found->second;
}

std::vector<UpstreamId> JobReplay::resumable_in(std::uint32_t session) const {
  std::vector<UpstreamId> ids;
  for (const auto& [number, replayed] : jobs_) {
    const JobWay& way = replayed.kept.way;
    if (!way.event_id.empty() && way.session == session) ids.push_back(way.id);
  }
  return ids;
}

bool JobReplay::job(std::string_view payload) {
  FieldReader fields(payload);
  ReplayedJob replayed;
  Job& job = replayed.kept.job;
  job.number = static_cast<JobNumber>(fields.number());
  job.id = fields.text();
  job.user = take_user(fields);
  job.method = fields.text();
  job.tool = fields.text();
  job.key = fields.text();
  job.digest = fields.number();
  job.pid = static_cast<pid_t>(fields.number());
  job.command = fields.text();
  job.created = wall_time_of(fields.number());
  job.keep = milliseconds_in(fields);
  if (!take_change(fields, job)) return false;
  job.response = fields.text();
  replayed.ended = wall_time_of(fields.number());
  replayed.kept.request = fields.text();
  replayed.kept.way = take_way(fields);
  if (!fields.is_done() || !is_plain_name(job.id) || job.number == JobNumber{}) return false;
  jobs_.insert_or_assign(job.number, std::move(replayed));
  return true;
}

bool JobReplay::way(std::string_view payload) {
  FieldReader fields(payload);
  ReplayedJob* const job = find(fields.number());
  JobWay way = take_way(fields);
  if (!fields.is_done()) return false;
  if (job != nullptr) job->kept.way = std::move(way);
  return true;
}

bool JobReplay::changed(std::string_view payload) {
  FieldReader fields(payload);
  ReplayedJob* const job = find(fields.number());
  Job unknown;
  return take_change(fields, job != nullptr ? job->kept.job : unknown) && fields.is_done();
}

bool JobReplay::ended(std::string_view payload) {
  FieldReader fields(payload);
  ReplayedJob* const job = find(fields.number());
  ReplayedJob unknown;
  ReplayedJob& replayed = job != nullptr ? *job : unknown;
  if (!take_change(fields, replayed.kept.job) || !is_end(replayed.kept.job.state)) return false;
  replayed.kept.job.response = fields.text();
  replayed.ended = wall_time_of(fields.number());
  replayed.kept.request.clear();
  replayed.kept.way = {};
  return fields.is_done();
}

bool JobReplay::forgotten(std::string_view payload) {
  FieldReader fields(payload);
  jobs_.erase(static_cast<JobNumber>(fields.number()));
  return fields.is_done();
}

bool JobReplay::key(std::string_view payload) {
  FieldReader fields(payload);
  ReplayedKey replayed;
  replayed.user = take_user(fields);
  replayed.key.key = fields.text();
  replayed.key.digest = fields.number();
  replayed.key.job = fields.text();
  const auto state = take_state(fields);
  if (!state || !is_end(*state)) return false;
  replayed.key.state = *state;
  replayed.until = wall_time_of(fields.number());
  if (!fields.is_done() || !is_plain_name(replayed.key.job)) return false;
  keys_.push_back(std::move(replayed));
  return true;
}

}  // namespace bridge
