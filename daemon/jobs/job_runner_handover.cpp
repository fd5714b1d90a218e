// Jobs that have not ended, for another image of the program to go on with.
#include <utility>
#include <variant>

#include "jobs/job_runner.hpp"
#include "router/router_upgrade.hpp"

namespace bridge {

/// What another daemon has left and still waits to be tried is not kept.
bool JobRunner::can_be_kept(const Running& running) {
  if (running.left != nullptr && !is_sent_again(running)) return false;
  return running.task == nullptr || running.questions.empty() ||
         running.questions.front().id.empty();
}

/// Whether what another daemon has left is a request like any other by now.
bool JobRunner::is_sent_again(const Running& running) {
  return running.in_flight && !running.left->waits && running.questions.empty();
}

bool JobRunner::is_for_later(JobNumber number) const {
  const auto found = running_.find(number);
  return found != running_.end() && found->second.for_later;
}

bool JobRunner::survives_upgrade(JobNumber number) const {
  const auto found = running_.find(number);
  return found != running_.end() && found->second.task == nullptr && can_be_kept(found->second);
}

bool JobRunner::stays(JobNumber number, const Running& running) const {
  if (!can_be_kept(running)) return false;
  if (running.task != nullptr) return true;
  const std::string request = way_to(number, running).request;
  const RouterUpgrade router(router_);
  return running.in_flight ? router.survives_upgrade(running.client, request)
                           : !router.waiting_request(running.client, request).empty();
}

std::vector<KeptRunningJob> JobRunner::running_to_keep() {
  const RouterUpgrade router(router_);
  std::vector<KeptRunningJob> all;
  for (const auto& [number, running] : running_) {
    if (!stays(number, running)) continue;
    KeptRunningJob kept;
    kept.job = kept_job(*store_.find(number));
    kept.client = value_of(running.client);
    kept.in_flight = running.in_flight;
    kept.for_later = running.for_later;
    kept.in_round = running.in_round;
    const std::string raw_id = way_to(number, running).request;
    if (running.in_flight) {
      auto [id, original] = router.sent_request(running.client, raw_id);
      kept.sent_as = value_of(id);
      kept.request = std::move(original);
    } else {
      kept.request = router.waiting_request(running.client, raw_id);
    }
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
  way.id = static_cast<UpstreamId>(kept.sent_as);
  way.time.worked = std::chrono::duration_cast<std::chrono::milliseconds>(
      SteadyTime::duration(static_cast<SteadyTime::rep>(kept.worked)));
  way.time.since = on_calendar(steady_time_of(kept.since));
  way.time.asks = !kept.questions.empty();
  way.task_form = kept.task_form;
  way.task = kept.task;
  store_.restore(std::move(job), kept.request, way);
  client_of(user, static_cast<ClientId>(kept.client));
  Running& running = running_[number];
  running.client = static_cast<ClientId>(kept.client);
  running.in_flight = kept.in_flight;
  running.for_later = kept.for_later;
  running.in_round = kept.in_round;
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
  if (!kept.in_flight) {
    auto parsed = parse_frame(std::move(kept.request));
    if (auto* const request = std::get_if<Frame>(&parsed))
      to_router_.emplace_back(running.client, std::move(*request));
  }
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
