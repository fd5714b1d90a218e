// What the upstream asks about jobs.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "jobs/job_runner.hpp"
#include "jobs/job_text.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"

namespace bridge {
namespace {

/// Which task a question says that it belongs to, raw JSON; empty: none (MCP 2025-11-25, "Tasks:
/// Related Task Metadata").
std::string_view related_task(const Frame& question) {
  const std::string_view meta = question.text(question.meta);
  const auto related = find_member(meta, "io.modelcontextprotocol/related-task");
  return find_member(related.value_or(""), "taskId").value_or("");
}

constexpr std::string_view cancelled_by_user = R"({"action":"cancel"})";

}  // namespace

std::optional<JobNumber> JobRunner::with_task(std::string_view raw_task_id) const {
  if (raw_task_id.empty()) return std::nullopt;
  const auto found =
      std::find_if(running_.begin(), running_.end(), [raw_task_id](const auto& entry) {
        const Task* const task = entry.second.task.get();
        return task != nullptr && same_id(task->id, raw_task_id);
      });
  return found == running_.end() ? std::nullopt : std::optional(found->first);
}

bool JobRunner::can_take_question(const ClientChannel& client) const {
  return oldest_in_flight(client.identity().id).has_value();
}

std::optional<JobNumber> JobRunner::oldest_in_flight(ClientId client) const {
  const auto found = std::find_if(running_.begin(), running_.end(), [client](const auto& entry) {
    return entry.second.client == client && entry.second.in_flight;
  });
  return found == running_.end() ? std::nullopt : std::optional(found->first);
}

/// One that says of no request that it is about it is about the task that it names, or is taken for
/// one about the oldest.
void JobRunner::asked(Heard& heard, const Frame& question) {
  const std::string_view id = question.text(question.id);
  if (heard.number == JobNumber{}) {
    auto number = with_task(related_task(question));
    if (!number) number = oldest_in_flight(heard.client);
    heard.number = number.value_or(JobNumber{});
  }
  const auto found = running_.find(heard.number);
  if (found == running_.end()) {
    auto refusal = parse_frame(error_reply(id, json_rpc::method_not_found, "the job has ended"));
    to_router_.emplace_back(heard.client, std::move(std::get<Frame>(refusal)));
    return;
  }
  Running& running = found->second;
  running.questions.push_back({std::string(id),
                               {question.method, std::string(question.text(question.params))},
                               {},
                               heard.client});
  if (running.questions.size() > 1) return;
  stop_time(*store_.find(heard.number), running);
  router_.set_waits_for_answer(running.client, way_to(heard.number, running).request, true);
  Job& job = *store_.find(heard.number);
  watch(running);
  next_question(job, running);
}

/// REQUIRES: there is one.
void JobRunner::next_question(Job& job, Running& running) {
  running.with_watcher = watcher_->job_asks(job, running.questions.front().asked);
  if (!running.with_watcher) keep_question(job, running);
}

void JobRunner::keep_question(Job& job, Running& running) {
  if (store_.ask(job, running.questions.front().asked)) {
    settled_.push_back(job.number);
    end_of_turn_.schedule();
    return;
  }
  const Way way = way_to(job.number, running);
  fail(job, failure_of(ErrorKind::too_large, Delivered::unknown,
                       "what the upstream asks does not fit into --jobs-bytes"));
  cancel_request(job.number, way);
}

std::string JobRunner::answer(Job& job, std::string_view result, std::string_view error,
                              std::string_view answered) {
  const auto found = running_.find(job.number);
  if (found == running_.end() || found->second.questions.empty())
    return "Invalid params: nothing is asked about this job now";
  Running& running = found->second;
  const Question& question = running.questions.front();
  if (!answered.empty() && answered != question_id(question.asked))
    return "Invalid params: this question is not asked any more: another one is";
  // An elicitation can be cancelled; a server cannot make anything of an error to one.
  if (result.empty() && question.asked.method == "elicitation/create") result = cancelled_by_user;
  if (question.id.empty()) {
    return running.task != nullptr ? answer_task(job, running, result)
                                   : answer_left(job, running, result);
  }
  auto response = parse_frame(
      result.empty() ? fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{}}})", question.id, error)
                     : result_reply(question.id, result));
  auto* const frame = std::get_if<Frame>(&response);
  if (frame == nullptr || !frame->is_response())
    return "Invalid params: the answer is no valid result or error";
  to_router_.emplace_back(question.told_to, std::move(*frame));
  if (running.in_round && !result.empty()) store_.journal().job_question_answered(job, result);
  question_gone(job, running);
  end_of_turn_.schedule();
  return {};
}

/// The first question is answered, or need not be.
void JobRunner::question_gone(Job& job, Running& running) {
  running.questions.pop_front();
  if (std::exchange(running.with_watcher, false)) watcher_->question_over(job);
  store_.go_on(job);
  running.since = loop_.now();
  if (!running.questions.empty()) {
    note_time(job, running, true);
    next_question(job, running);
  } else {
    begin_time(job, running);
    router_.set_waits_for_answer(running.client, way_to(job.number, running).request, false);
    watch(running);
  }
}

void JobRunner::withdrawn(const Frame& notification) {
  const std::string_view id = notification.text(notification.request_id);
  for (auto& [number, running] : running_) {
    auto& questions = running.questions;
    const auto found = std::find_if(questions.begin(), questions.end(),
                                    [id](const Question& one) { return one.id == id; });
    if (found == questions.end()) continue;
    if (found != questions.begin()) {
      questions.erase(found);
    } else {
      question_gone(*store_.find(number), running);
    }
    return;
  }
}

void JobRunner::ask_again(Job& job) {
  const auto found = running_.find(job.number);
  if (found == running_.end() || !found->second.with_watcher) return;
  next_question(job, found->second);
}

void JobRunner::note_declined(const Job& job, ClientId by) {
  const auto found = running_.find(job.number);
  if (found != running_.end() && !found->second.questions.empty())
    router_.note_declined(found->second.questions.front().id, by);
}

bool JobRunner::was_declined(const Job& job, ClientId by) const {
  const auto found = running_.find(job.number);
  return found != running_.end() && !found->second.questions.empty() &&
         router_.was_declined(found->second.questions.front().id, by);
}

void JobRunner::offer(Job& job) {
  const auto found = running_.find(job.number);
  if (found == running_.end() || job.state != JobState::input_required) return;
  Running& running = found->second;
  running.with_watcher = watcher_->job_asks(job, running.questions.front().asked);
  if (running.with_watcher) store_.go_on(job);
}

bool JobRunner::is_asked(JobNumber number) const {
  const auto found = running_.find(number);
  return found != running_.end() && !found->second.questions.empty();
}

}  // namespace bridge
