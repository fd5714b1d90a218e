#pragma once

#include <utility>
#include <vector>

#include "jobs/job_runner.hpp"

namespace bridge {

/// The jobs in an upgrade (BEHAVIOUR, "Upgrade in place"): saving for the next process, restoring
/// there.
///
/// A view of the runner, made on demand; the loop's thread only.
class JobUpgrade {
 public:
  explicit JobUpgrade(JobRunner& jobs) : jobs_(jobs) {}

  /// Ends unfinished jobs that do not survive.
  void end_unfinished();
  /// All that survive.
  JobRunner::Saved save();
  void restore_ended(std::vector<Job>&& jobs, std::vector<std::pair<User, UsedKey>>&& keys);
  /// Restores the unfinished jobs, before the requests in flight.
  void restore_running(std::vector<JobRunner::SavedJob> jobs);

 private:
  bool stays(const Job& job, const RunningJob& running);

  JobRunner& jobs_;
};

}  // namespace bridge
