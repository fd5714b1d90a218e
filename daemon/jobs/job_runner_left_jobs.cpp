// Jobs that another daemon has left.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "jobs/job_runner.hpp"
#include "jobs/job_text.hpp"
#include "json/frame.hpp"
#include "json/json_text.hpp"
#include "mcp/methods.hpp"

namespace bridge {
namespace {

Failure lost_with_its_daemon(Delivered delivered) {
  return failure_of(ErrorKind::closed, delivered,
                    "the bridge was restarted before the job had ended, and its answer cannot be "
                    "had any more");
}

/// For the router to know it by: nothing of it is sent.
std::string awaited_request(const Job& job) {
  return fmt::format(
      R"({{"jsonrpc":"2.0","id":{},"method":{},"params":{{"_meta":{{"progressToken":{}}}}}}})",
      value_of(job.number), quote(job.method), value_of(job.number));
}

}  // namespace

void JobRunner::take_over(UnfinishedJob left, bool may_act) {
  left.job.state = JobState::working;
  left.job.question.reset();
  Job* const job = store_.restore(std::move(left.job), left.request, left.way);
  Running& running = running_[job->number];
  running.client = client_of(job->user).identity().id;
  take_over_time(running, left.way.time);
  end_of_turn_.schedule();
  if (may_act) {
    go_on_with_left(*job, running, std::move(left));
  } else {
    fail(*job, lost_with_its_daemon(Delivered::unknown));
  }
}

void JobRunner::go_on_with_left(Job& job, Running& running, UnfinishedJob left) {
  const JobWay& way = left.way;
  if (!way.task.empty()) {
    take_over_task(job, running, way);
    return;
  }
  running.left = std::make_unique<Left>();
  running.left->request = std::move(left.request);
  const bool has_request = !running.left->request.empty();
  if (has_request && !way.round.empty() && take_over_round(job, running, way)) return;
  if (has_request && way.round.empty() && (!way.started || only_reads(job.method))) {
    send_left(job.number, running);
  } else if (!way.event_id.empty()) {
    running.left->place = ResumePoint{way.id, way.session, way.event_id};
    running.left->request = awaited_request(job);
    send_left(job.number, running);
  } else {
    fail(job, lost_with_its_daemon(Delivered::unknown));
  }
}

void JobRunner::take_over_task(Job& job, Running& running, const JobWay& way) {
  running.in_flight = true;
  running.task = std::make_unique<Task>();
  running.task->form = static_cast<ServerTask::Form>(way.task_form);
  running.task->id = way.task;
  running.task->pause = shortest_poll;
  ask_task(job.number, running, Task::Asked::state);
  watch(running);
}

/// What the upstream has asked in a result is asked again, but for what was answered.
bool JobRunner::take_over_round(Job& job, Running& running, const JobWay& way) {
  auto read = read_input_required(way.round);
  if (std::holds_alternative<std::string_view>(read)) return false;
  Left& left = *running.left;
  left.round = std::move(std::get<InputRequired>(read));
  for (const InputRequest& request : left.round.requests) {
    if (left.answers.size() < way.answers.size()) {
      left.answers.push_back({request.key, way.answers[left.answers.size()]});
    } else {
      running.questions.push_back({{}, {request.method, request.params}, request.key, {}});
    }
  }
  if (running.questions.empty()) {
    send_left(job.number, running);
  } else {
    take_over_time(running, way.time);
    watch(running);
    next_question(job, running);
  }
  return true;
}

/// `result` is empty if the answer is an error.
std::string JobRunner::answer_left(Job& job, Running& running, std::string_view result) {
  if (result.empty()) {
    fail(job, failure_of(ErrorKind::no_client, Delivered::unknown,
                         "what the server asks was answered with an error"));
    return {};
  }
  running.left->answers.push_back({running.questions.front().key, std::string(result)});
  store_.journal().job_question_answered(job, result);
  question_gone(job, running);
  if (running.questions.empty()) send_left(job.number, running);
  return {};
}

void JobRunner::send_left(JobNumber number, Running& running) {
  Left& left = *running.left;
  left.waits = false;
  running.in_flight = false;
  auto parsed = parse_frame(left.request);
  auto* frame = std::get_if<Frame>(&parsed);
  const bool is_retry = !left.round.requests.empty() || !left.round.request_state.empty();
  if (frame != nullptr && is_retry) {
    parsed = parse_frame(retry_request(*frame, std::to_string(value_of(number)), left.answers,
                                       left.round.request_state));
    frame = std::get_if<Frame>(&parsed);
  }
  if (frame == nullptr) {
    fail(*store_.find(number), lost_with_its_daemon(Delivered::unknown));
    return;
  }
  to_router_.emplace_back(running.client, std::move(*frame));
  watch(running);
  end_of_turn_.schedule();
}

bool JobRunner::waits_to_try(const Running& running) {
  return running.left != nullptr && running.left->waits;
}

/// Whether it waits until the upstream is there: what has come is only that it is not.
bool JobRunner::tries_again(Running& running, std::string_view error) {
  if (running.left == nullptr || !says_undelivered(error)) return false;
  if (find_string(find_member(error, "data").value_or(""), "kind") == name_of(ErrorKind::too_large))
    return false;
  Left& left = *running.left;
  running.in_flight = false;
  left.waits = true;
  left.due = loop_.now() + left.pause;
  left.pause = std::min(left.pause * 2, longest_poll);
  watch(running);
  return true;
}

void JobRunner::go_on_with(std::vector<KeptJob> jobs, std::vector<KeptKey> keys) {
  for (KeptJob& kept : jobs) {
    if (auto job = job_of(std::move(kept))) store_.restore(std::move(*job));
  }
  for (KeptKey& kept : keys) {
    const User user = user_of(kept);
    if (auto key = used_key_of(std::move(kept))) store_.restore(user, std::move(*key));
  }
  restored();
}

void JobRunner::restored() {
  some_have_ended_ = true;
  end_of_turn_.schedule();
  if (const std::uint64_t dropped = store_.counts().not_restored; dropped > 0) {
    log_.event(LogLevel::warning, "jobs not restored",
               "{} jobs that had ended are forgotten: --jobs or --jobs-bytes is lower than it was",
               dropped);
  }
}

}  // namespace bridge
