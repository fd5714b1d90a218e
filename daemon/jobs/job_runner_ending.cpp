// How jobs end, and when.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "jobs/job_runner.hpp"
#include "json/reply.hpp"
#include "mcp/handshake.hpp"

namespace bridge {

void JobRunner::end(Job& job, JobState state, std::string response, bool delivered) {
  const JobNumber number = job.number;
  const auto found = running_.find(number);
  if (found->second.with_watcher) watcher_->question_over(job);
  // It may have been about another request; one that was not is gone by then.
  for (Question& question : found->second.questions) {
    if (!question.id.empty()) given_back_.emplace_back(question.told_to, std::move(question.id));
  }
  running_.erase(found);
  some_have_ended_ = true;
  if (!store_.end(job, state, std::move(response), delivered, loop_.now())) {
    store_.end(job, JobState::failed,
               error_reply("null", failure_of(ErrorKind::too_large, Delivered::unknown,
                                              "the answer does not fit into --jobs-bytes")),
               true, loop_.now());
  }
  settled_.push_back(number);
  end_of_turn_.schedule();
}

void JobRunner::fail(Job& job, const Failure& failure) {
  end(job, JobState::failed, error_reply("null", failure), failure.delivered != Delivered::no);
}

void JobRunner::end_unfinished() {
  std::vector<JobNumber> unfinished;
  for (const auto& [number, running] : running_) {
    if (!stays(number, running)) unfinished.push_back(number);
  }
  for (const JobNumber number : unfinished) {
    const Running& running = running_.at(number);
    const bool was_sent = running.in_flight || running.task != nullptr || running.left != nullptr;
    fail(*store_.find(number),
         failure_of(ErrorKind::closed, was_sent ? Delivered::unknown : Delivered::no,
                    "the bridge was upgraded before the job had ended"));
  }
}

void JobRunner::cancel(Job& job) {
  const JobNumber number = job.number;
  const Way way = way_to(number, running_.at(number));
  end(job, JobState::cancelled, {}, true);
  cancel_request(number, way);
}

JobRunner::Way JobRunner::way_to(JobNumber number, const Running& running) const {
  if (running.task == nullptr) return {running.client, std::to_string(value_of(number)), {}};
  return {running.client, task_request_id(number), running.task->id};
}

void JobRunner::cancel_request(JobNumber number, const Way& way) {
  auto notification = parse_frame(own_notification(
      "notifications/cancelled",
      fmt::format(R"({{"requestId":{},"reason":"the job was cancelled"}})", way.request)));
  to_router_.emplace_back(way.client, std::move(std::get<Frame>(notification)));
  if (!way.task.empty())
    to_router_.emplace_back(way.client, task_request(number, "tasks/cancel", way.task));
  end_of_turn_.schedule();
}

/// It works from now on.
void JobRunner::begin_time(const Job& job, Running& running) {
  running.since = loop_.now();
  note_time(job, running, false);
}

/// It waits for an answer from now on.
void JobRunner::stop_time(const Job& job, Running& running) {
  running.worked += loop_.now() - running.since;
  running.since = loop_.now();
  note_time(job, running, true);
}

void JobRunner::note_time(const Job& job, const Running& running, bool asks) {
  store_.journal().job_time(job,
                            {std::chrono::duration_cast<std::chrono::milliseconds>(running.worked),
                             on_calendar(running.since), asks});
}

WallTime JobRunner::on_calendar(SteadyTime time) const {
  return loop_.wall_time() + std::chrono::duration_cast<WallTime::duration>(time - loop_.now());
}

/// Of one that another daemon has left. The calendar may have been set meanwhile.
void JobRunner::take_over_time(Running& running, const JobTime& time) const {
  constexpr WallTime::duration longest = std::chrono::hours(24 * 366 * 100);
  running.worked = time.worked;
  running.since = loop_.now();
  if (time.since == WallTime()) return;
  const auto ago = std::clamp(loop_.wall_time() - time.since, WallTime::duration::zero(), longest);
  // What was asked on a stream comes again; what stands in a result has waited since then.
  if (!time.asks || !running.questions.empty()) running.since -= ago;
}

SteadyTime JobRunner::due(const Running& running) const {
  if (!running.questions.empty()) return running.since + options_.limits.ttl;
  // What has not been started waits for a place, which comes, or for a session, and not for long.
  const bool is_working = running.in_flight || running.left != nullptr;
  if (!is_working || options_.request_max.count() == 0) return SteadyTime::max();
  return running.since + options_.request_max - running.worked;
}

/// Whether it is time, or will be, to ask about its task.
bool JobRunner::is_between_polls(const Running& running) {
  return running.task != nullptr && running.task->asked == Task::Asked::nothing &&
         running.questions.empty();
}

void JobRunner::watch(const Running& running) {
  SteadyTime then = due(running);
  if (is_between_polls(running)) then = std::min(then, running.task->due);
  if (waits_to_try(running)) then = std::min(then, running.left->due);
  if (then != SteadyTime::max()) clock_.set_at_latest(then);
}

void JobRunner::check_time() {
  const SteadyTime now = loop_.now();
  std::vector<JobNumber> late;
  for (auto& [number, running] : running_) {
    if (due(running) <= now) {
      late.push_back(number);
      continue;
    }
    if (is_between_polls(running) && running.task->due <= now) ask_about_task(number, running);
    if (waits_to_try(running) && running.left->due <= now) send_left(number, running);
    watch(running);
  }
  for (const JobNumber number : late) {
    const Running& running = running_.at(number);
    const Way way = way_to(number, running);
    fail(*store_.find(number),
         failure_of(ErrorKind::timeout, Delivered::unknown,
                    running.questions.empty()
                        ? "the job has worked for longer than --request-max"
                        : "what the upstream asks was not answered within --job-ttl"));
    cancel_request(number, way);
  }
}

}  // namespace bridge
