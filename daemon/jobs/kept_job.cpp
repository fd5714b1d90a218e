#include "jobs/kept_job.hpp"

#include <utility>

namespace bridge {
namespace {

template <class Time>
std::uint64_t ticks_of(Time time) {
  return static_cast<std::uint64_t>(time.time_since_epoch().count());
}

template <class Time>
Time time_of(std::uint64_t ticks) {
  return Time(typename Time::duration(static_cast<typename Time::duration::rep>(ticks)));
}

User user_from(bool remote, std::uint64_t uid) { return {remote, static_cast<uid_t>(uid)}; }

std::optional<JobState> end_from(std::uint64_t number) {
  if (number >= job_states || !is_end(static_cast<JobState>(number))) return std::nullopt;
  return static_cast<JobState>(number);
}

}  // namespace

KeptJob kept_job(const Job& job) {
  KeptJob kept;
  kept.id = job.id;
  kept.number = value_of(job.number);
  kept.remote = job.user.remote;
  kept.uid = job.user.uid;
  kept.method = job.method;
  kept.tool = job.tool;
  kept.key = job.key;
  kept.digest = job.digest;
  kept.holds_key = job.holds_key;
  kept.pid = static_cast<std::uint64_t>(job.pid);
  kept.command = job.command;
  kept.created = ticks_of(job.created);
  kept.keep = static_cast<std::uint64_t>(job.keep.count());
  kept.state = static_cast<std::uint64_t>(job.state);
  kept.progress = job.progress;
  kept.response = job.response;
  kept.ended = ticks_of(job.ended);
  kept.collected = job.collected;
  return kept;
}

KeptKey kept_key(const User& user, const UsedKey& key) {
  KeptKey kept;
  kept.remote = user.remote;
  kept.uid = user.uid;
  kept.key = key.key;
  kept.digest = key.digest;
  kept.job = key.job;
  kept.state = static_cast<std::uint64_t>(key.state);
  kept.until = ticks_of(key.until);
  return kept;
}

Job unfinished_job_of(KeptJob kept) {
  Job job;
  job.id = std::move(kept.id);
  job.number = static_cast<JobNumber>(kept.number);
  job.user = user_from(kept.remote, kept.uid);
  job.method = std::move(kept.method);
  job.tool = std::move(kept.tool);
  job.key = std::move(kept.key);
  job.digest = kept.digest;
  job.holds_key = kept.holds_key;
  job.pid = static_cast<pid_t>(kept.pid);
  job.command = std::move(kept.command);
  job.created = time_of<WallTime>(kept.created);
  job.keep = std::chrono::milliseconds(kept.keep);
  job.progress = std::move(kept.progress);
  job.response = std::move(kept.response);
  job.ended = time_of<SteadyTime>(kept.ended);
  job.collected = kept.collected;
  return job;
}

std::optional<Job> job_of(KeptJob kept) {
  const auto state = end_from(kept.state);
  if (!state) return std::nullopt;
  Job job = unfinished_job_of(std::move(kept));
  job.state = *state;
  return job;
}

std::optional<UsedKey> used_key_of(KeptKey kept) {
  const auto state = end_from(kept.state);
  if (!state) return std::nullopt;
  return UsedKey{std::move(kept.key), kept.digest, std::move(kept.job), *state,
                 time_of<SteadyTime>(kept.until)};
}

User user_of(const KeptKey& kept) { return user_from(kept.remote, kept.uid); }

}  // namespace bridge
