#include "jobs/job_log.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "jobs/submitted_request.hpp"
#include "mcp/methods.hpp"
#include "state/log_format.hpp"
#include "text/characters.hpp"

namespace bridge {
namespace {

/// Whether it has a question exactly in state input_required.
bool is_consistent(const JobOutcome& outcome) {
  return outcome.question.has_value() == (outcome.state == JobState::input_required);
}

const JobOutcome& outcome_of(const Job& job) { return job; }

}  // namespace

Job* JobReplay::find_job(JobNumber number) {
  const auto found = jobs_.find(number);
  return found == jobs_.end() ? nullptr : &found->second;
}

std::vector<UpstreamId> JobReplay::resumable_in(std::uint32_t session) const {
  std::vector<UpstreamId> ids;
  for (const auto& [number, job] : jobs_) {
    if (!job.position.event_id.empty() && job.position.session == session)
      ids.push_back(job.position.id);
  }
  return ids;
}

bool JobReplay::job(std::string_view payload) {
  Job replayed;
  if (!read(payload, replayed) || replayed.number == JobNumber{} || !is_consistent(replayed) ||
      !(replayed.id.empty() || is_plain_name(replayed.id)))
    return false;
  replayed.collected = false;  // possibly collected since; then it is delivered once more
  jobs_.insert_or_assign(replayed.number, std::move(replayed));
  return true;
}

bool JobReplay::position(std::string_view payload) {
  JobNumber number{};
  JobPosition position;
  if (!read(payload, number, position)) return false;
  if (Job* const replayed = find_job(number)) replayed->position = std::move(position);
  return true;
}

bool JobReplay::changed(std::string_view payload) {
  JobNumber number{};
  JobOutcome outcome;
  if (!read(payload, number, outcome) || !is_consistent(outcome)) return false;
  Job* const replayed = find_job(number);
  if (replayed == nullptr) return true;
  static_cast<JobOutcome&>(*replayed) = std::move(outcome);
  if (!is_end(replayed->state)) return true;
  replayed->request.clear();
  replayed->position = {};
  replayed->peer = {};
  return true;
}

bool JobReplay::forgotten(std::string_view payload) {
  JobNumber number{};
  if (!read(payload, number)) return false;
  jobs_.erase(number);
  return true;
}

bool JobReplay::key(std::string_view payload) {
  std::pair<User, UsedKey> replayed;
  const UsedKey& key = replayed.second;
  if (!read(payload, replayed) || !is_end(key.state) || !is_plain_name(key.job)) return false;
  keys_.push_back(std::move(replayed));
  return true;
}

std::vector<JobNumber> JobReplay::drop_calls() {
  std::vector<JobNumber> dropped;
  std::erase_if(jobs_, [&dropped](const auto& entry) {
    if (!entry.second.id.empty()) return false;
    dropped.push_back(entry.first);
    return true;
  });
  return dropped;
}

RestoredJobs JobLog::restore(JobReplay replay, bool may_act) {
  for (auto& [user, key] : replay.keys()) {
    if (key.until > loop_.now()) jobs_.store().restore(user, std::move(key));
  }
  std::vector<Job*> ended;
  for (auto& [number, job] : replay.jobs()) {
    if (is_end(job.state)) ended.push_back(&job);
  }
  std::stable_sort(ended.begin(), ended.end(),
                   [](const Job* left, const Job* right) { return left->ended < right->ended; });
  for (Job* const job : ended) {
    // If the calendar was set back, times in the future count as now.
    job->ended = std::min(job->ended, loop_.now());
    jobs_.store().restore(std::move(*job));
  }
  std::map<UpstreamId, Job> calls;
  for (auto& [number, job] : replay.jobs()) {
    if (!is_end(job.state) && job.id.empty())
      calls.insert_or_assign(job.position.id, std::move(job));
  }
  RestoredJobs restored;
  for (auto& [number, job] : replay.jobs()) {
    if (is_end(job.state) || job.id.empty()) continue;
    const JobNumber of_job = number;
    // The daemon died between writing the job that a call became and forgetting the call.
    if (const auto call = calls.extract(job.position.id)) {
      if (job.position.event_id.empty()) job.position = call.mapped().position;
      append_forgotten(call.mapped().number);
    }
    jobs_.take_over(std::move(job), may_act);
    const Job* const taken = jobs_.store().find_job(of_job);
    ++restored.unfinished;
    if (taken == nullptr || is_end(taken->state)) ++restored.failed;
  }
  for (auto& [id, call] : calls) {
    const JobNumber number = call.number;
    if (!jobs_.adopt(std::move(call))) append_forgotten(number);
  }
  jobs_.restored();
  return restored;
}

void JobLog::drop_calls(JobReplay& replay) {
  for (const JobNumber number : replay.drop_calls()) append_forgotten(number);
}

bool JobLog::write_changes() {
  note_changes();
  state_log_.write_now();
  return state_log_.is_durable();
}

void JobLog::note_changes() {
  const JobChanges changes = jobs_.store().take_changes();
  const auto includes = [](unsigned bits, JobChange what) {
    return (bits & static_cast<unsigned>(what)) != 0;
  };
  for (const auto& [number, bits] : changes.jobs) {
    const Job* const job = jobs_.store().find_job(number);
    if (job == nullptr) continue;
    if (includes(bits, JobChange::all)) {
      append(*job);
      continue;
    }
    if (includes(bits, JobChange::position))
      state_log_.append(record::job_position, number, job->position);
    if (includes(bits, JobChange::outcome))
      state_log_.append(record::job_changed, number, outcome_of(*job));
    measure(number, record_size(Archive::measure(Archive::Kind::disk, *job)));
  }
  for (const JobNumber number : changes.forgotten) append_forgotten(number);
  for (const auto& [user, key] : changes.keys) state_log_.append(record::used_key, user, key);
}

void JobLog::note_calls(const Router& router) {
  if (calls_.empty() && !router.keeps_orphans()) return;
  std::map<UpstreamId, Job> former = std::exchange(calls_, {});
  router.each_orphan_to_be([&](UpstreamId id, const Client& client, const Call& call) {
    if (auto known = former.extract(id)) {
      calls_.insert(std::move(known));
    } else if (auto job = jobs_.job_of(client, id, call)) {
      append(calls_.emplace(id, std::move(*job)).first->second);
    }
  });
  for (const auto& [id, job] : former) append_forgotten(job.number);
}

void JobLog::append(const Job& job) {
  state_log_.append(record::job, job);
  measure(job.number, record_size(Archive::measure(Archive::Kind::disk, job)));
}

void JobLog::append_forgotten(JobNumber number) {
  state_log_.append(record::job_forgotten, number);
  measure(number, 0);
}

void JobLog::measure(JobNumber number, std::size_t bytes) {
  std::size_t& size = sizes_[number];
  bytes_ += bytes - size;
  size = bytes;
  if (bytes == 0) sizes_.erase(number);
}

void JobLog::note_streams() {
  jobs_.each_started([this](Job& job) {
    // Until the question is answered, the stream is resumed from before it, so that it comes again.
    if (!jobs_.is_asked(job.number)) note_event(job, upstream_.last_event_of(job.position.id));
  });
  for (auto& [id, job] : calls_) {
    if (take_event(job, upstream_.last_event_of(id)))
      state_log_.append(record::job_position, job.number, job.position);
  }
}

/// False if nothing has changed.
bool JobLog::take_event(Job& job, std::string_view event_id) const {
  JobPosition& position = job.position;
  if (event_id.empty() || event_id.size() > longest_event_id ||
      (event_id == position.event_id && session_.number() == position.session))
    return false;
  position.event_id = event_id;
  position.session = session_.number();
  return true;
}

void JobLog::note_event(Job& job, std::string_view event_id) {
  if (take_event(job, event_id)) jobs_.store().changed(job, JobChange::position);
}

void JobLog::say_calls(LogWriter& out) const {
  for (const auto& [id, job] : calls_) out.append(record::job, state_log_.now(), job);
}

void JobLog::begin_snapshot() {
  snapshot_at_ = {};
  snapshot_end_ = jobs_.store().last_number();
  snapshot_key_ = {};
}

bool JobLog::continue_snapshot(LogWriter& out, std::size_t bytes) {
  const std::uint64_t before = out.size();
  bool more = false;
  const auto is_enough = [&] { return more = out.size() - before >= bytes; };
  jobs_.store().each_after(snapshot_at_, [&](const Job& job) {
    if (job.number > snapshot_end_ || is_enough()) return false;
    out.append(record::job, state_log_.now(), job);
    snapshot_at_ = job.number;
    return true;
  });
  if (more) return true;
  jobs_.store().each_used_key_after(snapshot_key_, [&](const User& user, const UsedKey& key) {
    if (is_enough()) return false;
    out.append(record::used_key, state_log_.now(), user, key);
    snapshot_key_ = {user, key.number};
    return true;
  });
  return more;
}

std::size_t JobLog::saved_bytes() const {
  const auto [keys, texts] = jobs_.store().size_of_used_keys();
  static const std::size_t of_a_key =
      record_size(Archive::measure(Archive::Kind::disk, User{}, UsedKey{}));
  return bytes_ + keys * of_a_key + texts;
}

}  // namespace bridge
