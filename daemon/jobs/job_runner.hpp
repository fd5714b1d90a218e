#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"
#include "event/event_loop.hpp"
#include "jobs/job.hpp"
#include "jobs/job_store.hpp"
#include "jobs/job_tasks.hpp"
#include "jobs/job_times.hpp"
#include "jobs/jobs_of_user.hpp"
#include "jobs/running_job.hpp"
#include "jobs/submitted_request.hpp"
#include "router/call.hpp"
#include "router/router.hpp"

namespace bridge {

class JobWaiters;

/// Runs the jobs that have not ended: their requests at the router, the upstream's questions about
/// them, and their deadlines (BEHAVIOUR, "Jobs").
///
/// Owned by the daemon, after the router; the loop's thread only. What the router tells is
/// processed at the end of the turn, so that it is not called from within a call. Bounds: those of
/// the JobStore; for questions those of QuestionTable. Each job ends: after
/// --request-max of work, or when a question stays unanswered for --job-ttl.
class JobRunner final : private JobOwner {
 public:
  using Task = JobTask;
  using Running = RunningJob;

  /// An unfinished job, as saved in an upgrade.
  struct SavedJob {
    Job job;
    Running running;

    template <class A>
    void each_field(A& archive) {
      archive(job, running);
    }
  };
  struct Saved {
    std::vector<Job> ended;  ///< in the order in which they ended
    std::vector<std::pair<User, UsedKey>> keys;
    std::vector<SavedJob> running;

    template <class A>
    void each_field(A& archive) {
      archive(ended, keys, running);
    }
  };

  /// The response, the failure, or neither if it was cancelled.
  using End = std::variant<std::monostate, Frame, Failure>;

  JobRunner(EventLoop& loop, Router& router, Log& log, JobOptions options);
  void set_waiters(JobWaiters& waiters) { waiters_ = &waiters; }
  JobStore& store() { return store_; }
  const JobStore& store() const { return store_; }
  const JobOptions& options() const { return options_; }
  /// SIGHUP: applies new timeouts.
  void reconfigure(const JobOptions& options);

  Router& router() { return router_; }
  /// Null if there is no room. `by`: the submitter.
  Job* submit(SubmittedRequest request, JobNumber number, const Client& by);
  /// REQUIRES: the job has not ended.
  void cancel(Job& job);
  /// Answers the first question about the job with a result or an error, as JSON; the other one is
  /// empty. `question`: the question_id() that the answer is for; empty: any. Returns why it cannot
  /// be answered; empty: it was.
  std::string answer(const Job& job, std::string_view result, std::string_view error,
                     std::string_view question = {});
  /// Asks a waiting client the job's first question, or keeps the question until a client waits. To
  /// be called when the clients that wait for the job have changed.
  void look_at_questions(JobNumber number);
  /// This client no longer waits with that request (raw JSON).
  void waiter_gone(JobNumber number, ClientId client, std::string_view raw_id);
  /// Processes the events and requests of this turn.
  void settle();

  // Called by JobsOfUser.
  /// The job's request is about to be sent under this id. `may_be_sent_again`: its response may ask
  /// for that.
  void request_starting(JobNumber number, UpstreamId id, bool may_be_sent_again);
  /// It was answered with this `input_required` result; it is sent again with the answers.
  void request_asked(JobNumber number, std::string_view result);
  void request_ended(const JobRequest& request, End end);
  /// Progress, or another notification about the request.
  void request_notified(JobNumber number, Frame notification);

  /// Resumes a job that had not ended: polls its task, resumes its response's stream in its
  /// session, asks its questions again, and sends what was never sent or only reads; while the
  /// upstream is away it waits, up to --request-max. A request that may have been carried out and
  /// cannot be resumed fails with `closed`, `unknown`; so does every one without `may_act`. Called
  /// before any client, and before requests of submitted jobs.
  void take_over(Job left, bool may_act = true);
  /// Takes over a job without an id: a request that a client of an earlier daemon waited for. False
  /// if there is no room.
  bool adopt(Job left);
  /// The job that a client's request in flight would become, without an id; nullopt: it cannot.
  std::optional<Job> job_of(const Client& client, UpstreamId id, const Call& call);
  /// Jobs were restored: sets the time for forgetting them.
  void restored();
  /// The daemon is ending, and the next one takes over unfinished jobs.
  void leave_unfinished() { leaves_unfinished_ = true; }
  /// Whether a question about the job is open.
  bool is_asked(JobNumber number) const { return router_.questions().first_of(number) != nullptr; }
  /// Visits the unfinished jobs whose requests were sent.
  template <class Visit>
  void each_started(Visit&& visit) {
    for (const auto& [number, running] : running_) {
      Job& job = *store_.find_job(number);
      if (job.position.started) visit(job);
    }
  }

 private:
  friend class JobTasks;
  friend class JobUpgrade;

  using Stage = Running::Stage;

  // JobOwner.
  Caller& caller_of(const User& user) override;
  void job_questions_changed(JobNumber number) override;
  void job_question_answered(JobNumber number, const Question& question,
                             std::string_view result) override;
  std::vector<JobNumber> jobs_to_ask() const override;
  std::optional<JobNumber> job_of_task(std::string_view raw_id) const override;
  std::unique_ptr<JobRequest> adopt(const Client& former, UpstreamId id, const Call& call) override;

  Job new_job(std::string method, const Client& by, JobNumber number) const;
  void later(std::function<void()> action);
  JobRequest request_of(const Job& job, const Running& running) const;
  void send_request(Job& job, Running& running);
  void take_end(Job& job, Running& running, End&& end);
  bool tries_again(const Job& job, Running& running, const Failure& failure);
  void end_with(Job& job, Frame response);
  void set_asked(const Job& job, Running& running, bool is_asked);
  void keep_question(Job& job, const Question& question);
  void finish_job(Job& job, JobState state, std::string response, bool delivered);
  void fail(Job& job, const Failure& failure);
  void fail_and_cancel(Job& job, const Failure& failure);
  void cancel_request(const Job& job);
  void watch(const Running& running);
  void pause_job(Running& running, SteadyTime::duration time);
  void check_time();

  EventLoop& loop_;
  Router& router_;
  Log& log_;
  JobOptions options_;
  JobWaiters* waiters_ = nullptr;
  JobStore store_;
  JobTimes times_;
  JobTasks tasks_;
  std::map<JobNumber, Running> running_;
  std::map<User, std::unique_ptr<JobsOfUser>> callers_;
  std::deque<std::function<void()>> later_;  ///< events of this turn
  bool leaves_unfinished_ = false;
  DeadlineTimer clock_;       ///< deadlines of unfinished jobs
  DeadlineTimer forgetting_;  ///< when ended jobs are forgotten
  Deferred end_of_turn_;
};

}  // namespace bridge
