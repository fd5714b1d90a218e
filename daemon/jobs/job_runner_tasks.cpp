// Jobs that are tasks of the server.
#include <algorithm>
#include <utility>

#include "jobs/job_runner.hpp"
#include "jobs/job_text.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"

namespace bridge {
namespace {

/// A task asks no more than so often: what was answered is kept by its key.
constexpr std::size_t most_questions = 1024;

Failure unreadable() {
  return failure_of(ErrorKind::malformed, Delivered::unknown,
                    "what the server says of the task of this job cannot be understood");
}

}  // namespace

/// Whether the answer to the job's request is that it is a task now.
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
  running.task->form = *form;
  running.task->id = task->id;
  store_.journal().job_is_task(job, static_cast<std::uint64_t>(*form), task->id);
  task_is(job, running, std::move(*task));
  return true;
}

void JobRunner::task_is(Job& job, Running& running, ServerTask state) {
  using Status = ServerTask::Status;
  Task& task = *running.task;
  task.pause = state.poll_after;
  if (state.status == Status::working) {
    pause_task(running);
  } else if (state.status == Status::cancelled) {
    end(job, JobState::cancelled, {}, true);
  } else if (task.form == ServerTask::Form::legacy) {
    // Its stream has the questions, and in the end the response.
    ask_task(job.number, running, Task::Asked::result);
  } else if (state.status == Status::input_required) {
    task_asks(job, running, std::move(state.questions));
  } else if (state.status == Status::completed) {
    end(job, JobState::completed, result_reply("null", state.result.empty() ? "{}" : state.result),
        true);
  } else if (is_object(state.error)) {
    Failure failure;
    failure.error_object = std::move(state.error);
    fail(job, failure);
  } else {
    fail(job, failure_of(ErrorKind::closed, Delivered::unknown, "the task of this job has failed"));
  }
}

/// Those of the questions that were not asked yet.
void JobRunner::task_asks(Job& job, Running& running, std::vector<InputRequest> questions) {
  Task& task = *running.task;
  for (InputRequest& question : questions) {
    if (!task.answered.insert(question.key).second) continue;
    running.questions.push_back({{},
                                 {std::move(question.method), std::move(question.params)},
                                 std::move(question.key),
                                 {}});
  }
  if (task.answered.size() > most_questions) {
    const Way way = way_to(job.number, running);
    fail(job, failure_of(ErrorKind::overloaded, Delivered::unknown,
                         "the task of this job has asked too many questions"));
    cancel_request(job.number, way);
  } else if (running.questions.empty()) {
    pause_task(running);
  } else {
    stop_time(job, running);
    watch(running);
    next_question(job, running);
  }
}

/// `result` is empty if the answer is an error.
std::string JobRunner::answer_task(Job& job, Running& running, std::string_view result) {
  if (result.empty()) {
    const Way way = way_to(job.number, running);
    fail(job, failure_of(ErrorKind::no_client, Delivered::unknown,
                         "what the server asks was answered with an error"));
    cancel_request(job.number, way);
    return {};
  }
  Task& task = *running.task;
  task.answers.push_back({running.questions.front().key, std::string(result)});
  task.due = loop_.now();
  question_gone(job, running);
  return {};
}

void JobRunner::task_answered(Job& job, Running& running, Frame response) {
  Task& task = *running.task;
  const auto asked = std::exchange(task.asked, Task::Asked::nothing);
  if (response.error.present() && is_of_bridge(response.text(response.error))) {
    if (leaves_unfinished_) return;
    task.pause = std::min(task.pause * 2, longest_poll);
    pause_task(running);
  } else if (response.error.present() || asked == Task::Asked::result) {
    end_with(job, std::move(response));
  } else if (asked == Task::Asked::answers) {
    task.answers.clear();
    pause_task(running);
  } else if (auto state = read_task(response.text(response.result))) {
    task_is(job, running, std::move(*state));
  } else {
    fail(job, unreadable());
  }
}

void JobRunner::pause_task(Running& running) {
  running.task->due = loop_.now() + running.task->pause;
  watch(running);
}

void JobRunner::ask_about_task(JobNumber number, Running& running) {
  ask_task(number, running,
           running.task->answers.empty() ? Task::Asked::state : Task::Asked::answers);
}

void JobRunner::ask_task(JobNumber number, Running& running, Task::Asked what) {
  Task& task = *running.task;
  task.asked = what;
  if (what == Task::Asked::answers) {
    to_router_.emplace_back(
        running.client, task_request(number, "tasks/update", task.id, task_answers(task.answers)));
  } else {
    to_router_.emplace_back(
        running.client,
        task_request(number, what == Task::Asked::result ? "tasks/result" : "tasks/get", task.id));
  }
  end_of_turn_.schedule();
}

}  // namespace bridge
