#include "jobs/job_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <utility>
#include <variant>

#include "jobs/job_text.hpp"
#include "json/json_edit.hpp"
#include "json/json_text.hpp"

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

}  // namespace bridge
