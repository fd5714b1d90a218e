#include "jobs/job_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <utility>
#include <variant>

#include "jobs/job_text.hpp"
#include "json/json_edit.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/handshake.hpp"
#include "router/user_peer.hpp"

namespace bridge {
namespace {

/// 128 random bits: what keeps a job from others of its user's machine is its user, and what keeps
/// it from a guess is this.
std::string new_id() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

std::string without_progress_token(const std::string& params) {
  Edits edits;
  edit_members(edits, params, whole_value(params),
               [](std::string_view key) { return unescape(key) == "progressToken"; });
  return edits.made_in(params);
}

}  // namespace

JobRunner::JobRunner(EventLoop& loop, ClientIdSource& ids, Router& router, Log& log,
                     JobOptions options)
    : loop_(loop),
      ids_(ids),
      router_(router),
      log_(log),
      options_(options),
      store_(options.limits),
      clock_(loop, [this] { check_time(); }),
      forgetting_(loop, [this] { end_of_turn_.schedule(); }),
      end_of_turn_(loop, [this] { settle(); }) {}

void JobRunner::reconfigure(const JobOptions& options) {
  options_.request_max = options.request_max;
  for (const auto& [number, running] : running_) watch(running);
}

// What begins.

JobClient& JobRunner::client_of(const User& user, std::optional<ClientId> known) {
  std::unique_ptr<JobClient>& client = clients_[user];
  if (client == nullptr) {
    JobClientEvents& events = *this;
    client = std::make_unique<JobClient>(known ? *known : ids_.next(), user, loop_.now(), events);
    router_.client_connected(*client);
  }
  return *client;
}

Job JobRunner::describe(std::string method, const User& user, JobNumber number) const {
  Job job;
  job.id = new_id();
  job.number = number;
  job.user = user;
  job.method = std::move(method);
  job.created = loop_.wall_time();
  job.keep = options_.limits.ttl;
  return job;
}

Job JobRunner::describe(std::string method, const Client& by, JobNumber number) const {
  Job job = describe(std::move(method), by.user, number);
  job.pid = by.channel.identity().pid;
  job.command = shortened(by.channel.command());
  return job;
}

Job JobRunner::new_job(std::string method, const User& user, pid_t pid, std::string command) {
  Job job = describe(std::move(method), user, store_.next_number());
  job.pid = pid;
  job.command = std::move(command);
  return job;
}

Job* JobRunner::submit(SubmittedRequest submitted, JobNumber number, const Client& by) {
  Job job = describe(submitted.request.method, by, number);
  job.tool = std::move(submitted.tool);
  job.key = std::move(submitted.key);
  job.digest = submitted.digest;
  job.holds_key = !job.key.empty();
  job.keep = submitted.keep.value_or(job.keep);
  // Another daemon that sends it does not know the server's tools. One that has no tasks by then
  // does not look at that (MCP 2025-11-25, "Tasks: Task Support and Handling").
  const Frame durable = router_.with_task(submitted.request);
  Job* const added = store_.add(std::move(job), durable.bytes);
  if (added == nullptr) return nullptr;
  Running running;
  running.client = client_of(by.user).identity().id;
  running.since = loop_.now();
  running.for_later = submitted.for_later;
  running.peer = by.channel.identity().peer();
  store_.journal().job_is_of(*added, *running.peer);
  to_router_.emplace_back(running.client, std::move(submitted.request));
  running_.emplace(number, std::move(running));
  end_of_turn_.schedule();
  return added;
}

Client* JobRunner::adopt(const Client& former, UpstreamId id, PendingRequest& request) {
  const bool is_somebodys = !former.is_job && !former.is_bridge;
  if (!is_somebodys || !can_be_job(request.method)) return nullptr;
  const JobNumber number = store_.next_number();
  Job job = describe(request.method, former, number);
  JobWay way;
  way.started = true;
  way.id = id;
  way.time.since = on_calendar(request.sent);
  const Job* const added = store_.add(std::move(job), {}, way);
  if (added == nullptr) {
    log_.peer(LogLevel::warning, "orphan without room", {.client = former.id()},
              "a request of a client that has left could not be kept: --jobs or --jobs-bytes is "
              "used up");
    return nullptr;
  }
  Running running;
  running.client = client_of(former.user).identity().id;
  running.since = request.sent;
  running.in_flight = true;
  running.peer = former.channel.identity().peer();
  store_.journal().job_is_of(*added, *running.peer);
  request.client_request_id = std::to_string(value_of(number));
  if (!request.progress_token.empty()) request.progress_token = request.client_request_id;
  const Running& kept = running_.emplace(number, std::move(running)).first->second;
  watch(kept);
  return router_.clients().find(kept.client);
}

void JobRunner::job_starting(JobNumber number, UpstreamId id) {
  const auto found = running_.find(number);
  if (found == running_.end()) return;
  Running& running = found->second;
  // The time of one that was sent again goes on.
  if (!running.in_flight && !running.left) running.since = loop_.now();
  running.in_flight = true;
  running.in_round = false;
  note_time(*store_.find(number), running, false);
  store_.journal().job_started(*store_.find(number), id);
  watch(running);
}

std::optional<Submitter> JobRunner::submitter(JobNumber number) {
  const auto found = running_.find(number);
  const Job* const job = found != running_.end() ? store_.find(number) : nullptr;
  if (job == nullptr) return std::nullopt;
  std::optional<Peer>& peer = found->second.peer;
  if (!peer) peer = peer_of(job->user);
  return Submitter{*peer, job->pid, job->command, job->id};
}

std::optional<ResumePoint> JobRunner::resume_point(JobNumber number) const {
  const auto found = running_.find(number);
  return found == running_.end() || !found->second.left ? std::nullopt : found->second.left->place;
}

void JobRunner::job_asked(JobNumber number, std::string_view result) {
  const auto found = running_.find(number);
  if (found == running_.end()) return;
  found->second.in_round = true;
  store_.journal().job_asked(*store_.find(number), result);
}

// What comes.

void JobRunner::job_heard(const ClientChannel& client, JobNumber number, Kind kind,
                          std::string frame) {
  Heard heard{client.identity().id, number, kind, {}, {}};
  if (kind == Kind::about) {
    auto parsed = parse_frame(std::move(frame));
    if (std::holds_alternative<FrameFault>(parsed)) return;
    heard.about = std::move(std::get<Frame>(parsed));
    const Job* const job = heard.about->is_request() ? store_.find(number) : nullptr;
    if (job != nullptr && !is_end(job->state)) store_.journal().job_questioned(*job);
  } else {
    heard.response = std::move(frame);
  }
  heard_.push_back(std::move(heard));
  end_of_turn_.schedule();
}

void JobRunner::settle() {
  while (true) {
    if (!to_router_.empty()) {
      auto [client, frame] = std::move(to_router_.front());
      to_router_.pop_front();
      router_.client_message(client, std::move(frame));
    } else if (!heard_.empty()) {
      Heard heard = std::move(heard_.front());
      heard_.pop_front();
      take(std::move(heard));
    } else if (!given_back_.empty()) {
      const auto [client, question] = std::move(given_back_.back());
      given_back_.pop_back();
      router_.give_question_back(question, client);
    } else if (!settled_.empty()) {
      const JobNumber number = settled_.back();
      settled_.pop_back();
      if (const Job* job = store_.find(number)) watcher_->job_settled(*job);
    } else {
      break;
    }
  }
  drop_idle_clients();
  if (const auto next = store_.expire(loop_.now())) forgetting_.set_at_latest(*next);
}

void JobRunner::take(Heard heard) {
  Job* const job = store_.find(heard.number);
  const bool is_over = job == nullptr || is_end(job->state);
  if (heard.kind == Kind::no_answer) {
    some_have_ended_ = some_have_ended_ || is_over;
    if (!is_over) end(*job, JobState::cancelled, {}, true);
    return;
  }
  if (heard.kind == Kind::answer) {
    some_have_ended_ = some_have_ended_ || is_over;  // a task's that was cancelled
    if (!is_over) answered(*job, std::move(heard.response));
    return;
  }
  const Frame& frame = *heard.about;
  if (frame.is_request()) {
    asked(heard, frame);
  } else if (frame.method == "notifications/cancelled") {
    withdrawn(frame);
  } else if (is_over) {
    return;
  } else if (frame.method == "notifications/progress") {
    progressed(*job, frame);
  } else {
    watcher_->job_told(*job, frame);
  }
}

void JobRunner::answered(Job& job, std::string response) {
  auto parsed = parse_frame(std::move(response));
  auto* const frame = std::get_if<Frame>(&parsed);
  if (frame == nullptr || !frame->is_response()) {
    fail(job, failure_of(ErrorKind::malformed, Delivered::unknown, "the answer cannot be read"));
    return;
  }
  Running& running = running_.at(job.number);
  if (frame->error.present() && running.task == nullptr) {
    const std::string_view error = frame->text(frame->error);
    if (leaves_unfinished_ && is_of_bridge(error)) return;
    if (tries_again(running, error)) return;
  }
  if (running.task != nullptr) {
    task_answered(job, running, std::move(*frame));
  } else if (!begins_task(job, running, *frame)) {
    end_with(job, std::move(*frame));
  }
}

void JobRunner::end_with(Job& job, Frame response) {
  const bool is_error = response.error.present();
  const bool delivered = !is_error || !says_undelivered(response.text(response.error));
  splice(response.bytes, {response.id, "null"});
  end(job, is_error ? JobState::failed : JobState::completed, std::move(response.bytes), delivered);
}

void JobRunner::progressed(Job& job, const Frame& notification) {
  const std::string params =
      without_progress_token(std::string(notification.text(notification.params)));
  store_.set_progress(job, params);
  watcher_->job_progress(job, params);
}

/// A user who has no more jobs that go on is no client.
void JobRunner::drop_idle_clients() {
  if (!std::exchange(some_have_ended_, false)) return;
  for (auto at = clients_.begin(); at != clients_.end();) {
    const ClientId id = at->second->identity().id;
    const Client* const client = router_.clients().find(id);
    const bool is_busy =
        client != nullptr && (!client->in_flight.empty() || !client->waiting.empty());
    const bool is_needed = std::any_of(running_.begin(), running_.end(), [id](const auto& entry) {
      return entry.second.client == id;
    });
    if (is_needed || is_busy) {
      ++at;
      continue;
    }
    router_.client_left(id);
    loop_.reap(std::move(at->second));
    at = clients_.erase(at);
  }
}

// How jobs end, and when.

void JobRunner::end(Job& job, JobState state, std::string response, bool delivered) {
  const JobNumber number = job.number;
  const auto found = running_.find(number);
  if (found->second.with_watcher) watcher_->question_over(job);
  // It may have been about another request; one that was not is gone by then.
  for (Question& question : found->second.questions) {
    if (!question.id.empty()) given_back_.emplace_back(question.told_to, std::move(question.id));
  }
  running_.erase(found);
  if (AuditTrail* const audit = router_.audit()) audit->job_ended(job.id, response);
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

// What the upstream asks about jobs.

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
