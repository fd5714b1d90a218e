#include "jobs/job_runner.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/random.hpp"
#include "jobs/job_text.hpp"
#include "jobs/job_waiters.hpp"
#include "json/json_edit.hpp"
#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/methods.hpp"

namespace bridge {
namespace {

constexpr std::string_view no_room_for_orphan =
    "a request of a client that has left could not be kept: --jobs or --jobs-bytes is used up";

/// 128 random bits: the user's number protects a job from other users, this protects it from
/// guessing.
std::string new_id() { return random_hex(16); }

std::string without_progress_token(const std::string& params) {
  Edits edits;
  edit_members(edits, params, whole_value(params),
               [](std::string_view key) { return unescape(key) == "progressToken"; });
  return edits.made_in(params);
}

Failure lost_with_its_daemon() {
  return failure_of(ErrorKind::closed, Delivered::unknown,
                    "the bridge was restarted before the job ended, and its answer was lost");
}

/// Identifies the job to the router; it is not sent.
std::string awaited_request(const Job& job) {
  const std::uint64_t number = value_of(job.number);
  return json_rpc_message()
      .add("id", number)
      .add("method", job.method)
      .add("params", JsonObject().add("_meta", JsonObject().add("progressToken", number)))
      .text();
}

bool has_ended(const Job* job) { return job == nullptr || is_end(job->state); }

}  // namespace

JobRunner::JobRunner(EventLoop& loop, Router& router, Log& log, JobOptions options)
    : loop_(loop),
      router_(router),
      log_(log),
      options_(options),
      store_(options.limits),
      times_(loop, store_, options_),
      tasks_(*this),
      clock_(loop, [this] { check_time(); }),
      forgetting_(loop, [this] { end_of_turn_.schedule(); }),
      end_of_turn_(loop, [this] { settle(); }) {
  router.set_jobs(*this);
}

void JobRunner::reconfigure(const JobOptions& options) {
  options_.request_max = options.request_max;
  for (const auto& [number, running] : running_) watch(running);
}

void JobRunner::later(std::function<void()> action) {
  later_.push_back(std::move(action));
  end_of_turn_.schedule();
}

void JobRunner::settle() {
  while (!later_.empty()) {
    const std::function<void()> action = std::move(later_.front());
    later_.pop_front();
    action();
  }
  std::erase_if(callers_, [this](const auto& entry) {
    return entry.second->is_idle() &&
           std::none_of(running_.begin(), running_.end(), [&](const auto& running) {
             return store_.find_job(running.first)->user == entry.first;
           });
  });
  if (const auto next = store_.expire(loop_.now())) forgetting_.set_at_latest(*next);
}

Caller& JobRunner::caller_of(const User& user) {
  auto& its = callers_[user];
  if (its == nullptr) its = std::make_unique<JobsOfUser>(user, router_, *this);
  return *its;
}

// Begin of a job.

/// Without an id.
Job JobRunner::new_job(std::string method, const Client& by, JobNumber number) const {
  const ClientIdentity& identity = by.channel.identity();
  Job job;
  job.number = number;
  job.user = by.user;
  job.method = std::move(method);
  job.pid = identity.pid;
  job.command = shortened(by.channel.command());
  job.remote = identity.remote;
  job.created = loop_.wall_time();
  job.keep = options_.limits.ttl;
  job.peer = identity.peer();
  job.grant = by.grant;
  return job;
}

Job* JobRunner::submit(SubmittedRequest submitted, JobNumber number, const Client& by) {
  Job job = new_job(submitted.request.method, by, number);
  job.id = new_id();
  job.tool = std::move(submitted.tool);
  job.key = std::move(submitted.key);
  job.digest = submitted.digest;
  job.holds_key = !job.key.empty();
  job.keep = submitted.keep.value_or(job.keep);
  // Decided now: after a restart the server's tools are unknown. A server without tasks ignores it
  // (MCP 2025-11-25, "Tasks: Task Support and Handling").
  job.request = router_.others().with_task(std::move(submitted.request)).bytes;
  Job* const added = store_.add_job(std::move(job));
  if (added == nullptr) return nullptr;
  Running& running = running_[number];
  running.since = loop_.now();
  running.for_client = submitted.for_later;
  send_request(*added, running);
  return added;
}

std::optional<Job> JobRunner::job_of(const Client& client, UpstreamId id, const Call& call) {
  if (!can_be_job(call.method)) return std::nullopt;
  Job job = new_job(call.method, client, store_.next_number());
  job.position.started = true;
  job.position.id = id;
  job.position.time.since = times_.on_calendar(call.sent);
  return job;
}

std::unique_ptr<JobRequest> JobRunner::adopt(const Client& former, UpstreamId id,
                                             const Call& call) {
  auto job = job_of(former, id, call);
  if (!job) return nullptr;
  job->id = new_id();
  const Job* const added = store_.add_job(std::move(*job));
  if (added == nullptr) {
    log_.peer(LogLevel::warning, "orphan without room", {.client = former.id()}, "{}",
              no_room_for_orphan);
    return nullptr;
  }
  Running& running = running_[added->number];
  running.since = call.sent;
  running.stage = Stage::working;
  watch(running);
  return std::make_unique<JobRequest>(request_of(*added, running));
}

JobRequest JobRunner::request_of(const Job& job, const Running& running) const {
  return {.number = job.number,
          .for_client = running.for_client,
          .peer = job.peer,
          .pid = job.pid,
          .command = job.command,
          .remote = job.remote,
          .job = job.id,
          .grant = job.grant};
}

/// Sends the request for the first time, or resumes it: with the answers to its questions, or only
/// to get its answer.
void JobRunner::send_request(Job& job, Running& running) {
  running.stage = Stage::waiting;
  later([this, number = job.number] {
    const Job* const sent = store_.find_job(number);
    if (has_ended(sent)) return;
    Running& its = running_.at(number);
    JobRequest request = request_of(*sent, its);
    const JobPosition& position = sent->position;
    if (sent->request.empty())
      request.resume_point = ResumePoint{position.id, position.session, position.event_id};
    auto parsed = parse_frame(sent->request.empty() ? awaited_request(*sent) : sent->request);
    auto* const frame = std::get_if<Frame>(&parsed);
    if (frame == nullptr) {
      fail(*store_.find_job(number), lost_with_its_daemon());
    } else if (!position.round.empty()) {
      const bool was_asked = position.time.asks;
      its.stage = Stage::working;
      router_.others().resume_asked(caller_of(sent->user), std::move(request), std::move(*frame),
                                    std::string(position.round),
                                    std::vector<std::string>(position.answers));
      const Question* const first = router_.questions().first_of(number);
      if (!was_asked || first == nullptr) return;
      its.stage = Stage::asked;  // its time has stopped since then
      its.question = first->id;
    } else {
      router_.others().request(caller_of(sent->user), std::move(*frame),
                               std::make_unique<JobRequest>(std::move(request)));
    }
  });
}

void JobRunner::request_starting(JobNumber number, UpstreamId id, bool may_be_sent_again) {
  const auto found = running_.find(number);
  if (found == running_.end()) return;
  Running& running = found->second;
  Job& job = *store_.find_job(number);
  if (running.stage == Stage::waiting) {
    // A request that is sent again keeps its time.
    if (!running.was_left) running.since = loop_.now();
    running.stage = Stage::working;
  }
  JobPosition& position = job.position;
  position.started = true;
  position.id = id;
  position.round.clear();
  position.answers.clear();
  // A request that must not be repeated is no longer needed, unless its answer may ask for it.
  const bool may_be_needed = running.was_left || (store_.keeper() != nullptr &&
                                                  (only_reads(job.method) || may_be_sent_again));
  if (!may_be_needed) job.request = {};
  times_.note_time(job, running);
  store_.write();  // before it is sent
  watch(running);
}

void JobRunner::request_asked(JobNumber number, std::string_view result) {
  if (!running_.contains(number)) return;
  Job& job = *store_.find_job(number);
  job.position.round = result;
  job.position.answers.clear();
  store_.changed(job, JobChange::position);
}

// Events.

void JobRunner::request_ended(const JobRequest& request, End end) {
  later([this, number = request.number, about_task = request.about_task,
         ended = std::move(end)]() mutable {
    Job* const job = store_.find_job(number);
    if (has_ended(job)) return;
    Running& running = running_.at(number);
    // If the job has become a task, its request is over.
    if ((running.task != nullptr) == about_task) take_end(*job, running, std::move(ended));
  });
}

void JobRunner::take_end(Job& job, Running& running, End&& end) {
  if (auto* const response = std::get_if<Frame>(&end)) {
    if (running.task != nullptr) {
      tasks_.task_answered(job, running, std::move(*response));
    } else if (!tasks_.begins_task(job, running, *response)) {
      end_with(job, std::move(*response));
    }
    return;
  }
  const auto* const failure = std::get_if<Failure>(&end);
  const bool is_upstreams = failure != nullptr && !failure->error_object.empty();
  if (failure == nullptr) {
    this->finish_job(job, JobState::cancelled, {}, true);
  } else if (leaves_unfinished_ && !is_upstreams) {
    // The next daemon resumes it.
  } else if (running.task != nullptr && !is_upstreams) {
    running.task->asked = Task::Asked::nothing;
    running.pause = std::min(running.pause * 2, longest_poll);
    pause_job(running, running.pause);
  } else if (!tries_again(job, running, *failure)) {
    fail(job, *failure);
  }
}

/// Whether a job of an earlier daemon is retried: the failure only says that the upstream is away.
bool JobRunner::tries_again(const Job& job, Running& running, const Failure& failure) {
  if (!running.was_left || running.task != nullptr || !failure.error_object.empty()) return false;
  const bool may_be_sent = job.position.round.empty() ? failure.delivered == Delivered::no &&
                                                            failure.kind != ErrorKind::too_large &&
                                                            failure.kind != ErrorKind::denied
                                                      : failure.kind <= ErrorKind::closed;
  if (!may_be_sent) return false;
  pause_job(running, running.pause);
  running.pause = std::min(running.pause * 2, longest_poll);
  return true;
}

void JobRunner::end_with(Job& job, Frame response) {
  const bool is_error = response.error.present();
  const bool delivered = !is_error || !says_undelivered(response.text(response.error));
  splice(response.bytes, {response.id, "null"});
  finish_job(job, is_error ? JobState::failed : JobState::completed, std::move(response.bytes),
             delivered);
}

void JobRunner::request_notified(JobNumber number, Frame notification) {
  later([this, number, frame = std::move(notification)] {
    Job* const job = store_.find_job(number);
    if (has_ended(job)) return;
    if (frame.method != "notifications/progress") {
      waiters_->job_notified(*job, frame);
      return;
    }
    const std::string params = without_progress_token(std::string(frame.text(frame.params)));
    store_.set_progress(*job, params);
    waiters_->job_progress(*job, params);
  });
}

// How jobs end, and when.

void JobRunner::finish_job(Job& job, JobState state, std::string response, bool delivered) {
  const JobNumber number = job.number;
  running_.erase(number);
  if (AuditTrail* const audit = router_.audit()) audit->job_ended(job.id, response);
  // Its questions may have been about another request.
  later([this, number] { router_.questions().job_over(number); });
  if (!store_.end_job(job, state, std::move(response), delivered, loop_.now())) {
    store_.end_job(job, JobState::failed,
                   error_reply("null", failure_of(ErrorKind::too_large, Delivered::unknown,
                                                  "the answer does not fit into --jobs-bytes")),
                   true, loop_.now());
  }
  later([this, number] {
    if (const Job* const ended = store_.find_job(number)) waiters_->job_settled(*ended);
  });
}

void JobRunner::fail(Job& job, const Failure& failure) {
  finish_job(job, JobState::failed, error_reply("null", failure),
             failure.delivered != Delivered::no);
}

/// Also cancels it at the upstream.
void JobRunner::fail_and_cancel(Job& job, const Failure& failure) {
  cancel_request(job);
  fail(job, failure);
}

void JobRunner::cancel(Job& job) {
  cancel_request(job);
  finish_job(job, JobState::cancelled, {}, true);
}

void JobRunner::cancel_request(const Job& job) {
  const JobRequest request{.number = job.number, .about_task = !job.position.task.empty()};
  later([this, raw_id = request.id(), user = job.user] {
    router_.others().cancel(caller_of(user), raw_id, "the job was cancelled");
  });
  if (!request.about_task) return;
  later([this, request, user = job.user,
         frame = task_request(job.number, "tasks/cancel", job.position.task)] {
    router_.others().request(caller_of(user), frame, std::make_unique<JobRequest>(request));
  });
}

void JobRunner::watch(const Running& running) {
  SteadyTime then = times_.due(running);
  if (running.stage == Stage::pausing) then = std::min(then, running.due);
  if (then != SteadyTime::max()) clock_.set_at_latest(then);
}

void JobRunner::pause_job(Running& running, SteadyTime::duration time) {
  running.stage = Stage::pausing;
  running.due = loop_.now() + time;
  watch(running);
}

void JobRunner::check_time() {
  const SteadyTime now = loop_.now();
  std::vector<JobNumber> late;
  for (auto& [number, running] : running_) {
    if (times_.due(running) <= now) {
      late.push_back(number);
      continue;
    }
    if (running.stage == Stage::pausing && running.due <= now) {
      Job& job = *store_.find_job(number);
      if (running.task != nullptr) {
        tasks_.ask_about_task(job, running);
      } else {
        send_request(job, running);
      }
    }
    watch(running);
  }
  for (const JobNumber number : late) {
    fail_and_cancel(*store_.find_job(number),
                    failure_of(ErrorKind::timeout, Delivered::unknown,
                               running_.at(number).stage == Stage::asked
                                   ? "the upstream's question was not answered within --job-ttl"
                                   : "the job has worked for longer than --request-max"));
  }
}

// Questions of the upstream about jobs.

std::optional<JobNumber> JobRunner::job_of_task(std::string_view raw_id) const {
  for (const auto& [number, running] : running_) {
    if (running.task != nullptr && same_id(store_.find_job(number)->position.task, raw_id))
      return number;
  }
  return std::nullopt;
}

std::vector<JobNumber> JobRunner::jobs_to_ask() const {
  std::map<User, JobNumber> chosen;
  for (const auto& [number, running] : running_) {
    const bool is_at_server =
        running.task != nullptr || running.stage == Stage::working || running.stage == Stage::asked;
    if (!is_at_server) continue;
    const Job& job = *store_.find_job(number);
    chosen.try_emplace(job.user, number);
  }
  std::vector<JobNumber> all;
  all.reserve(chosen.size());
  for (const auto& [user, number] : chosen) all.push_back(number);
  return all;
}

void JobRunner::job_questions_changed(JobNumber number) {
  const auto found = running_.find(number);
  const Question* const first = router_.questions().first_of(number);
  if (found != running_.end() && first != nullptr && first->origin &&
      std::exchange(found->second.notes_questions, false) && store_.keeper() != nullptr)
    store_.keeper()->note_question(*store_.find_job(number));
  later([this, number] { look_at_questions(number); });
}

void JobRunner::look_at_questions(JobNumber number) {
  const auto found = running_.find(number);
  if (found == running_.end()) {
    router_.questions().job_over(number);
    return;
  }
  Running& running = found->second;
  Job& job = *store_.find_job(number);
  const Question* const first = router_.questions().first_of(number);
  if (first == nullptr) {
    running.notes_questions = true;
    if (std::exchange(running.question, 0) == 0) return;
    store_.proceed(job);
    set_asked(job, running, false);
    times_.begin_time(job, running);
  } else {
    if (running.question == 0) set_asked(job, running, true);
    if (running.question != first->id) {
      store_.proceed(job);
      times_.stop_time(job, running);
    }
    running.question = first->id;
    if (router_.questions().offer(number, waiters_->waiters_for(number))) {
      store_.proceed(job);
    } else if (job.state != JobState::input_required) {
      keep_question(job, *first);
      return;
    }
  }
  watch(running);
}

/// Sets whether a question about the job is open.
void JobRunner::set_asked(const Job& job, Running& running, bool is_asked) {
  const JobRequest request{.number = job.number, .about_task = running.task != nullptr};
  router_.others().set_asked(caller_of(job.user), request.id(), is_asked);
  if (is_asked) return;
  running.stage = Stage::working;
  if (running.task != nullptr && running.task->asked == Task::Asked::nothing)
    pause_job(running, {});
}

void JobRunner::keep_question(Job& job, const Question& question) {
  if (!store_.ask(job, {question.method, std::string(question.params())})) {
    fail_and_cancel(job, failure_of(ErrorKind::too_large, Delivered::unknown,
                                    "the upstream's question does not fit into --jobs-bytes"));
    return;
  }
  watch(running_.at(job.number));
  later([this, number = job.number] {
    if (const Job* const asked = store_.find_job(number)) waiters_->job_settled(*asked);
  });
}

std::string JobRunner::answer(const Job& job, std::string_view result, std::string_view error,
                              std::string_view answered) {
  const Question* const question = router_.questions().first_of(job.number);
  if (question == nullptr || !running_.contains(job.number))
    return "Invalid params: this job has no open question";
  if (!answered.empty() &&
      answered != question_id({question->method, std::string(question->params())}))
    return "Invalid params: this question is closed; another one is open";
  if (!router_.questions().answer(job.number, result, error))
    return "Invalid params: the answer is not a valid result or error";
  look_at_questions(job.number);
  return {};
}

void JobRunner::job_question_answered(JobNumber number, const Question& question,
                                      std::string_view result) {
  const auto found = running_.find(number);
  if (found == running_.end()) return;
  Job& job = *store_.find_job(number);
  if (question.origin) {
    // Answers to the first questions are saved in their order.
    if (result.empty() || question.index != job.position.answers.size()) return;
    job.position.answers.emplace_back(result);
    store_.changed(job, JobChange::position);
  } else if (!result.empty()) {
    found->second.task->answers.push_back({question.key, std::string(result)});
  } else {
    later([this, number] {
      Job* const its = store_.find_job(number);
      if (!has_ended(its))
        fail_and_cancel(*its, failure_of(ErrorKind::no_client, Delivered::unknown,
                                         "the server's question was answered with an error"));
    });
  }
}

void JobRunner::waiter_gone(JobNumber number, ClientId client, std::string_view raw_id) {
  router_.questions().waiter_gone(client, raw_id);
  look_at_questions(number);
}

// Jobs taken over from another process: an earlier daemon, or the old process in an upgrade.

void JobRunner::take_over(Job left, bool may_act) {
  left.state = JobState::working;
  left.question.reset();
  Job& job = *store_.restore(std::move(left));
  Running& running = running_[job.number];
  running.was_left = true;
  times_.take_over_time(running, job.position);
  end_of_turn_.schedule();
  JobPosition& position = job.position;
  const bool has_round = std::holds_alternative<InputRequired>(read_input_required(position.round));
  const bool may_be_sent = position.round.empty() && (!position.started || only_reads(job.method));
  if (may_act && !position.task.empty()) {
    running.task = std::make_unique<Task>();
    tasks_.ask_task(job, running, Task::Asked::state);
  } else if (may_act && !job.request.empty() && (has_round || may_be_sent)) {
    send_request(job, running);
  } else if (may_act && !position.event_id.empty()) {
    job.request.clear();
    position.round.clear();
    send_request(job, running);
  } else {
    fail(job, lost_with_its_daemon());
    return;
  }
  watch(running);
}

bool JobRunner::adopt(Job left) {
  left.id = new_id();
  if (!store_.make_room_for(left)) {
    log_.event(LogLevel::warning, "orphan without room", "{}", no_room_for_orphan);
    return false;
  }
  const JobNumber number = left.number;
  take_over(std::move(left));
  store_.changed(*store_.find_job(number), JobChange::all);
  return true;
}

void JobRunner::restored() {
  end_of_turn_.schedule();
  if (const std::uint64_t dropped = store_.counts().not_restored; dropped > 0) {
    log_.event(LogLevel::warning, "jobs not restored",
               "{} jobs that had ended are forgotten: --jobs or --jobs-bytes is lower than it was",
               dropped);
  }
}

}  // namespace bridge
