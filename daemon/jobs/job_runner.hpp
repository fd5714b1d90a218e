#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"
#include "event/event_loop.hpp"
#include "jobs/job.hpp"
#include "jobs/job_store.hpp"
#include "jobs/server_task.hpp"
#include "jobs/submitted_request.hpp"
#include "router/call.hpp"
#include "router/router.hpp"

namespace bridge {

class JobWaiters;

/// Jobs that have not ended: their requests at the router, the upstream's questions about them, and
/// their deadlines (BEHAVIOUR, "Jobs").
///
/// Owned by the daemon, after the router; the loop's thread only. Events and requests are handled
/// at the end of the turn, so that neither the router nor a caller is called from within a call.
/// Bounds: those of the JobStore; the questions, those of QuestionTable. Each job ends: after
/// --request-max of work, or when a question stays unanswered for --job-ttl.
class JobRunner final : private JobCalls {
 public:
  /// What the server has made of a job's request; which task that is says JobPosition.
  struct Task {
    enum class Asked { nothing, state, answers, result };

    Asked asked = Asked::nothing;        ///< what is under way
    std::vector<InputResponse> answers;  ///< that it has not been told yet
    std::set<std::string> answered;      ///< the keys of all

    template <class A>
    void each_field(A& archive) {
      archive(archive.not_saved(asked), answers, answered);
    }
  };
  /// What there is of a job only until its end, beside its JobPosition.
  struct Running {
    enum class Stage : std::uint8_t {
      waiting,  ///< its request waits at the router
      working,  ///< it is at the server
      asked,    ///< the same, or it was answered with questions: something is asked about it
      pausing,  ///< until `due`: for the next try, or to ask about its task
    };
    friend constexpr Stage last_of(Stage) { return Stage::pausing; }

    Stage stage = Stage::waiting;
    bool for_client = false;        ///< JobRequest
    bool was_left = false;          ///< by another daemon: it is tried until the upstream is there
    SteadyTime since{};             ///< working, or asking
    SteadyTime::duration worked{};  ///< before that
    std::unique_ptr<Task> task;     ///< what has become of it
    std::uint64_t question = 0;     ///< Question::id of what is asked
    bool notes_questions = true;    ///< JobKeeper::note_question() is for the first of several
    std::chrono::milliseconds pause{1000};
    SteadyTime due{};

    template <class A>
    void each_field(A& archive) {
      archive(stage, for_client, was_left, since, worked, task, question,
              archive.not_saved(notes_questions), archive.not_saved(pause), archive.not_saved(due));
    }
  };
  /// One that has not ended, as it is saved in an upgrade.
  struct SavedJob {
    Job job;
    Running running;

    template <class A>
    void each_field(A& archive) {
      archive(job, running);
    }
  };
  struct Saved {
    std::vector<Job> ended;  ///< in the order of their ends
    std::vector<std::pair<User, UsedKey>> keys;
    std::vector<SavedJob> running;

    template <class A>
    void each_field(A& archive) {
      archive(ended, keys, running);
    }
  };

  JobRunner(EventLoop& loop, Router& router, Log& log, JobOptions options);
  void set_waiters(JobWaiters& waiters) { waiters_ = &waiters; }
  JobStore& store() { return store_; }
  const JobStore& store() const { return store_; }
  const JobOptions& options() const { return options_; }
  /// SIGHUP: takes the times of requests.
  void reconfigure(const JobOptions& options);

  /// Takes a token of its user's rate before a submission; why there is none, or nothing.
  std::optional<Failure> take_token(const Client& by) { return router_.take_token(by); }
  bool has_token(const Client& by) const { return router_.permissions().has_token(by); }
  /// Null: there is no room. `by` is who submits it.
  Job* submit(SubmittedRequest request, JobNumber number, const Client& by);
  /// REQUIRES: it has not ended.
  void cancel(Job& job);
  /// Answers the first question about the job, with a result or an error, as JSON; the other one is
  /// empty. `question`: its question_id() if the answer is to no other one; empty: to whatever is
  /// asked. Returns why it cannot be answered so; empty: it was.
  std::string answer(const Job& job, std::string_view result, std::string_view error,
                     std::string_view question = {});
  /// Who waits for the job is another now: what is asked about it is asked of whom it is to be.
  void waiters_changed(JobNumber number) { look_at_questions(number); }
  /// This one waits no longer with that request (raw JSON).
  void waiter_gone(JobNumber number, ClientId client, std::string_view raw_id);
  /// What was told or asked for in this turn is done now.
  void settle();

  /// The bridge is being upgraded: ends those that have not ended and do not go along.
  void end_unfinished();
  /// All that do.
  Saved save();
  /// Resumes a job that had not ended: polls its task, resumes its response's stream in its
  /// session, asks its questions again, and sends what was never sent or only reads; while the
  /// upstream is away it waits, up to --request-max. A request that may have been carried out and
  /// cannot be found again fails `closed`, `unknown`, as does every one without `may_act`. Before
  /// any client, and before the requests of submitted jobs.
  void take_over(Job left, bool may_act = true);
  /// A job to be, with a name of its own. `number`: of JobStore::next_number().
  Job new_job(std::string method, const User& user, pid_t pid, std::string command,
              JobNumber number);
  /// Jobs were put into the store: it is looked at when they are to be forgotten.
  void restored();
  /// The daemon is ending, and the next one takes over what has not ended.
  void leave_unfinished() { leaves_unfinished_ = true; }
  /// Whether it has an unanswered question.
  bool is_asked(JobNumber number) const { return router_.questions().first_of(number) != nullptr; }
  /// Those that have not ended and whose requests were sent.
  template <class Visit>
  void each_started(Visit&& visit) {
    for (const auto& [number, running] : running_) {
      Job& job = *store_.find(number);
      if (job.position.started) visit(job);
    }
  }
  /// Of what the previous process has saved, what has ended.
  void restore_ended(std::vector<Job>&& jobs, std::vector<std::pair<User, UsedKey>>&& keys);
  /// What has not; before the requests in flight are restored.
  void restore_running(std::vector<SavedJob> jobs);

 private:
  using Stage = Running::Stage;

  // JobCalls.
  void job_starting(JobNumber number, UpstreamId id, Era side) override;
  void job_input_required(JobNumber number, std::string_view result) override;
  void job_request_ended(const JobRequest& request, End end) override;
  void job_notified(JobNumber number, Frame notification) override;
  void job_questions_changed(JobNumber number) override;
  void job_question_answered(JobNumber number, const Question& question,
                             std::string_view result) override;
  std::vector<JobWaiter> waiters_for(JobNumber number) const override;
  std::vector<JobNumber> jobs_to_ask(const Question& question) const override;
  std::unique_ptr<JobRequest> adopt(const Client& former, UpstreamId id, const Call& call) override;

  void later(std::function<void()> action);
  JobRequest request_of(const Job& job, const Running& running) const;
  void send(Job& job, Running& running);
  void request_ended(Job& job, Running& running, End&& end);
  void response_came(Job& job, Running& running, Frame&& response);
  bool tries_again(const Job& job, Running& running, const Failure& failure);
  void end_with(Job& job, Frame response);
  void told(Job& job, const Frame& notification);
  void look_at_questions(JobNumber number);
  void set_asked(const Job& job, Running& running, bool is_asked);
  void keep_question(Job& job, const Question& question);
  void end(Job& job, JobState state, std::string response, bool delivered);
  void fail(Job& job, const Failure& failure);
  void fail_and_cancel(Job& job, const Failure& failure);
  void cancel_request(const Job& job);
  // How long one works.
  void begin_time(Job& job, Running& running);
  void stop_time(Job& job, Running& running);
  void note_time(Job& job, const Running& running);
  WallTime on_calendar(SteadyTime time) const;
  void take_over_time(Running& running, const JobPosition& position) const;
  SteadyTime due(const Running& running) const;
  void watch(const Running& running);
  void pause(Running& running, SteadyTime::duration time);
  void check_time();

  void resume_left(Job& job, Running& running);
  bool stays(const Job& job, const Running& running) const;
  // Tasks of the server: job_runner_tasks.cpp.
  bool begins_task(Job& job, Running& running, const Frame& response);
  void task_answered(Job& job, Running& running, Frame&& response);
  void task_is(Job& job, Running& running, ServerTask task);
  void task_asks(Job& job, Running& running, const std::vector<InputRequest>& questions);
  void ask_about_task(const Job& job, Running& running);
  void ask_task(const Job& job, Running& running, Task::Asked what);

  EventLoop& loop_;
  Router& router_;
  Log& log_;
  JobOptions options_;
  JobWaiters* waiters_ = nullptr;
  JobStore store_;
  std::map<JobNumber, Running> running_;
  std::deque<std::function<void()>> later_;  ///< in this turn
  bool leaves_unfinished_ = false;
  DeadlineTimer clock_;       ///< of those that have not ended
  DeadlineTimer forgetting_;  ///< of those that have
  Deferred end_of_turn_;
};

}  // namespace bridge
