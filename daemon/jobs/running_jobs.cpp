// Jobs that have not ended, for another image of the program to go on with.
#include <utility>
#include <variant>

#include "jobs/job_runner.hpp"

namespace bridge {

/// What another daemon has left and still waits to be tried, and what was asked in a result that
/// the router goes by, is not kept.
bool JobRunner::can_be_kept(const Running& running) {
  if (running.left != nullptr || running.in_round) return false;
  return running.task == nullptr || running.questions.empty() ||
         running.questions.front().id.empty();
}

bool JobRunner::goes_along(JobNumber number) const {
  const auto found = running_.find(number);
  return found != running_.end() && found->second.task == nullptr && can_be_kept(found->second);
}

bool JobRunner::stays(JobNumber number, const Running& running) const {
  if (!can_be_kept(running)) return false;
  if (running.task != nullptr) return true;
  const std::string request = way_to(number, running).request;
  return running.in_flight ? router_.goes_along(running.client, request)
                           : !router_.waiting_request(running.client, request).empty();
}

std::vector<KeptRunningJob> JobRunner::running_to_keep() {
  std::vector<KeptRunningJob> all;
  for (const auto& [number, running] : running_) {
    if (!stays(number, running)) continue;
    KeptRunningJob kept;
    kept.job = kept_job(*store_.find(number));
    kept.client = value_of(running.client);
    kept.in_flight = running.in_flight;
    if (!running.in_flight)
      kept.request = router_.waiting_request(running.client, way_to(number, running).request);
    if (running.task != nullptr) {
      kept.task_form = static_cast<std::uint64_t>(running.task->form);
      kept.task = running.task->id;
      for (const InputResponse& answer : running.task->answers)
        kept.answers.push_back({answer.key, answer.result});
      kept.answered.assign(running.task->answered.begin(), running.task->answered.end());
    }
    for (const Question& question : running.questions) {
      kept.questions.push_back(
          {question.id, question.asked.method, question.asked.params, question.key});
    }
    kept.since = ticks_of(running.since);
    kept.worked = static_cast<std::uint64_t>(running.worked.count());
    all.push_back(std::move(kept));
  }
  return all;
}

void JobRunner::go_on_with(KeptRunningJob kept) {
  const auto number = static_cast<JobNumber>(kept.job.number);
  Job job = unfinished_job_of(std::move(kept.job));
  const User user = job.user;
  JobWay way;
  way.started = kept.in_flight;
  way.task_form = kept.task_form;
  way.task = kept.task;
  if (store_.restore(std::move(job), kept.request, way) == nullptr) return;
  client_of(user, static_cast<ClientId>(kept.client));
  Running& running = running_[number];
  running.client = static_cast<ClientId>(kept.client);
  running.in_flight = kept.in_flight;
  running.since = steady_time_of(kept.since);
  running.worked = SteadyTime::duration(static_cast<SteadyTime::rep>(kept.worked));
  if (!kept.task.empty()) {
    running.task = std::make_unique<Task>();
    running.task->form = static_cast<ServerTask::Form>(kept.task_form);
    running.task->id = std::move(kept.task);
    for (KeptRunningJob::Answer& answer : kept.answers)
      running.task->answers.push_back({std::move(answer.key), std::move(answer.result)});
    running.task->answered.insert(kept.answered.begin(), kept.answered.end());
    running.task->pause = shortest_poll;
    pause_task(running);
  }
  for (KeptRunningJob::Question& question : kept.questions) {
    running.questions.push_back({std::move(question.id),
                                 {std::move(question.method), std::move(question.params)},
                                 std::move(question.key),
                                 running.client});
  }
  auto parsed = parse_frame(std::move(kept.request));
  if (auto* const request = std::get_if<Frame>(&parsed))
    to_router_.emplace_back(running.client, std::move(*request));
  watch(running);
  end_of_turn_.schedule();
}

void JobRunner::requests_go_on() {
  std::vector<JobNumber> asked;
  for (const auto& [number, running] : running_) {
    if (!running.questions.empty() && running.left == nullptr) asked.push_back(number);
  }
  for (const JobNumber number : asked) {
    Running& running = running_.at(number);
    if (running.task == nullptr)
      router_.set_waits_for_answer(running.client, way_to(number, running).request, true);
    keep_question(*store_.find(number), running);
  }
}

}  // namespace bridge
