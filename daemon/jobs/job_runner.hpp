#pragma once

#include <deque>
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
#include "jobs/job_client.hpp"
#include "jobs/job_store.hpp"
#include "jobs/server_task.hpp"
#include "jobs/submitted_request.hpp"
#include "router/requests_in_flight.hpp"
#include "router/router.hpp"

namespace bridge {

/// Who waits for what comes of jobs. Told at the end of a turn; the job is one of the store.
/// Implemented by Collectors.
class JobWatcher {
 public:
  /// It has ended, or is input_required.
  virtual void job_settled(const Job& job) = 0;
  /// `params` of a `notifications/progress`, without the token.
  virtual void job_progress(const Job& job, std::string_view params) = 0;
  /// Another notification about its request.
  virtual void job_told(const Job& job, const Frame& notification) = 0;
  /// Whether somebody who waits is asked this. Then JobRunner::answer() or ask_again() follows,
  /// unless question_over() comes first.
  virtual bool job_asks(const Job& job, const JobQuestion& question) = 0;
  /// What somebody is asked about this job need not be answered any more.
  virtual void question_over(const Job& job) = 0;

 protected:
  ~JobWatcher() = default;
};

/// The jobs that have not ended: their requests at the router, what the upstream asks about them,
/// and how long they may take (BEHAVIOUR, "Jobs").
///
/// Owned by the daemon, after the router; the loop's thread only. What it is told and what it is
/// asked for is done at the end of the turn, so that neither the router nor a caller is called from
/// within a call. Bounds: those of the JobStore; the questions, those of ServerRequestTable. Each
/// job ends: after --request-max of work, or a question that nobody answers for --job-ttl.
class JobRunner final : private JobClientEvents {
 public:
  struct Question {
    std::string id;  ///< raw JSON, as the router wrote it; empty: of a task
    JobQuestion asked;
    std::string key{};   ///< of a task's, or of one that another daemon has left, as JSON
    ClientId told_to{};  ///< who answers it towards the router

    template <class A>
    void each_field(A& archive) {
      archive(id, asked, key, archive.not_saved(told_to));
    }
  };
  /// What the server has made of a job's request.
  struct Task {
    enum class Asked { nothing, state, answers, result };

    ServerTask::Form form{};
    std::string id;                ///< raw JSON
    Asked asked = Asked::nothing;  ///< what is under way
    std::chrono::milliseconds pause{};
    SteadyTime due{};                    ///< the next question about it
    std::vector<InputResponse> answers;  ///< that it has not been told yet
    std::set<std::string> answered;      ///< the keys of all

    template <class A>
    void each_field(A& archive) {
      archive(form, id, archive.not_saved(asked), archive.not_saved(pause), archive.not_saved(due),
              answers, answered);
    }
  };
  /// What another daemon has left of a job.
  struct Left {
    std::string request;               ///< as it is given to the router
    std::optional<ResumePoint> place;  ///< then only its answer is to be had
    bool waits = false;                ///< for the next try, at `due`
    SteadyTime due{};
    std::chrono::milliseconds pause{1000};
    InputRequired round;                 ///< what is asked about it
    std::vector<InputResponse> answers;  ///< to the first of that
  };
  /// What there is of a job only until its end.
  struct Running {
    ClientId client{};
    std::deque<Question> questions;  ///< the first one is asked
    bool with_watcher = false;       ///< it was taken by JobWatcher::job_asks
    bool in_flight = false;          ///< its request has been started
    bool for_later = false;          ///< SubmittedRequest
    bool in_round = false;           ///< what is asked stands in an `input_required` result
    std::unique_ptr<Task> task;      ///< what has become of it
    std::unique_ptr<Left> left;      ///< of one that was taken over
    std::optional<Peer> peer;        ///< who has submitted it; none: not known any more
    SteadyTime since{};              ///< working, or asking
    SteadyTime::duration worked{};   ///< before that

    template <class A>
    void each_field(A& archive) {
      archive(client, questions, archive.not_saved(with_watcher), in_flight, for_later, in_round,
              task, archive.not_saved(left), since, worked, peer);
    }
  };
  /// One that has not ended, as it is saved in an upgrade.
  struct SavedJob {
    Job job;
    Running running;
    std::string request;   ///< of one that has not been started, or may be sent with answers
    UpstreamId sent_as{};  ///< of one that is in flight

    template <class A>
    void each_field(A& archive) {
      archive(job, running, request, sent_as);
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

  JobRunner(EventLoop& loop, ClientIdSource& ids, Router& router, Log& log, JobOptions options);
  /// As OrphanKeeper.
  Client* adopt(const Client& former, UpstreamId id, PendingRequest& request);
  void set_watcher(JobWatcher& watcher) { watcher_ = &watcher; }
  JobStore& store() { return store_; }
  const JobStore& store() const { return store_; }
  const JobOptions& options() const { return options_; }
  /// SIGHUP: takes the times of requests.
  void reconfigure(const JobOptions& options);

  /// Takes a token of its user's rate before a submission; why there is none, or nothing.
  std::optional<Failure> take_token(const Client& by) { return router_.take_token(by); }
  /// Null: there is no room. `by` is who submits it.
  Job* submit(SubmittedRequest request, JobNumber number, const Client& by);
  /// REQUIRES: it has not ended.
  void cancel(Job& job);
  /// Answers the first question about the job, with a result or an error, as JSON; the other one is
  /// empty. `question`: its question_id() if the answer is to no other one; empty: to whatever is
  /// asked. Returns why it cannot be answered so; empty: it was.
  std::string answer(Job& job, std::string_view result, std::string_view error,
                     std::string_view question = {});
  /// Whoever was asked answers nothing: others are.
  void ask_again(Job& job);
  /// This client has said of the first question that it does not know such ones, here or where it
  /// was asked itself.
  void note_declined(const Job& job, ClientId by);
  bool was_declined(const Job& job, ClientId by) const;
  /// Offers the question of an input_required job to whoever waits now.
  void offer(Job& job);
  /// What was told or asked for in this turn is done now.
  void settle();

  /// The bridge is being upgraded: ends those that have not ended and do not go along.
  void end_unfinished();
  /// All that do.
  Saved save();
  /// Goes on with a job that had not ended: its task is asked about, its answer's stream is resumed
  /// in its session, what was asked about it is asked again, and what was never sent, or only
  /// reads, is sent; while the upstream is away it waits, up to --request-max. What may have been
  /// carried out and cannot be found again fails `closed`, `unknown`; so does all if it is not
  /// `may_act`. Before any client, and before the requests of jobs that are submitted.
  void take_over(UnfinishedJob left, bool may_act = true);
  /// A job to be, with a name and a number of its own.
  Job new_job(std::string method, const User& user, pid_t pid, std::string command);
  /// Jobs were put into the store: it is looked at when they are to be forgotten.
  void restored();
  /// The daemon is ending, and the next one takes over what has not ended.
  void leave_unfinished() { leaves_unfinished_ = true; }
  /// Whether something is asked about it that nobody has answered.
  bool is_asked(JobNumber number) const;
  /// Of what the previous process has saved, what has ended.
  void restore_ended(std::vector<Job>&& jobs, std::vector<std::pair<User, UsedKey>>&& keys);
  /// What has not; before the requests in flight are restored.
  void restore_running(std::vector<SavedJob> jobs);
  /// They are: what was asked about jobs waits for its answer again.
  void requests_restored();

 private:
  /// How a job's request is reached when the job has ended.
  struct Way {
    ClientId client;
    std::string request;  ///< its id, raw JSON
    std::string task;     ///< raw JSON; empty: it is none
  };
  struct Heard {
    ClientId client;
    JobNumber number;
    Kind kind;
    std::string response;        ///< of Kind::answer
    std::optional<Frame> about;  ///< of Kind::about
  };

  void job_heard(const ClientChannel& client, JobNumber number, Kind kind,
                 std::string frame) override;
  void job_starting(JobNumber number, UpstreamId id) override;
  std::optional<ResumePoint> resume_point(JobNumber number) const override;
  void job_asked(JobNumber number, std::string_view result) override;
  bool can_take_question(const ClientChannel& client) const override;
  bool is_for_later(JobNumber number) const override;
  std::optional<Submitter> submitter(JobNumber number) override;
  bool survives_upgrade(JobNumber number) const override;

  JobClient& client_of(const User& user, std::optional<ClientId> known = std::nullopt);
  Job describe(std::string method, const Client& by, JobNumber number) const;
  Job describe(std::string method, const User& user, JobNumber number) const;
  void take(Heard heard);
  void answered(Job& job, std::string response);
  void end_with(Job& job, Frame response);
  void asked(Heard& heard, const Frame& question);
  void withdrawn(const Frame& notification);
  void progressed(Job& job, const Frame& notification);
  std::optional<JobNumber> oldest_in_flight(ClientId client) const;
  std::optional<JobNumber> with_task(std::string_view raw_task_id) const;
  void next_question(Job& job, Running& running);
  void keep_question(Job& job, Running& running);
  void question_gone(Job& job, Running& running);
  void end(Job& job, JobState state, std::string response, bool delivered);
  void fail(Job& job, const Failure& failure);
  Way way_to(JobNumber number, const Running& running) const;
  void cancel_request(JobNumber number, const Way& way);
  // How long one works.
  void begin_time(const Job& job, Running& running);
  void stop_time(const Job& job, Running& running);
  void note_time(const Job& job, const Running& running, bool asks);
  WallTime on_calendar(SteadyTime time) const;
  void take_over_time(Running& running, const JobTime& time) const;
  SteadyTime due(const Running& running) const;
  void watch(const Running& running);
  void check_time();
  void drop_idle_clients();

  static bool can_be_saved(const Running& running);
  static bool is_sent_again(const Running& running);
  bool stays(JobNumber number, const Running& running) const;
  void restore(SavedJob saved);

  // What another process has left: job_runner_left_jobs.cpp.
  void go_on_with_left(Job& job, Running& running, UnfinishedJob left);
  void take_over_task(Job& job, Running& running, const JobWay& way);
  bool take_over_round(Job& job, Running& running, const JobWay& way);
  void send_left(JobNumber number, Running& running);
  bool tries_again(Running& running, std::string_view error);
  static bool waits_to_try(const Running& running);
  std::string answer_left(Job& job, Running& running, std::string_view result);

  // Tasks of the server: job_runner_tasks.cpp.
  bool begins_task(Job& job, Running& running, const Frame& response);
  void task_answered(Job& job, Running& running, Frame response);
  void task_is(Job& job, Running& running, ServerTask task);
  void task_asks(Job& job, Running& running, std::vector<InputRequest> questions);
  std::string answer_task(Job& job, Running& running, std::string_view result);
  static bool is_between_polls(const Running& running);
  void ask_about_task(JobNumber number, Running& running);
  void ask_task(JobNumber number, Running& running, Task::Asked what);
  void pause_task(Running& running);

  EventLoop& loop_;
  ClientIdSource& ids_;
  Router& router_;
  Log& log_;
  JobOptions options_;
  JobWatcher* watcher_ = nullptr;
  JobStore store_;
  std::map<User, std::unique_ptr<JobClient>> clients_;
  std::map<JobNumber, Running> running_;
  std::deque<Heard> heard_;                                   ///< in this turn
  std::deque<std::pair<ClientId, Frame>> to_router_;          ///< likewise
  std::vector<std::pair<ClientId, std::string>> given_back_;  ///< questions, by their ids
  std::vector<JobNumber> settled_;                            ///< to be told to the watcher
  bool some_have_ended_ = false;
  bool leaves_unfinished_ = false;
  DeadlineTimer clock_;       ///< of those that have not ended
  DeadlineTimer forgetting_;  ///< of those that have
  Deferred end_of_turn_;
};

}  // namespace bridge
