#include "jobs/job_store.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/spare_memory.hpp"

namespace bridge {
namespace {

/// Room reserved for a response: the error of a job whose answer does not fit must fit.
constexpr std::size_t reserved_for_response = 512;

std::size_t charge_of_response(const std::string& response) {
  return response.size() - std::min(response.size(), reserved_for_response);
}

}  // namespace

/// The bytes of everything that can be long, and the fixed size of a job.
std::size_t JobStore::charge_of(const Job& job) {
  constexpr std::size_t overhead =
      sizeof(Job) + 256 + reserved_for_response;  // including its index entries
  const std::size_t question =
      job.question ? job.question->method.size() + job.question->params.size() : 0;
  return overhead + job.id.size() + job.method.size() + job.tool.size() + 2 * job.key.size() +
         job.command.size() + job.remote.size() + question + job.progress.size() +
         charge_of_response(job.response);
}

Job* JobStore::add_job(Job job) {
  job.bytes = charge_of(job);
  Owner& owner = owners_[job.user];
  trim_others(owner);
  if (!make_room(owner, 1, job.bytes)) {
    ++counts_.refused;
    return nullptr;
  }
  ++counts_.submitted;
  const JobNumber number = job.number;
  insert(std::move(job));
  Job& added = jobs_.at(number);
  changed(added, JobChange::all);
  return &added;
}

bool JobStore::make_room_for(const Job& job) {
  return make_room(owners_[job.user], 1, charge_of(job));
}

Job* JobStore::restore(Job job) {
  const JobNumber number = job.number;
  last_number_ = std::max(last_number_, value_of(number));
  job.bytes = charge_of(job);
  Owner& owner = owners_[job.user];
  const std::uint64_t pushed_out = counts_.pushed_out;
  const bool has_room = make_room(owner, 1, job.bytes);
  if (!has_room && is_end(job.state)) {
    ++counts_.not_restored;
    return nullptr;
  }
  while (!has_room && push_out_one(owner)) {
  }
  counts_.not_restored += std::exchange(counts_.pushed_out, pushed_out) - pushed_out;
  insert(std::move(job));
  Job& restored = jobs_.at(number);
  changed(restored, JobChange::nothing);
  return &restored;
}

void JobStore::restore(const User& user, UsedKey key) {
  UsedKeys& keys = owners_[user].used_keys;
  if (keys.find(key.key) == nullptr) keys.add(std::move(key));
}

std::pair<std::size_t, std::size_t> JobStore::size_of_used_keys() const {
  std::size_t keys = 0;
  std::size_t bytes = 0;
  for (const auto& [user, owner] : owners_) {
    keys += owner.used_keys.size();
    bytes += owner.used_keys.text_bytes();
  }
  return {keys, bytes};
}

std::size_t JobStore::in_state(JobState state) const {
  return static_cast<std::size_t>(std::count_if(
      jobs_.begin(), jobs_.end(), [state](const auto& one) { return one.second.state == state; }));
}

/// A cancelled job has no response.
std::size_t JobStore::uncollected() const {
  return static_cast<std::size_t>(std::count_if(jobs_.begin(), jobs_.end(), [](const auto& one) {
    return !one.second.collected && !one.second.response.empty();
  }));
}

void JobStore::insert(Job job) {
  Owner& owner = owners_[job.user];
  const JobNumber number = job.number;
  const Job& added = jobs_.emplace(number, std::move(job)).first->second;
  by_id_.emplace(added.id, number);
  if (added.holds_key) owner.keys.emplace(added.key, number);
  ++owner.jobs;
  owner.bytes += added.bytes;
  bytes_ += added.bytes;
  if (is_end(added.state)) insert_ended(owner, added);
}

void JobStore::insert_ended(Owner& owner, const Job& job) {
  const Place place{job.holds_key, ++last_end_};
  owner.ended.emplace(place, job.number);
  owner.ended_bytes += job.bytes;
  due_.emplace(std::pair(job.ended + job.keep, job.number), place);
}

const Job* JobStore::find_job(JobNumber number) const {
  const auto found = jobs_.find(number);
  return found == jobs_.end() ? nullptr : &found->second;
}

Job* JobStore::find_job(std::string_view id) {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : find_job(found->second);
}

Job* JobStore::with_key(const User& user, std::string_view key) {
  const auto owner = owners_.find(user);
  if (owner == owners_.end()) return nullptr;
  const auto found = owner->second.keys.find(key);
  return found == owner->second.keys.end() ? nullptr : find_job(found->second);
}

const UsedKey* JobStore::used_key(const User& user, std::string_view key, SteadyTime now) {
  const auto owner = owners_.find(user);
  if (owner == owners_.end()) return nullptr;
  owner->second.used_keys.expire(now);
  return owner->second.used_keys.find(key);
}

/// Makes room for a user's job by removing that user's ended jobs, as many as needed; false if that
/// cannot be enough.
bool JobStore::make_room(Owner& owner, std::size_t jobs, std::size_t bytes) {
  const bool others_have_jobs = jobs_.size() > owner.jobs;
  const std::size_t share = others_have_jobs ? 2 : 1;
  const std::size_t most_jobs = std::max<std::size_t>(1, limits_.jobs / share);
  const std::size_t most_bytes = limits_.bytes / share;
  const auto fits = [&](std::size_t gone_jobs, std::size_t gone_bytes) {
    return owner.jobs - gone_jobs + jobs <= most_jobs &&
           owner.bytes - gone_bytes + bytes <= most_bytes &&
           jobs_.size() - gone_jobs + jobs <= limits_.jobs &&
           bytes_ - gone_bytes + bytes <= limits_.bytes;
  };
  if (!fits(owner.ended.size(), owner.ended_bytes)) return false;
  while (!fits(0, 0)) push_out_one(owner);
  return true;
}

bool JobStore::push_out_one(Owner& owner) {
  if (owner.ended.empty()) return false;
  ++counts_.pushed_out;
  remove(jobs_.at(owner.ended.begin()->second), latest_);
  return true;
}

/// While `owner` has a job, no other user keeps more than half.
void JobStore::trim_others(const Owner& owner) {
  for (auto& [user, other] : owners_) {
    if (&other != &owner) trim(other);
  }
}

void JobStore::trim(Owner& owner) {
  while ((owner.jobs > std::max<std::size_t>(1, limits_.jobs / 2) ||
          owner.bytes > limits_.bytes / 2) &&
         push_out_one(owner)) {
  }
}

/// REQUIRES: the job has not ended.
bool JobStore::grow(Job& job, std::size_t bytes) {
  if (bytes == 0) return true;
  Owner& owner = owners_.at(job.user);
  if (!make_room(owner, 0, bytes)) return false;
  job.bytes += bytes;
  owner.bytes += bytes;
  bytes_ += bytes;
  return true;
}

/// REQUIRES: the job has not ended.
void JobStore::shrink(Job& job, std::size_t bytes) {
  job.bytes -= bytes;
  owners_.at(job.user).bytes -= bytes;
  bytes_ -= bytes;
}

void JobStore::set_progress(Job& job, std::string_view params) {
  if (is_end(job.state) || params.size() > longest_progress) return;
  shrink(job, job.progress.size());
  job.progress.clear();
  if (grow(job, params.size())) job.progress = params;
  changed(job, JobChange::outcome);
}

bool JobStore::ask(Job& job, JobQuestion question) {
  if (!grow(job, question.method.size() + question.params.size())) return false;
  job.question = std::move(question);
  drop_spare_room(job.question->params);
  job.state = JobState::input_required;
  changed(job, JobChange::outcome);
  return true;
}

void JobStore::proceed(Job& job) {
  if (job.state != JobState::input_required) return;
  shrink(job, job.question->method.size() + job.question->params.size());
  job.question.reset();
  job.state = JobState::working;
  changed(job, JobChange::outcome);
}

bool JobStore::end_job(Job& job, JobState state, std::string response, bool delivered,
                       SteadyTime now) {
  latest_ = now;
  proceed(job);
  if (!grow(job, charge_of_response(response))) return false;
  job.response = std::move(response);
  drop_spare_room(job.response);
  job.ended = now;
  job.state = state;
  Owner& owner = owners_.at(job.user);
  if (job.holds_key && !delivered) {
    owner.keys.erase(job.key);
    job.holds_key = false;
  }
  insert_ended(owner, job);
  ++counts_.ended[static_cast<std::size_t>(state)];
  job.request = {};
  job.position = {};
  job.peer = {};
  changed(job, JobChange::outcome);
  return true;
}

void JobStore::forget(Job& job, SteadyTime now) {
  latest_ = now;
  remove(job, now);
}

void JobStore::leave_key(Owner& owner, const Job& job, SteadyTime now) {
  owner.keys.erase(job.key);
  UsedKey key;
  key.key = job.key;
  key.digest = job.digest;
  key.job = job.id;
  key.state = job.state;
  key.until = now + limits_.ttl;
  if (keeper_ != nullptr) changes_.keys.emplace_back(job.user, key);
  owner.used_keys.expire(now);
  owner.used_keys.add(std::move(key));
}

void JobStore::remove(Job& job, SteadyTime now) {
  Owner& owner = owners_.at(job.user);
  const auto due = due_.find(std::pair(job.ended + job.keep, job.number));
  owner.ended.erase(due->second);
  due_.erase(due);
  if (job.holds_key) leave_key(owner, job, now);
  --owner.jobs;
  owner.bytes -= job.bytes;
  owner.ended_bytes -= job.bytes;
  bytes_ -= job.bytes;
  if (keeper_ != nullptr) {
    changes_.jobs.erase(job.number);
    changes_.forgotten.push_back(job.number);
  }
  by_id_.erase(job.id);
  jobs_.erase(job.number);
}

std::optional<SteadyTime> JobStore::expire(SteadyTime now) {
  latest_ = now;
  while (!due_.empty() && due_.begin()->first.first <= now) {
    ++counts_.expired;
    remove(jobs_.at(due_.begin()->first.second), now);
  }
  for (auto at = owners_.begin(); at != owners_.end();) {
    at->second.used_keys.expire(now);
    at = at->second.jobs == 0 && at->second.used_keys.empty() ? owners_.erase(at) : std::next(at);
  }
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first.first;
}

}  // namespace bridge
