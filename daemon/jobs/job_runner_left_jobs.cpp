// Jobs that another process has left: a daemon before this one, or in an upgrade the previous
// process.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <variant>

#include "jobs/job_runner.hpp"
#include "jobs/job_text.hpp"
#include "json/frame.hpp"
#include "json/json_text.hpp"
#include "mcp/methods.hpp"
#include "router/router_upgrade.hpp"
#include "state/archive.hpp"

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
  running.peer = std::move(left.peer);
  take_over_time(running, left.way.time);
  if (running.peer) store_.journal().job_is_of(*job, *running.peer);
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
  const auto kind = find_string(find_member(error, "data").value_or(""), "kind");
  if (kind == name_of(ErrorKind::too_large) || kind == name_of(ErrorKind::denied)) return false;
  Left& left = *running.left;
  running.in_flight = false;
  left.waits = true;
  left.due = loop_.now() + left.pause;
  left.pause = std::min(left.pause * 2, longest_poll);
  watch(running);
  return true;
}

void JobRunner::restore_ended(std::vector<Job>&& jobs,
                              std::vector<std::pair<User, UsedKey>>&& keys) {
  for (Job& job : jobs) {
    if (is_end(job.state)) store_.restore(std::move(job));
  }
  for (auto& [user, key] : keys) {
    if (is_end(key.state)) store_.restore(user, std::move(key));
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

/// What another daemon has left and still waits to be tried is not saved.
bool JobRunner::can_be_saved(const Running& running) {
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
  return found != running_.end() && found->second.task == nullptr && can_be_saved(found->second);
}

bool JobRunner::stays(JobNumber number, const Running& running) const {
  if (!can_be_saved(running)) return false;
  if (running.task != nullptr) return true;
  const std::string request = way_to(number, running).request;
  const RouterUpgrade router(router_);
  return running.in_flight ? router.survives_upgrade(running.client, request)
                           : !router.waiting_request(running.client, request).empty();
}

JobRunner::Saved JobRunner::save() {
  Saved saved;
  store_.each_newest_first([&saved](const Job& job) {
    if (is_end(job.state)) saved.ended.push_back(job);
    return true;
  });
  std::stable_sort(saved.ended.begin(), saved.ended.end(),
                   [](const Job& a, const Job& b) { return a.ended < b.ended; });
  store_.each_used_key(
      [&saved](const User& user, const UsedKey& key) { saved.keys.emplace_back(user, key); });
  const RouterUpgrade router(router_);
  for (const auto& [number, running] : running_) {
    if (!stays(number, running)) continue;
    SavedJob& one = saved.running.emplace_back();
    one.job = *store_.find(number);
    one.running = Archive::copy(running);
    const std::string raw_id = way_to(number, running).request;
    if (running.in_flight) {
      std::tie(one.sent_as, one.request) = router.sent_request(running.client, raw_id);
    } else {
      one.request = router.waiting_request(running.client, raw_id);
    }
  }
  return saved;
}

void JobRunner::restore_running(std::vector<SavedJob> jobs) {
  for (SavedJob& job : jobs) restore(std::move(job));
}

void JobRunner::restore(SavedJob saved) {
  const JobNumber number = saved.job.number;
  const User user = saved.job.user;
  saved.job.state = JobState::working;
  saved.job.question.reset();
  Running& running = running_[number] = std::move(saved.running);
  for (Question& question : running.questions) question.told_to = running.client;
  JobWay way;
  way.started = running.in_flight;
  way.id = saved.sent_as;
  way.time.worked = std::chrono::duration_cast<std::chrono::milliseconds>(running.worked);
  way.time.since = on_calendar(running.since);
  way.time.asks = !running.questions.empty();
  if (running.task) {
    way.task_form = static_cast<std::uint64_t>(running.task->form);
    way.task = running.task->id;
    running.task->pause = shortest_poll;
    pause_task(running);
  }
  store_.restore(std::move(saved.job), saved.request, way);
  client_of(user, running.client);
  if (!running.in_flight) {
    auto parsed = parse_frame(std::move(saved.request));
    if (auto* const request = std::get_if<Frame>(&parsed))
      to_router_.emplace_back(running.client, std::move(*request));
  }
  watch(running);
  end_of_turn_.schedule();
}

void JobRunner::requests_restored() {
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
