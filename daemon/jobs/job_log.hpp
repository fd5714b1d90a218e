#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
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
  /// For a log that is written anew.
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
  bool way(std::string_view payload);
  bool peer(std::string_view payload);
  bool changed(std::string_view payload);
  bool forgotten(std::string_view payload);
  bool key(std::string_view payload);

  /// In the order of their submission.
  std::map<JobNumber, UnfinishedJob>& jobs() { return jobs_; }
  /// The requests whose answers' streams can go on if the session of this number does.
  std::vector<UpstreamId> resumable_in(std::uint32_t session) const;
  /// In the order in which they were left.
  std::vector<std::pair<User, UsedKey>>& keys() { return keys_; }

 private:
  template <class... Values>
  bool read(std::string_view payload, Values&... values) const {
    return Archive::read(Archive::Kind::disk, now_, payload, values...);
  }
  UnfinishedJob* find(JobNumber number);

  Moment now_;
  std::map<JobNumber, UnfinishedJob> jobs_;
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
/// Owned by the DaemonState; the loop's thread only. Memory: of each job that has not ended its
/// request while it may still be sent, which the router or the session holds as well, and how it
/// stands.
class JobLog final : public JobJournal {
 public:
  /// The parts outlive this.
  JobLog(EventLoop& loop, StateLog& log, JobRunner& jobs, const Session& session,
         const Upstream& upstream)
      : loop_(loop), state_log_(log), jobs_(jobs), session_(session), upstream_(upstream) {}

  /// Gives what a log told of to the JobRunner. What had not ended fails unless it is `may_act`.
  RestoredJobs restore(JobReplay replay, bool may_act);

  /// Makes a job of a request that a connected client of the daemon before was waiting for.
  void adopt(UpstreamId id, Orphan orphan);

  /// Is told nothing more.
  void stop() { jobs_.store().forget_journal(); }

  /// What has changed in this turn, as records.
  void note_changes();
  /// Where the answers' streams stand. At the end of a turn: all that came was dealt with.
  void note_streams();

  bool is_durable() const override { return state_log_.is_durable(); }
  void job_added(const Job& job, std::string_view request, const JobWay& way) override;
  void job_restored(const Job& job, std::string_view request, const JobWay& way) override;
  void job_is_of(const Job& job, const Peer& peer) override;
  void job_started(const Job& job, UpstreamId id) override;
  void job_time(const Job& job, const JobTime& time) override;
  void job_is_task(const Job& job, std::uint64_t form, std::string_view raw_id) override;
  void job_questioned(const Job& job) override;
  void job_asked(const Job& job, std::string_view result) override;
  void job_question_answered(const Job& job, std::string_view result) override;
  void job_changed(const Job& job) override { changed_.insert(job.number); }
  void job_ended(const Job& job) override;
  void job_forgotten(const Job& job) override;
  void key_left(const User& user, const UsedKey& key) override;

  // For a log that is written anew.
  void begin_snapshot();
  /// Appends about so many bytes more; false when all were said.
  bool continue_snapshot(LogWriter& out, std::size_t bytes);
  std::size_t saved_bytes() const;

 private:
  /// What is known of a job beside what the store has.
  struct Entry {
    std::string request;
    JobWay way;
    std::optional<Peer> peer{};
    std::size_t bytes = 0;  ///< of its record
  };

  void keep(const Job& job, std::string_view request, const JobWay& way);
  void measure(const Job& job, Entry& entry);
  void way_changed(const Job& job, Entry& entry);
  void note_event(const Job& job, Entry& entry, std::string_view event_id);
  const Entry& entry_of(const Job& job) const;

  EventLoop& loop_;
  StateLog& state_log_;
  JobRunner& jobs_;
  const Session& session_;
  const Upstream& upstream_;
  std::map<JobNumber, Entry> entries_;           ///< of each job
  std::set<JobNumber> under_way_;                ///< started, and not ended
  std::set<JobNumber> changed_;                  ///< in this turn
  std::set<JobNumber> questioned_;               ///< likewise
  std::size_t bytes_ = 0;                        ///< of all records
  JobNumber snapshot_at_{};                      ///< jobs up to this are in the new log
  JobNumber snapshot_end_{};                     ///< those after it are appended as they come
  std::pair<User, std::uint64_t> snapshot_key_;  ///< keys up to this are in the new log
};

}  // namespace bridge
