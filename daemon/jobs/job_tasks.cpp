#include "jobs/job_tasks.hpp"

#include <algorithm>
#include <utility>

#include "jobs/job_runner.hpp"
#include "jobs/job_text.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"

namespace bridge {
namespace {

/// The most questions that a task may ask, since each answer is saved by its key.
constexpr std::size_t most_questions = 1024;

Failure unreadable() {
  return failure_of(ErrorKind::malformed, Delivered::unknown,
                    "the server's response about the task of this job is malformed");
}

}  // namespace

/// Whether the response to the job's request says that it is now a task.
bool JobTasks::begins_task(Job& job, RunningJob& running, const Frame& response) {
  const auto form = form_of_task(response);
  if (!form || (*form == ServerTask::Form::legacy && job.method != "tools/call")) return false;
  auto task = read_task(task_in(response, *form));
  if (!task) {
    if (*form == ServerTask::Form::legacy) return false;
    jobs_.fail(job, unreadable());
    return true;
  }
  running.task = std::make_unique<JobTask>();
  job.position.task_form = static_cast<std::uint64_t>(*form);
  job.position.task = task->id;
  job.position.event_id.clear();
  job.request = {};
  jobs_.store_.changed(job, JobChange::position);
  task_is(job, running, std::move(*task));
  return true;
}

void JobTasks::task_is(Job& job, RunningJob& running, ServerTask state) {
  using Status = ServerTask::Status;
  running.pause = state.poll_after;
  if (state.status == Status::working) {
    jobs_.pause_job(running, running.pause);
  } else if (state.status == Status::cancelled) {
    jobs_.finish_job(job, JobState::cancelled, {}, true);
  } else if (job.position.task_form == static_cast<std::uint64_t>(ServerTask::Form::legacy)) {
    // Its stream has the questions and finally the response.
    ask_task(job, running, JobTask::Asked::result);
  } else if (state.status == Status::input_required) {
    task_asks(job, running, state.questions);
  } else if (state.status == Status::completed) {
    jobs_.finish_job(job, JobState::completed,
                     result_reply("null", state.result.empty() ? "{}" : state.result), true);
  } else if (is_object(state.error)) {
    Failure failure;
    failure.error_object = std::move(state.error);
    jobs_.fail(job, failure);
  } else {
    jobs_.fail(
        job, failure_of(ErrorKind::closed, Delivered::unknown, "the task of this job has failed"));
  }
}

/// The questions that were not asked yet.
void JobTasks::task_asks(Job& job, RunningJob& running,
                         const std::vector<InputRequest>& questions) {
  JobTask& task = *running.task;
  jobs_.pause_job(running, running.pause);
  for (const InputRequest& question : questions) {
    if (task.answered.insert(question.key).second)
      jobs_.router_.questions().take_question(job.number, question);
  }
  if (task.answered.size() > most_questions) {
    jobs_.fail_and_cancel(job, failure_of(ErrorKind::overloaded, Delivered::unknown,
                                          "the task of this job has asked too many questions"));
  }
}

void JobTasks::task_answered(Job& job, RunningJob& running, Frame&& response) {
  JobTask& task = *running.task;
  const auto asked = std::exchange(task.asked, JobTask::Asked::nothing);
  if (response.error.present() && is_of_bridge(response.text(response.error))) {
    running.pause = std::min(running.pause * 2, longest_poll);
    jobs_.pause_job(running, running.pause);
  } else if (response.error.present() || asked == JobTask::Asked::result) {
    jobs_.end_with(job, std::move(response));
  } else if (asked == JobTask::Asked::answers) {
    task.answers.clear();
    jobs_.pause_job(running, running.pause);
  } else if (auto state = read_task(response.text(response.result))) {
    task_is(job, running, std::move(*state));
  } else {
    jobs_.fail(job, unreadable());
  }
}

void JobTasks::ask_about_task(const Job& job, RunningJob& running) {
  ask_task(job, running,
           running.task->answers.empty() ? JobTask::Asked::state : JobTask::Asked::answers);
}

void JobTasks::ask_task(const Job& job, RunningJob& running, JobTask::Asked what) {
  running.task->asked = what;
  running.stage = RunningJob::Stage::working;
  const std::string_view method = what == JobTask::Asked::answers  ? "tasks/update"
                                  : what == JobTask::Asked::result ? "tasks/result"
                                                                   : "tasks/get";
  const JobRequest request{.number = job.number, .about_task = true};
  jobs_.later(
      [this, request, user = job.user,
       frame = task_request(job.number, method, job.position.task,
                            what == JobTask::Asked::answers ? running.task->answers
                                                            : std::vector<InputResponse>())] {
        jobs_.router_.others().request(jobs_.caller_of(user), frame,
                                       std::make_unique<JobRequest>(request));
      });
}

}  // namespace bridge
