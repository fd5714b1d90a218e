// Jobs that are tasks of the server.
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
bool JobRunner::begins_task(Job& job, Running& running, const Frame& response) {
  const auto form = form_of_task(response);
  if (!form || (*form == ServerTask::Form::legacy && job.method != "tools/call")) return false;
  auto task = read_task(task_in(response, *form));
  if (!task) {
    if (*form == ServerTask::Form::legacy) return false;
    fail(job, unreadable());
    return true;
  }
  running.task = std::make_unique<Task>();
  job.position.task_form = static_cast<std::uint64_t>(*form);
  job.position.task = task->id;
  job.position.event_id.clear();
  job.request = {};
  store_.changed(job, JobChange::position);
  task_is(job, running, std::move(*task));
  return true;
}

void JobRunner::task_is(Job& job, Running& running, ServerTask state) {
  using Status = ServerTask::Status;
  running.pause = state.poll_after;
  if (state.status == Status::working) {
    pause_job(running, running.pause);
  } else if (state.status == Status::cancelled) {
    finish_job(job, JobState::cancelled, {}, true);
  } else if (job.position.task_form == static_cast<std::uint64_t>(ServerTask::Form::legacy)) {
    // Its stream has the questions and finally the response.
    ask_task(job, running, Task::Asked::result);
  } else if (state.status == Status::input_required) {
    task_asks(job, running, state.questions);
  } else if (state.status == Status::completed) {
    finish_job(job, JobState::completed,
               result_reply("null", state.result.empty() ? "{}" : state.result), true);
  } else if (is_object(state.error)) {
    Failure failure;
    failure.error_object = std::move(state.error);
    fail(job, failure);
  } else {
    fail(job, failure_of(ErrorKind::closed, Delivered::unknown, "the task of this job has failed"));
  }
}

/// The questions that were not asked yet.
void JobRunner::task_asks(Job& job, Running& running, const std::vector<InputRequest>& questions) {
  Task& task = *running.task;
  pause_job(running, running.pause);
  for (const InputRequest& question : questions) {
    if (task.answered.insert(question.key).second)
      router_.questions().take_question(job.number, question);
  }
  if (task.answered.size() > most_questions) {
    fail_and_cancel(job, failure_of(ErrorKind::overloaded, Delivered::unknown,
                                    "the task of this job has asked too many questions"));
  }
}

void JobRunner::task_answered(Job& job, Running& running, Frame&& response) {
  Task& task = *running.task;
  const auto asked = std::exchange(task.asked, Task::Asked::nothing);
  if (response.error.present() && is_of_bridge(response.text(response.error))) {
    running.pause = std::min(running.pause * 2, longest_poll);
    pause_job(running, running.pause);
  } else if (response.error.present() || asked == Task::Asked::result) {
    end_with(job, std::move(response));
  } else if (asked == Task::Asked::answers) {
    task.answers.clear();
    pause_job(running, running.pause);
  } else if (auto state = read_task(response.text(response.result))) {
    task_is(job, running, std::move(*state));
  } else {
    fail(job, unreadable());
  }
}

void JobRunner::ask_about_task(const Job& job, Running& running) {
  ask_task(job, running, running.task->answers.empty() ? Task::Asked::state : Task::Asked::answers);
}

void JobRunner::ask_task(const Job& job, Running& running, Task::Asked what) {
  running.task->asked = what;
  running.stage = Stage::working;
  const std::string_view method = what == Task::Asked::answers  ? "tasks/update"
                                  : what == Task::Asked::result ? "tasks/result"
                                                                : "tasks/get";
  const JobRequest request{.number = job.number, .about_task = true};
  later([this, request, user = job.user,
         frame = task_request(
             job.number, method, job.position.task,
             what == Task::Asked::answers ? running.task->answers : std::vector<InputResponse>())] {
    router_.request(caller_of(user), frame, std::make_unique<JobRequest>(request));
  });
}

}  // namespace bridge
