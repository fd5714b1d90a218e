#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/job_way.hpp"
#include "jobs/used_keys.hpp"

namespace bridge {

// Jobs as payloads of records. Times are of the calendar, since the monotonic clock is not that of
// another boot. Pure.

/// All there is of a job. `ended` counts if it has ended.
std::string job_record(const Job& job, WallTime ended, std::string_view request, const JobWay& way);
/// How many bytes that takes.
std::size_t size_of_job_record(const Job& job, std::string_view request, const JobWay& way);
std::string job_way_record(JobNumber number, const JobWay& way);
/// Its state, its question and its progress.
std::string job_changed_record(const Job& job);
std::string job_ended_record(const Job& job, WallTime ended);
std::string job_forgotten_record(JobNumber number);
std::string used_key_record(const User& user, const UsedKey& key, WallTime until);
/// How many bytes that takes, without its texts.
std::size_t size_of_used_key_record();

/// A job that a log tells of.
struct ReplayedJob {
  UnfinishedJob kept;
  WallTime ended;
};

struct ReplayedKey {
  User user;
  UsedKey key;  ///< without its time
  WallTime until;
};

/// The jobs that a log's records describe, in whatever order they tell of different jobs. Pure.
/// Memory: that of the jobs, and of the requests of those that had not ended.
class JobReplay {
 public:
  // Each is false if the payload is none of that kind.
  bool job(std::string_view payload);
  bool way(std::string_view payload);
  bool changed(std::string_view payload);
  bool ended(std::string_view payload);
  bool forgotten(std::string_view payload);
  bool key(std::string_view payload);

  /// In the order of their submission.
  std::map<JobNumber, ReplayedJob>& jobs() { return jobs_; }
  /// The requests whose answers' streams can go on if the session of this number does.
  std::vector<UpstreamId> resumable_in(std::uint32_t session) const;
  /// In the order in which they were left.
  std::vector<ReplayedKey>& keys() { return keys_; }

 private:
  ReplayedJob* find(std::uint64_t number);

  std::map<JobNumber, ReplayedJob> jobs_;
  std::vector<ReplayedKey> keys_;
};

}  // namespace bridge
