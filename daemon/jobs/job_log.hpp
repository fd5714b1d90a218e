#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "event/event_loop.hpp"
#include "jobs/job_runner.hpp"
#include "jobs/job_store.hpp"
#include "notifications/ring_log.hpp"
#include "router/router.hpp"
#include "session/session.hpp"
#include "state/state_log.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// Restores jobs from a log's records; records of different jobs may be in any order. Pure. Memory:
/// that of the jobs, and of the requests of unfinished ones.
class JobReplay {
 public:
  /// `now`: when the log is read.
  explicit JobReplay(const Moment& now = {}) : now_(now) {}

  // Each returns false if the payload is of another kind.
  bool job(std::string_view payload);
  bool position(std::string_view payload);
  bool changed(std::string_view payload);
  bool forgotten(std::string_view payload);
  bool key(std::string_view payload);

  /// In order of submission.
  std::map<JobNumber, Job>& jobs() { return jobs_; }
  /// Removes the jobs without an id; returns their numbers.
  std::vector<JobNumber> drop_calls();
  /// The requests whose answers' streams can be resumed if the session of this number continues.
  std::vector<UpstreamId> resumable_in(std::uint32_t session) const;
  /// In the order in which they were added.
  std::vector<std::pair<User, UsedKey>>& keys() { return keys_; }

 private:
  template <class... Values>
  bool read(std::string_view payload, Values&... values) const {
    return Archive::read(Archive::Kind::disk, now_, payload, values...);
  }
  Job* find_job(JobNumber number);

  Moment now_;
  std::map<JobNumber, Job> jobs_;
  std::vector<std::pair<User, UsedKey>> keys_;
};

/// The number of restored jobs that had not ended.
struct RestoredJobs {
  std::size_t unfinished = 0;
  std::size_t failed = 0;  ///< of those
};

/// The jobs' part of the state's log (BEHAVIOUR, "State"): writes changes, and restores jobs.
///
/// With --orphans keep, a request in flight of a connected client is written as a job without an
/// id, which becomes a job if the daemon dies.
///
/// Owned by the DaemonState; the loop's thread only. Memory: a number per job, and a Job per such
/// request.
class JobLog final : public JobKeeper {
 public:
  /// The parts outlive this.
  JobLog(EventLoop& loop, StateLog& log, JobRunner& jobs, const Session& session,
         const Upstream& upstream)
      : loop_(loop), state_log_(log), jobs_(jobs), session_(session), upstream_(upstream) {
    jobs.store().set_keeper(this);
  }
  ~JobLog() override { jobs_.store().set_keeper(nullptr); }
  JobLog(const JobLog&) = delete;
  JobLog& operator=(const JobLog&) = delete;

  /// Passes the jobs of a log to the JobRunner. Unfinished ones fail unless `may_act`.
  RestoredJobs restore(JobReplay replay, bool may_act);
  /// The requests of the previous daemon's clients do not become jobs.
  void drop_calls(JobReplay& replay);

  /// Writes the changes of this turn.
  void note_changes();
  /// The same for requests of connected clients.
  void note_calls(const Router& router);
  /// Saves the positions of the answers' streams. Called at the end of a turn, when every received
  /// event was processed.
  void note_streams();
  bool write_changes() override;
  void note_question(Job& job) override {
    note_event(job, upstream_.event_before(job.position.id));
  }

  // For rewriting the log.
  void say_calls(LogWriter& out) const;
  void begin_snapshot();
  /// Appends about this many bytes more; false when complete.
  bool continue_snapshot(LogWriter& out, std::size_t bytes);
  std::size_t saved_bytes() const;

 private:
  void append(const Job& job);
  void append_forgotten(JobNumber number);
  void measure(JobNumber number, std::size_t bytes);
  bool take_event(Job& job, std::string_view event_id) const;
  void note_event(Job& job, std::string_view event_id);

  EventLoop& loop_;
  StateLog& state_log_;
  JobRunner& jobs_;
  const Session& session_;
  const Upstream& upstream_;
  std::map<UpstreamId, Job> calls_;              ///< of connected clients, without an id
  std::map<JobNumber, std::size_t> sizes_;       ///< sizes of all records
  std::size_t bytes_ = 0;                        ///< their sum
  JobNumber snapshot_at_{};                      ///< jobs up to this one are in the new log
  JobNumber snapshot_end_{};                     ///< later ones are appended as they change
  std::pair<User, std::uint64_t> snapshot_key_;  ///< keys up to this are in the new log
};

}  // namespace bridge
