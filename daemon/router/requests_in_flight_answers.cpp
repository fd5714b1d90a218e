#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/input_required.hpp"
#include "mcp/methods.hpp"
#include "router/crossing/crossings.hpp"
#include "router/crossing/forms.hpp"
#include "router/questions.hpp"
#include "router/requests_in_flight.hpp"
#include "router/router_parts.hpp"
#include "state/archive.hpp"

namespace bridge {

// Messages of the upstream about requests in flight: responses, progress, ends.

using namespace std::string_view_literals;
namespace {

Failure failure_of_end(Ending& ending, std::string_view malformed) {
  if (ending.failure) return std::move(*ending.failure);
  if (!ending.something_came)
    return failure_of(ErrorKind::closed, Delivered::unknown,
                      "the upstream ended the stream before the answer");
  return failure_of(ErrorKind::malformed, Delivered::unknown,
                    malformed.empty()
                        ? "the upstream's answer stream ended without the answer"
                        : fmt::format("malformed answer from the upstream: {}", malformed));
}

/// Whether a modern client's request asked for log messages of this level.
bool wants(const Call& call, const Frame& log_message) {
  const std::string_view params = log_message.text(log_message.params);
  return reaches_level(find_string(params, "level").value_or(""), call.log_level);
}

}  // namespace

std::optional<UpstreamId> RequestsInFlight::answer(std::optional<UpstreamId> origin,
                                                   Frame&& response) {
  const SteadyTime arrived = context_.loop.round_began();
  const UpstreamId id = request_answered_by(response, origin);
  Call* const call = table_.find_call(id);
  if (call == nullptr) {
    ++context_.statistics.unknown_answers;
    context_.log.peer(LogLevel::warning, "unknown answer",
                      {.upstream = id != UpstreamId{} ? std::optional(id) : origin},
                      "response of the upstream to an unknown request dropped");
    return std::nullopt;
  }
  if (call->to_modern != nullptr && call->to_modern->may_be_asked() &&
      is_input_required(response)) {
    const UpstreamId next = context_.ids.next();
    Call& asked = *rename(id, next);
    table_.change(asked, [&asked] {
      asked.to_modern->wait(LegacyToModern::Waits::for_answers, SteadyTime::max());
    });
    if (asked.caller != nullptr)
      asked.caller->input_required(asked, response.text(response.result));
    crossings_.server_asks(next, asked, response.text(response.result));
    return id;
  }
  if (call->is_suspended()) {
    crossings_.suspended_ended(id, *call, std::move(response));
    return id;
  }
  const auto ended = take_call(id);
  if (!ended->acts_for_user()) {
    tools_.see(response, *ended);
    ended->caller->answer(ended->client_request_id, std::move(response));
    owner_.request_ended(*ended);
    return id;
  }
  if (response.result.present()) restorable_.accepted(*ended);
  tools_.see(response, *ended);
  if (ended->to_legacy != nullptr) crossings_.crossing_ended(*ended->to_legacy, response);
  if (ended->to_legacy != nullptr || ended->to_modern != nullptr)
    response = for_client_of(*ended, std::move(response));
  Caller* const caller = ended->caller;
  if (caller != nullptr && context_.permissions.is_on())
    context_.permissions.filter(*caller, ended->job.get(), ended->method, response);
  if (!ended->grant.empty() && is_counted_call(ended->method) && is_input_required(response))
    context_.permissions.grants().open_round(ended->grant);
  context_.request_log.request_ended(id, *ended,
                                     caller == nullptr          ? Outcome::left
                                     : response.error.present() ? Outcome::error
                                                                : Outcome::ok);
  if (caller == nullptr && context_.audit != nullptr)
    context_.audit->left_behind_ended(id, response.bytes);
  if (const Client* const client = ended->client())
    questions_.answerers().told(client->id(), response);
  if (caller != nullptr) {
    caller->answer(ended->client_request_id, std::move(response));
    const SteadyTime done = context_.loop.now();
    context_.statistics.answered_in(class_of(ended->method), done - ended->received,
                                    (ended->sent - ended->received) + (done - arrived));
  }
  owner_.request_ended(*ended);
  return id;
}

void RequestsInFlight::progress(Frame notification) {
  const auto token = unsigned_by_value(notification.text(notification.progress_token));
  const Call* const call = token ? table_.find_call(static_cast<UpstreamId>(*token)) : nullptr;
  if (call == nullptr || call->progress_token.empty() || call->caller == nullptr) {
    // Some clients disconnect on an unknown progress token.
    ++context_.statistics.dropped_notifications;
    context_.log.peer(LogLevel::debug, "stale progress",
                      "a progress notification without an owner was dropped");
    return;
  }
  call->caller->notify(*call, std::move(notification));
}

bool RequestsInFlight::deliver(UpstreamId origin, Frame& notification) {
  Call* const call = table_.find_call(origin);
  if (call == nullptr) {
    const Client* const client = context_.clients.find_client(table_.owner(origin).client);
    // After the response.
    if (client != nullptr) client->channel.send(std::move(notification.bytes));
    return client != nullptr;
  }
  if (call->is_suspended()) {
    if (notification.method == "notifications/message"sv)
      crossings_.suspended_notified(*call, notification);
    return true;
  }
  if (call->caller == nullptr || !call->caller->hears(*call)) return false;
  if (is_stream(call->method)) context_.session.lift_deadline(origin);
  if (call->to_legacy != nullptr && notification.method == "notifications/message"sv &&
      !wants(*call, notification))
    return true;
  call->caller->notify(*call, std::move(notification));
  return true;
}

bool RequestsInFlight::pass_log_message_on(const Frame& message, const EraSession& session) {
  bool is_seen = false;
  for (auto& [id, call] : table_) {
    if (call.side != session.era()) continue;
    if (call.is_suspended()) crossings_.suspended_notified(call, message);
    if (!call.describes_client() || !wants(call, message)) continue;
    const Client* const client = call.client();
    if (client == nullptr) continue;
    client->channel.send_about(call.client_request_id, message.bytes);
    is_seen = true;
  }
  return is_seen;
}

void RequestsInFlight::note_malformed(UpstreamId origin, std::string_view reason) {
  if (Call* const call = table_.find_call(origin)) call->malformed = reason;
}

void RequestsInFlight::end_request(UpstreamId id, ModernToLegacy::End end) {
  if (auto* response = std::get_if<Frame>(&end)) {
    answer(id, std::move(*response));
  } else {
    this->end_request(id, std::get<Ending>(end));
  }
}

bool RequestsInFlight::end_request(UpstreamId id, Ending& ending) {
  Call* const call = table_.find_call(id);
  if (call == nullptr) return false;
  if (call->is_suspended()) {
    crossings_.suspended_ended(id, *call, std::move(ending));
    return true;
  }
  if (header_retry_.retry_call(*call, ending)) return true;
  const auto ended = take_call(id);
  const Failure failure = failure_of_end(ending, ended->malformed);
  if (failure.kind == ErrorKind::timeout && failure.delivered == Delivered::unknown &&
      ended->kind == Call::Kind::forwarded) {
    context_.upstream.cancel(id, *ended, "timeout");
  }
  end_failed(id, *ended, failure);
  return true;
}

// Requests ended by the bridge or their clients, and how they wait.

namespace {

/// The pause before checking `initialize` again while the session is being opened.
constexpr std::chrono::milliseconds look_again{500};

}  // namespace

void RequestsInFlight::give_up(UpstreamId id, const Failure& failure) {
  if (const auto ended = take_call(id)) end_failed(id, *ended, failure);
}

void RequestsInFlight::end_failed(UpstreamId id, const Call& ended, const Failure& failure) {
  if (ended.caller != nullptr) context_.request_log.failed(id, ended, failure);
  fail(id, ended, failure);
  owner_.request_ended(ended);
}

void RequestsInFlight::cancel(Caller& caller, std::string_view raw_id, std::string_view reason,
                              std::optional<Frame> notification) {
  const auto [id, call] = table_.find_call(caller, raw_id);
  if (call == nullptr || call->kind == Call::Kind::opens_session) return;
  if (call->awaits_upstream()) {
    if (!notification) {
      context_.upstream.cancel(id, *call, reason);
    } else {
      splice(notification->bytes, {notification->request_id, std::to_string(value_of(id))});
      context_.upstream.cancel_as(*call, std::move(notification->bytes));
    }
    context_.session.abandon(id);
  }
  end_unanswered(id, Outcome::cancelled);
}

void RequestsInFlight::pause_answers(const Caller& caller, bool paused) {
  for (const UpstreamId id : caller.in_flight) context_.session.pause(id, paused);
}

bool RequestsInFlight::set_asked(const Caller& caller, std::string_view raw_id, bool is_asked) {
  const UpstreamId id = table_.find_call(caller, raw_id).first;
  Call* const call = table_.find_call(id);
  if (call == nullptr || !call->awaits_upstream() || call->job_asked == is_asked) return false;
  table_.change(*call, [&] { call->job_asked = is_asked; });
  // What it waits for has a deadline of its own.
  context_.session.hold_deadline(id, is_asked);
  return true;
}

void RequestsInFlight::client_left(Client& client) {
  for (const UpstreamId id : std::exchange(client.in_flight, {})) {
    Call& call = *table_.find_call(id);
    call.caller = nullptr;
    if (call.kind == Call::Kind::opens_session) {
      context_.session.withdraw_initialize(id);  // it continues, for the session
    } else if (!call.awaits_upstream()) {
      // The client that would answer has left, so the call is not carried out.
    } else if (outlives_client_as_job(call) && keep_orphan(id, call, client)) {
      continue;
    } else if (context_.options.orphans == Orphans::finish && !call.ends_with_client()) {
      if (context_.audit != nullptr)
        context_.audit->left_behind(client.id(), call.client_request_id, id);
      context_.session.pause(id, false);
      continue;
    } else {
      context_.upstream.cancel(id, call, "the client has left");
      context_.session.abandon(id);
    }
    end_unanswered(id, Outcome::left);
  }
}

/// A job has its own deadline.
bool RequestsInFlight::keep_orphan(UpstreamId id, Call& call, const Client& former) {
  auto job = context_.jobs != nullptr ? context_.jobs->adopt(former, id, call) : nullptr;
  if (job == nullptr) return false;
  const std::string raw_id = std::exchange(call.client_request_id, job->id());
  if (!call.progress_token.empty()) call.progress_token = call.client_request_id;
  if (context_.audit != nullptr) context_.audit->adopted(former.id(), raw_id, job->job);
  call.job = std::move(job);
  call.caller = &context_.jobs->caller_of(call.user);
  call.caller->in_flight.push_back(id);
  context_.session.pause(id, false);
  context_.session.lift_deadline(id);
  return true;
}

std::optional<SteadyTime> RequestsInFlight::expire_initialize(const Failure& failure) {
  if (context_.session.serving_initialize().server() != nullptr) return std::nullopt;
  const SteadyTime now = context_.loop.now();
  std::optional<SteadyTime> next;
  const std::vector<UpstreamId> initializing = table_.all([](const Call& call) {
    return call.kind == Call::Kind::opens_session && call.caller != nullptr;
  });
  for (const UpstreamId id : initializing) {
    SteadyTime due = table_.find_call(id)->received + context_.session_timeout();
    if (due <= now && context_.session.is_trying()) due = now + look_again;
    if (due > now) {
      next = next ? std::min(*next, due) : due;
      continue;
    }
    context_.session.withdraw_initialize(id);
    context_.session.serving_initialize().opener().note_overdue();
    give_up(id, failure);
  }
  return next;
}

void RequestsInFlight::give_up_all(const Failure& failure, bool keeps_jobs) {
  give_up(table_.all([](const Call&) { return true; }), failure, "the bridge is shutting down",
          keeps_jobs);
}

/// Cancels these at the upstream, except jobs' requests if those are kept.
void RequestsInFlight::give_up(const std::vector<UpstreamId>& ids, const Failure& failure,
                               std::string_view reason, bool keeps_jobs) {
  for (const UpstreamId id : ids) {
    if (const Call& call = *table_.find_call(id); call.awaits_upstream()) {
      if (!keeps_jobs || !table_.owner(id).is_job) context_.upstream.cancel(id, call, reason);
      context_.session.abandon(id);
    }
    const auto ended = take_call(id);
    if (!ended || ended->caller == nullptr) continue;
    if (ended->acts_for_user()) {
      fail(id, *ended, failure);
    } else {
      ended->caller->given_up(ended->client_request_id, failure);
    }
  }
}

bool RequestsInFlight::survives_upgrade(UpstreamId id) const {
  const Call* const call = table_.find_call(id);
  if (call == nullptr || !call->acts_for_user()) return false;
  const Client* const client = call->client();
  // A task is polled again.
  const bool is_kept =
      call->job != nullptr
          ? !call->job->about_task
          : client == nullptr || client->channel.survives_upgrade(call->client_request_id);
  // A call that waits for clients' answers is no longer at the upstream.
  return is_kept && (!call->awaits_upstream() || context_.session.survives_upgrade(id));
}

std::size_t RequestsInFlight::left_behind() const {
  return static_cast<std::size_t>(
      std::count_if(table_.begin(), table_.end(), [this](const auto& entry) {
        return !entry.second.is_suspended() && !survives_upgrade(entry.first);
      }));
}

void RequestsInFlight::give_up_left_behind(const Failure& failure, std::string_view reason) {
  std::vector<UpstreamId> ids;
  for (const auto& [id, call] : table_) {
    if (!survives_upgrade(id)) ids.push_back(id);
  }
  give_up(ids, failure, reason);
}

SavedCalls RequestsInFlight::save_calls() const {
  SavedCalls all;
  for (const auto& [id, call] : table_) {
    if (!survives_upgrade(id)) continue;
    SavedCall& saved = all.emplace_back(id, SavedCall{Archive::copy(call)}).second;
    if (const Client* const client = call.client()) saved.client = client->id();
    if (call.to_legacy != nullptr) call.to_legacy->save_end(id, *saved.to_legacy);
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return all;
}

void RequestsInFlight::restore(UpstreamId id, SavedCall restored, bool is_awaited) {
  is_awaited = is_awaited || !restored.awaits_upstream();
  Caller* caller = context_.clients.find_client(restored.client);
  if (restored.job != nullptr) caller = &context_.jobs->caller_of(restored.user);
  restored.caller = caller;
  if (restored.job_asked) context_.session.hold_deadline(id, true);
  if (caller != nullptr) caller->in_flight.push_back(id);
  kept_subjects_.add(restored.subject.size());
  table_.add_call(id, std::move(static_cast<Call&>(restored)));
  if (!is_awaited) {
    give_up(id, failure_of(ErrorKind::closed, Delivered::unknown,
                           "the bridge was upgraded, and the answer was lost"));
  } else if (caller != nullptr && caller->congested()) {
    context_.session.pause(id, true);
  }
}

}  // namespace bridge
