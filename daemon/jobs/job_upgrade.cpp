#include "jobs/job_upgrade.hpp"

#include <algorithm>
#include <utility>

#include "jobs/job_text.hpp"
#include "json/reply.hpp"
#include "router/router_upgrade.hpp"
#include "state/archive.hpp"

namespace bridge {

/// A task's question on a stream is lost with the stream.
bool JobUpgrade::stays(const Job& job, const RunningJob& running) {
  const Question* const first = jobs_.router_.questions().first_of(job.number);
  if (running.task != nullptr) return first == nullptr || !first->origin;
  return running.stage == RunningJob::Stage::pausing ||
         RouterUpgrade(jobs_.router_)
             .survives_upgrade(jobs_.caller_of(job.user), jobs_.request_of(job, running).id());
}

void JobUpgrade::end_unfinished() {
  std::vector<JobNumber> unfinished;
  for (const auto& [number, running] : jobs_.running_) {
    if (!stays(*jobs_.store_.find_job(number), running)) unfinished.push_back(number);
  }
  for (const JobNumber number : unfinished) {
    Job& job = *jobs_.store_.find_job(number);
    jobs_.fail(job, failure_of(ErrorKind::closed,
                               job.position.started ? Delivered::unknown : Delivered::no,
                               "the bridge was upgraded before the job had ended"));
  }
}

JobRunner::Saved JobUpgrade::save() {
  JobRunner::Saved saved;
  jobs_.store_.each_newest_first([&saved](const Job& job) {
    if (is_end(job.state)) saved.ended.push_back(job);
    return true;
  });
  std::stable_sort(saved.ended.begin(), saved.ended.end(),
                   [](const Job& a, const Job& b) { return a.ended < b.ended; });
  jobs_.store_.each_used_key(
      [&saved](const User& user, const UsedKey& key) { saved.keys.emplace_back(user, key); });
  for (const auto& [number, running] : jobs_.running_) {
    const Job& job = *jobs_.store_.find_job(number);
    if (stays(job, running)) saved.running.push_back({job, Archive::copy(running)});
  }
  return saved;
}

void JobUpgrade::restore_ended(std::vector<Job>&& jobs,
                               std::vector<std::pair<User, UsedKey>>&& keys) {
  for (Job& job : jobs) {
    if (is_end(job.state)) jobs_.store_.restore(std::move(job));
  }
  for (auto& [user, key] : keys) {
    if (is_end(key.state)) jobs_.store_.restore(user, std::move(key));
  }
  jobs_.restored();
}

void JobUpgrade::restore_running(std::vector<JobRunner::SavedJob> jobs) {
  for (JobRunner::SavedJob& saved : jobs) {
    saved.job.state = JobState::working;
    saved.job.question.reset();
    Job& job = *jobs_.store_.restore(std::move(saved.job));
    RunningJob& running = jobs_.running_[job.number] = std::move(saved.running);
    if (running.stage == RunningJob::Stage::asked) {
      jobs_.later([&jobs = jobs_, number = job.number] { jobs.look_at_questions(number); });
    } else if (running.task != nullptr) {
      running.pause = shortest_poll;
      jobs_.pause_job(running, running.pause);
    } else if (running.stage != RunningJob::Stage::working) {
      jobs_.send_request(job, running);
    }
    jobs_.watch(running);
  }
}

}  // namespace bridge
