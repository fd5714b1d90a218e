#include "jobs/job_waiters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "jobs/job_text.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/handshake.hpp"

namespace bridge {
namespace {

/// The job's response under the id of its original request. `job` is null if it is forgotten.
std::string delivered_response(const Job* job, std::string_view request_id) {
  const auto id = job != nullptr ? find_member(job->response, "id") : std::nullopt;
  if (id) {
    std::string response = job->response;
    const auto at = static_cast<std::size_t>(id->data() - job->response.data());
    return response.replace(at, id->size(), request_id);
  }
  return error_reply(request_id, failure_of(ErrorKind::closed, Delivered::unknown,
                                            "the job of this request was cancelled"));
}

}  // namespace

JobWaiters::JobWaiters(EventLoop& loop, JobRunner& runner, const Clients& clients)
    : loop_(loop), runner_(runner), clients_(clients), clock_(loop, [this] { tell_due(); }) {
  runner.set_waiters(*this);
}

template <class Select>
std::vector<JobWaiters::All::iterator> JobWaiters::select(Select&& is_one) {
  std::vector<All::iterator> chosen;
  for (auto at = all_.begin(); at != all_.end(); ++at) {
    if (is_one(at->second)) chosen.push_back(at);
  }
  return chosen;
}

std::vector<JobWaiters::All::iterator> JobWaiters::of(const Client& client) {
  return select([&client](const WaitingCollect& one) { return one.client == client.id(); });
}

bool JobWaiters::has_room_for(const Client& client) const {
  const auto waiting = std::count_if(all_.begin(), all_.end(), [&client](const auto& entry) {
    return entry.second.client == client.id() && !entry.second.delivers;
  });
  return static_cast<std::size_t>(waiting) < max_of_client;
}

void JobWaiters::add_waiter(const Client& client, const Frame& request, Job& job,
                            const Collect& collect, Control::Reply reply) {
  WaitingCollect collector{collect};
  collector.client = client.id();
  collector.request_id = request.text(request.id);
  collector.progress_token = request.text(request.progress_token);
  collector.may_be_asked = Client::can_be_asked_meanwhile(request);
  collector.until = collect.delivers ? SteadyTime::max() : loop_.now() + collect.wait;
  collector.is_due = !collect.delivers && collect.wait.count() == 0;
  collector.reply = std::move(reply);
  if (!collect.delivers) clock_.set_at_latest(collector.until);
  add_waiter(job.number, std::move(collector));
}

void JobWaiters::add_waiter(JobNumber job, WaitingCollect collector) {
  const auto added = all_.emplace(job, std::move(collector));
  runner_.look_at_questions(job);
  tell(added);
  forget_collected();
}

// Events of jobs.

void JobWaiters::job_settled(const Job& job) {
  const auto [begin, end] = all_.equal_range(job.number);
  for (auto at = begin; at != end;) tell(at++);
  forget_collected();
}

void JobWaiters::job_progress(const Job& job, std::string_view params) {
  const auto [begin, end] = all_.equal_range(job.number);
  for (auto at = begin; at != end; ++at) {
    const WaitingCollect& collector = at->second;
    Client* const client = clients_.find_client(collector.client);
    // The next progress replaces one that would wait in a queue.
    if (client == nullptr || collector.progress_token.empty() || client->channel.congested())
      continue;
    const std::string_view rest = params.substr(1);  // after the brace
    const bool is_empty = rest.find_first_not_of(" }") == rest.npos;
    client->channel.send_about(
        collector.request_id,
        own_notification("notifications/progress",
                         fmt::format(R"({{"progressToken":{}{}{})", collector.progress_token,
                                     is_empty ? "" : ",", rest)));
  }
}

void JobWaiters::job_notified(const Job& job, const Frame& notification) {
  const auto [begin, end] = all_.equal_range(job.number);
  for (auto at = begin; at != end; ++at) {
    Client* const client = clients_.find_client(at->second.client);
    if (client != nullptr && at->second.delivers && !client->channel.congested())
      client->channel.send_about(at->second.request_id, notification.bytes);
  }
}

std::vector<JobWaiter> JobWaiters::waiters_for(JobNumber number) const {
  std::vector<JobWaiter> waiters;
  const auto [begin, end] = all_.equal_range(number);
  for (auto at = begin; at != end; ++at) {
    const WaitingCollect& one = at->second;
    if (one.may_be_asked) waiters.push_back({one.client, one.request_id, one.answers});
  }
  return waiters;
}

/// The question goes to another client, or the job waits for an answer.
void JobWaiters::ask_no_more(All::iterator at) {
  at->second.may_be_asked = false;
  runner_.waiter_gone(at->first, at->second.client, at->second.request_id);
}

/// Answers the collect if it is due, and removes it.
void JobWaiters::tell(All::iterator at) {
  Client* const client = clients_.find_client(at->second.client);
  Job* const job = runner_.store().find_job(at->first);
  const bool waits = at->second.delivers ? job != nullptr && !is_end(job->state)
                                         : job != nullptr && job->state == JobState::working;
  if (waits && !at->second.is_due) return;
  if (client != nullptr && client->channel.congested()) return;
  if (job != nullptr && is_end(job->state) && client != nullptr) {
    job->collected = true;
    if (!at->second.keep) collected_.push_back(job->number);
  }
  const auto node = all_.extract(at);
  const WaitingCollect& collector = node.mapped();
  if (collector.delivers) {
    collector.reply(delivered_response(job, collector.request_id));
    return;
  }
  collector.reply(job == nullptr ? unknown_job_reply(collector.request_id)
                                 : result_reply(collector.request_id,
                                                collected_result(*job, loop_.wall_time())));
}

/// The same, whatever the job's state.
void JobWaiters::tell_now(All::iterator at) {
  at->second.is_due = true;
  ask_no_more(at);
  tell(at);
}

void JobWaiters::forget_collected() {
  for (const JobNumber number : std::exchange(collected_, {})) {
    if (Job* const job = runner_.store().find_job(number))
      runner_.store().forget(*job, loop_.now());
  }
}

/// Answers the collects whose time is over with the state of their jobs.
void JobWaiters::tell_due() {
  const SteadyTime now = loop_.now();
  for (const auto at : select([&](const WaitingCollect& one) { return one.until <= now; }))
    tell_now(at);
  forget_collected();
  for (const auto& [number, collector] : all_) {
    if (!collector.is_due && !collector.delivers) clock_.set_at_latest(collector.until);
  }
}

void JobWaiters::tell_all() {
  for (const auto at : select([](const WaitingCollect& one) { return !one.delivers; }))
    tell_now(at);
}

// Events of clients.

bool JobWaiters::cancel(const Client& client, std::string_view raw_id) {
  const auto found = select([&](const WaitingCollect& one) {
    return one.client == client.id() && same_id(one.request_id, raw_id);
  });
  if (found.empty()) return false;
  Job* const job =
      found.front()->second.delivers ? runner_.store().find_job(found.front()->first) : nullptr;
  ask_no_more(found.front());
  all_.erase(found.front());
  if (job != nullptr && !is_end(job->state)) runner_.cancel(*job);
  return true;
}

void JobWaiters::client_can_be_asked(const Client& client) {
  for (const auto at : of(client)) runner_.look_at_questions(at->first);
}

void JobWaiters::client_half_closed(const Client& client) {
  for (const auto at : of(client)) ask_no_more(at);
}

void JobWaiters::client_drained(const Client& client) {
  for (const auto at : of(client)) {
    if (client.channel.congested()) break;
    tell(at);
  }
  forget_collected();
}

void JobWaiters::client_left(const Client& client) {
  for (const auto at : of(client)) {
    ask_no_more(at);
    all_.erase(at);
  }
}

std::vector<JobWaiters::Delivery> JobWaiters::save_deliveries() const {
  std::vector<Delivery> all;
  for (const auto& [number, one] : all_) {
    if (one.delivers) all.push_back({number, one.client, one.request_id, one.progress_token});
  }
  return all;
}

void JobWaiters::restore(Delivery saved, Control::Reply reply) {
  WaitingCollect collector{{.delivers = true}};
  collector.client = saved.client;
  collector.request_id = std::move(saved.request_id);
  collector.progress_token = std::move(saved.progress_token);
  collector.until = SteadyTime::max();
  collector.reply = std::move(reply);
  add_waiter(saved.job, std::move(collector));
}

}  // namespace bridge
