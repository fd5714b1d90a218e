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

/// A request in flight of a connected client, saved with --orphans keep: its job if the daemon
/// dies.
struct Orphan {
  User user;
  std::string method;
  pid_t pid = 0;
  std::string command;
  StreamPosition answer;  ///< position in the answer's stream

  template <class A>
  void each_field(A& archive) {
    archive(user, method, pid, command, answer);
  }
};

/// The orphans in a log, answered ones included.
using LoggedOrphans = std::map<UpstreamId, Orphan>;
/// False if the payload is of another kind. Pure.
bool replay_orphan(std::string_view payload, LoggedOrphans& orphans);

/// Saves the requests that connected clients have in flight, with --orphans keep, so that they can
/// become jobs if the daemon dies.
///
/// Owned by the DaemonState; the loop's thread only. Memory: an Orphan per request in flight.
class OrphanLog {
 public:
  OrphanLog(StateLog& log, const Router& router, const Session& session, const Upstream& upstream)
      : state_log_(log), router_(router), session_(session), upstream_(upstream) {}

  /// `unanswered`: the requests now in flight; writes new ones.
  void note(const std::vector<UpstreamId>& unanswered);
  /// Saves the positions of the answers' streams. Called at the end of a turn, when every received
  /// event was processed.
  void note_streams();
  /// For rewriting the log.
  void say_all(LogWriter& out) const;

 private:
  StateLog& state_log_;
  const Router& router_;
  const Session& session_;
  const Upstream& upstream_;
  LoggedOrphans orphans_;
};

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
  /// The requests whose answers' streams can be resumed if the session of this number continues.
  std::vector<UpstreamId> resumable_in(std::uint32_t session) const;
  /// In the order in which they were added.
  std::vector<std::pair<User, UsedKey>>& keys() { return keys_; }

 private:
  template <class... Values>
  bool read(std::string_view payload, Values&... values) const {
    return Archive::read(Archive::Kind::disk, now_, payload, values...);
  }
  Job* find(JobNumber number);

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
/// Owned by the DaemonState; the loop's thread only. Memory: a number per job.
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

  /// Makes a job of a request that a connected client of the previous daemon waited for.
  void adopt(UpstreamId id, Orphan orphan);

  /// Writes the changes of this turn.
  void note_changes();
  /// Saves the positions of the answers' streams. Called at the end of a turn, when every received
  /// event was processed.
  void note_streams();
  bool write_changes() override;
  void note_question(Job& job) override {
    note_event(job, upstream_.event_before(job.position.id));
  }

  // For rewriting the log.
  void begin_snapshot();
  /// Appends about this many bytes more; false when complete.
  bool continue_snapshot(LogWriter& out, std::size_t bytes);
  std::size_t saved_bytes() const;

 private:
  void measure(JobNumber number, std::size_t bytes);
  void note_event(Job& job, std::string_view event_id);

  EventLoop& loop_;
  StateLog& state_log_;
  JobRunner& jobs_;
  const Session& session_;
  const Upstream& upstream_;
  std::map<JobNumber, std::size_t> sizes_;       ///< sizes of all records
  std::size_t bytes_ = 0;                        ///< their sum
  JobNumber snapshot_at_{};                      ///< jobs up to this one are in the new log
  JobNumber snapshot_end_{};                     ///< later ones are appended as they change
  std::pair<User, std::uint64_t> snapshot_key_;  ///< keys up to this are in the new log
};

}  // namespace bridge
