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

/// A request in flight of a connected client, as it is saved with --orphans keep: what its job is
/// to be if the daemon dies.
struct Orphan {
  User user;
  std::string method;
  pid_t pid = 0;
  std::string command;
  StreamPosition answer;  ///< where the stream of its answer stood

  template <class A>
  void each_field(A& archive) {
    archive(user, method, pid, command, answer);
  }
};

/// Those that a log tells of, answered ones too.
using LoggedOrphans = std::map<UpstreamId, Orphan>;
/// False if the payload is none of that kind. Pure.
bool replay_orphan(std::string_view payload, LoggedOrphans& orphans);

/// The requests that connected clients have in flight, with --orphans keep: written so that they
/// can become jobs when the daemon dies.
///
/// Owned by the DaemonState; the loop's thread only. Memory: what an Orphan takes, of each request
/// in flight.
class OrphanLog {
 public:
  OrphanLog(StateLog& log, const Router& router, const Session& session, const Upstream& upstream)
      : state_log_(log), router_(router), session_(session), upstream_(upstream) {}

  /// These are the requests in flight now; new ones are written.
  void note(const std::vector<UpstreamId>& unanswered);
  /// Where the answers' streams stand. At the end of a turn: all that came was dealt with.
  void note_streams();
  /// For a log that is being rewritten.
  void say_all(LogWriter& out) const;

 private:
  StateLog& state_log_;
  const Router& router_;
  const Session& session_;
  const Upstream& upstream_;
  LoggedOrphans orphans_;
};

/// The jobs that a log's records describe, in whatever order they tell of different jobs. Pure.
/// Memory: that of the jobs, and of the requests of those that had not ended.
class JobReplay {
 public:
  /// `now`: when the log is read.
  explicit JobReplay(const Moment& now = {}) : now_(now) {}

  // Each is false if the payload is none of that kind.
  bool job(std::string_view payload);
  bool position(std::string_view payload);
  bool changed(std::string_view payload);
  bool forgotten(std::string_view payload);
  bool key(std::string_view payload);

  /// In the order of their submission.
  std::map<JobNumber, Job>& jobs() { return jobs_; }
  /// The requests whose answers' streams can go on if the session of this number does.
  std::vector<UpstreamId> resumable_in(std::uint32_t session) const;
  /// In the order in which they were left.
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

/// What became of the jobs that had not ended when their daemon did.
struct RestoredJobs {
  std::size_t unfinished = 0;
  std::size_t failed = 0;  ///< of those
};

/// The jobs' part of the log of the state (BEHAVIOUR, "State"): written as they change, and
/// restored.
///
/// Owned by the DaemonState; the loop's thread only. Memory: a number for each job.
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

  /// Gives what a log told of to the JobRunner. What had not ended fails unless it is `may_act`.
  RestoredJobs restore(JobReplay replay, bool may_act);

  /// Makes a job of a request that a connected client of the daemon before was waiting for.
  void adopt(UpstreamId id, Orphan orphan);

  /// What has changed in this turn, as records.
  void note_changes();
  /// Where the answers' streams stand. At the end of a turn: all that came was dealt with.
  void note_streams();
  bool write_changes() override;
  void note_question(Job& job) override {
    note_event(job, upstream_.event_before(job.position.id));
  }

  // For a log that is being rewritten.
  void begin_snapshot();
  /// Appends about so many bytes more; false when all were said.
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
  std::map<JobNumber, std::size_t> sizes_;       ///< of the records of all
  std::size_t bytes_ = 0;                        ///< their sum
  JobNumber snapshot_at_{};                      ///< jobs up to this are in the new log
  JobNumber snapshot_end_{};                     ///< those after it are appended as they come
  std::pair<User, std::uint64_t> snapshot_key_;  ///< keys up to this are in the new log
};

}  // namespace bridge
