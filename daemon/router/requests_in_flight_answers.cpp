#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/input_required.hpp"
#include "mcp/methods.hpp"
#include "router/requests_in_flight.hpp"
#include "state/archive.hpp"

namespace bridge {

// What the upstream says of requests in flight: their answers, what comes before these, and that
// nothing more comes.

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
                        : fmt::format("what the upstream answered is no message: {}", malformed));
}

}  // namespace

std::optional<UpstreamId> RequestsInFlight::answer(std::optional<UpstreamId> origin,
                                                   Frame&& response) {
  const SteadyTime arrived = context_.loop.round_began();
  const UpstreamId id = request_answered_by(response, origin);
  if (is_input_required(response)) {
    const PendingRequest* const asking = table_.find(id);
    if (asking != nullptr && asking->rounds) {
      const UpstreamId next = *set_aside(id);
      table_.find(next)->is_upstream = false;
      events_.input_required(next, response);
      return id;
    }
  }
  if (is_suspended(id)) {
    table_.find(id)->is_upstream = false;
    events_.suspended_ended(id, std::move(response));
    return id;
  }
  const auto ended = take(id);
  if (!ended) {
    ++context_.statistics.unknown_answers;
    context_.log.peer(LogLevel::warning, "unknown answer",
                      {.upstream = id != UpstreamId{} ? std::optional(id) : origin},
                      "the upstream answered what nobody waits for; dropped");
    return std::nullopt;
  }
  if (ended->is_own) {
    translator_.translate_for_client(response, *ended);
    if (ended->method == "tools/list"sv) header_retry_.listed(response);
    return id;
  }
  if (response.result.present()) restorable_.accepted(*ended);
  if (ended->modern && !ended->modern->undeclared.empty() && has_failed(response))
    found_undeclared(*ended->modern);
  translator_.translate_for_client(response, *ended);
  Client* const client = context_.clients.find(ended->client);
  if (client != nullptr && context_.permissions.is_on())
    context_.permissions.filter(*client, ended->client_request_id, ended->method, response);
  context_.request_log.ended(id, *ended,
                             client == nullptr          ? Outcome::left
                             : response.error.present() ? Outcome::error
                                                        : Outcome::ok);
  if (client == nullptr && context_.audit != nullptr)
    context_.audit->left_behind_ended(id, response.bytes);
  if (client != nullptr) {
    splice(response.bytes, {response.id, ended->client_request_id});
    client->channel.answer(ended->client_request_id, std::move(response.bytes),
                           AnswerOrder::in_order);
    const SteadyTime done = context_.loop.now();
    context_.statistics.answered_in(class_of(ended->method), done - ended->received,
                                    (ended->sent - ended->received) + (done - arrived));
  }
  events_.request_ended(*ended);
  return id;
}

void RequestsInFlight::progress(Frame notification) {
  const auto token = to_unsigned(notification.text(notification.progress_token));
  const PendingRequest* pending = token ? table_.find(static_cast<UpstreamId>(*token)) : nullptr;
  Client* client = pending != nullptr ? context_.clients.find(pending->client) : nullptr;
  if (client == nullptr || pending->progress_token.empty()) {
    // A stale token makes real clients hang up.
    ++context_.statistics.dropped_notifications;
    context_.log.peer(LogLevel::debug, "stale progress",
                      "a progress notification without an owner was dropped");
    return;
  }
  std::string bytes = std::move(notification.bytes);
  splice(bytes, {notification.progress_token, pending->progress_token});
  client->channel.send_about(pending->client_request_id, std::move(bytes));
}

bool RequestsInFlight::pass_on(UpstreamId origin, Frame& notification) {
  if (is_suspended(origin)) {
    if (notification.method == "notifications/message"sv)
      events_.suspended_told(origin, std::move(notification));
    return true;
  }
  Client* const client = context_.clients.find(table_.owner(origin));
  if (client == nullptr) return false;
  const PendingRequest* const pending = table_.find(origin);
  const bool has_somebody =
      !client->is_job ||
      (pending != nullptr && client->channel.acts_for_client(pending->client_request_id));
  if (!has_somebody) return false;
  if (pending != nullptr) {
    if (is_stream(pending->method)) context_.session.lift_deadline(origin);
    if (!translator_.is_for_client(notification, *pending)) return true;
    // A stream of an extension names its request, too.
    splice(notification.bytes, {notification.subscription_id, pending->client_request_id});
    client->channel.send_about(pending->client_request_id, std::move(notification.bytes));
  } else {
    client->channel.send(std::move(notification.bytes));  // after the answer
  }
  return true;
}

bool RequestsInFlight::pass_log_message_on(const Frame& message, Era side) {
  bool somebody_sees_it = false;
  for (const auto& [id, pending] : table_) {
    if (pending.side != side) continue;
    if (pending.suspended) events_.suspended_told(id, message);
    if (pending.era == Era::legacy || !translator_.reaches(message, pending)) continue;
    Client* const client = context_.clients.find(pending.client);
    if (client == nullptr) continue;
    client->channel.send_about(pending.client_request_id, message.bytes);
    somebody_sees_it = true;
  }
  return somebody_sees_it;
}

void RequestsInFlight::note_undeclared(std::optional<UpstreamId> id, std::string_view method,
                                       AskedFor asked) {
  if (asked == AskedFor::anything) return;
  const bool is_one_of_several =
      !id && std::count_if(table_.begin(), table_.end(), [](const auto& entry) {
               return entry.second.is_upstream && !entry.second.is_own &&
                      entry.second.side == Era::legacy;
             }) > 1;
  const auto note = [&](PendingRequest& request) {
    if (!request.modern || request.modern->declared.covers(method, asked)) return;
    request.modern->undeclared = capabilities_for(asked);
    request.modern->undeclared_by_one_of_several = is_one_of_several;
  };
  if (id) {
    if (PendingRequest* const request = table_.find(*id)) note(*request);
    return;
  }
  for (auto& [each, request] : table_) {
    if (is_modern_call(request) && request.modern->undeclared.empty()) note(request);
  }
}

/// One of several requests that it could have been about has failed for want of it.
void RequestsInFlight::found_undeclared(const ModernRequest& failed) {
  if (!failed.undeclared_by_one_of_several) return;
  for (auto& [id, request] : table_) {
    if (!request.modern || !request.modern->undeclared_by_one_of_several ||
        request.modern->undeclared != failed.undeclared)
      continue;
    request.modern->undeclared.clear();
    request.modern->undeclared_by_one_of_several = false;
  }
}

void RequestsInFlight::note_malformed(UpstreamId origin, std::string_view reason) {
  if (PendingRequest* const request = table_.find(origin)) request->malformed = reason;
}

void RequestsInFlight::end(UpstreamId id, End end) {
  if (auto* response = std::get_if<Frame>(&end)) {
    answer(id, std::move(*response));
  } else {
    this->end(id, std::get<Ending>(end));
  }
}

bool RequestsInFlight::end(UpstreamId id, Ending& ending) {
  if (is_suspended(id)) {
    table_.find(id)->is_upstream = false;
    events_.suspended_ended(id, std::move(ending));
    return true;
  }
  PendingRequest* const pending = table_.find(id);
  if (pending != nullptr && header_retry_.take(*pending, ending)) return true;
  const auto ended = take(id);
  if (!ended) return false;
  if (ended->is_own) {
    if (ended->method == "tools/list"sv) header_retry_.go_on();
    return true;
  }
  const Failure failure = failure_of_end(ending, ended->malformed);
  if (failure.kind == ErrorKind::timeout && failure.delivered == Delivered::unknown &&
      ended->method != "initialize"sv) {
    context_.upstream.cancel(id, ended->side, "timeout");
  }
  if (context_.clients.find(ended->client) != nullptr)
    context_.request_log.failed(id, *ended, failure);
  fail(id, *ended, failure);
  events_.request_ended(*ended);
  return true;
}

// Requests in flight that the bridge or their client ends, or that wait with it.

using namespace std::string_view_literals;
namespace {

/// While a try to open the session is under way: when to look after the `initialize` again.
constexpr std::chrono::milliseconds look_again{500};

}  // namespace

void RequestsInFlight::give_up(UpstreamId id, const Failure& failure) {
  const auto ended = take(id);
  if (!ended) return;
  if (context_.clients.find(ended->client) != nullptr)
    context_.request_log.failed(id, *ended, failure);
  fail(id, *ended, failure);
  events_.request_ended(*ended);
}

void RequestsInFlight::cancel(Client& client, Frame notification) {
  const std::string_view wanted = notification.text(notification.request_id);
  const auto found = std::find_if(
      client.in_flight.begin(), client.in_flight.end(),
      [&](UpstreamId id) { return same_id(table_.find(id)->client_request_id, wanted); });
  if (found == client.in_flight.end() || table_.find(*found)->method == "initialize"sv) return;
  const UpstreamId id = *found;
  if (!table_.find(id)->is_upstream) {
    end_unanswered(id, Outcome::cancelled);
    return;
  }
  const Era side = table_.find(id)->side;
  if (context_.session.is_open(side) && !context_.session.cancels_by_closing(side)) {
    std::string body = std::move(notification.bytes);
    const std::string number = std::to_string(value_of(id));
    splice(body, {notification.request_id, number});
    context_.upstream.notify(std::move(body), side);
  }
  context_.session.abandon(id);
  end_unanswered(id, Outcome::cancelled);
}

void RequestsInFlight::pause(const Client& client, bool paused) {
  for (const UpstreamId id : client.in_flight) context_.session.pause(id, paused);
}

void RequestsInFlight::set_waits_for_answer(Client& client, std::string_view raw_id,
                                            bool waits_for_answer) {
  for (const UpstreamId id : client.in_flight) {
    PendingRequest& request = *table_.find(id);
    if (request.client_request_id != raw_id || request.waits_for_answer == waits_for_answer)
      continue;
    request.waits_for_answer = waits_for_answer;
    table_.set_takes_slot(request, !waits_for_answer);
    client.waiting_for_answers += waits_for_answer ? 1 : 0;
    client.waiting_for_answers -= waits_for_answer ? 0 : 1;
    // What it waits for has a time of its own.
    context_.session.hold_deadline(id, waits_for_answer);
    return;
  }
}

void RequestsInFlight::client_left(Client& client) {
  for (const UpstreamId id : std::exchange(client.in_flight, {})) {
    PendingRequest& request = *table_.find(id);
    if (request.method == "initialize"sv) {
      context_.session.withdraw_initialize(id);  // it goes on, for the session
    } else if (!request.is_upstream) {
      // Who was to answer has left, so nothing of it is carried out.
    } else if (context_.options.orphans == Orphans::keep && request.era == Era::legacy &&
               keep_orphan(id, request, client)) {
      continue;
    } else if (context_.options.orphans == Orphans::finish && request.era == Era::legacy) {
      if (context_.audit != nullptr)
        context_.audit->left_behind(client.id(), request.client_request_id, id);
      request.client.reset();
      context_.session.pause(id, false);
      continue;
    } else {
      context_.upstream.cancel(id, request.side, "the client has left");
      context_.session.abandon(id);
    }
    end_unanswered(id, Outcome::left);
  }
}

/// Its new owner sees to its deadline.
bool RequestsInFlight::keep_orphan(UpstreamId id, PendingRequest& request, const Client& former) {
  if (!orphan_keeper_) return false;
  const std::string raw_id = request.client_request_id;
  Client* const keeper = orphan_keeper_(former, id, request);
  if (keeper == nullptr) return false;
  if (context_.audit != nullptr)
    context_.audit->adopted(former.id(), raw_id, *keeper, request.client_request_id);
  request.client = keeper->id();
  keeper->in_flight.push_back(id);
  context_.session.pause(id, false);
  context_.session.lift_deadline(id);
  return true;
}

std::optional<SteadyTime> RequestsInFlight::expire_initialize(const Failure& failure) {
  if (context_.session.server_for(Era::legacy) != nullptr) return std::nullopt;
  const SteadyTime now = context_.loop.now();
  std::optional<SteadyTime> next;
  std::vector<UpstreamId> initializing;
  for (const auto& [id, pending] : table_) {
    if (pending.method == "initialize"sv && pending.client) initializing.push_back(id);
  }
  for (const UpstreamId id : initializing) {
    SteadyTime due = table_.find(id)->received + context_.session_timeout();
    if (due <= now && context_.session.is_trying()) due = now + look_again;
    if (due > now) {
      next = next ? std::min(*next, due) : due;
      continue;
    }
    context_.session.withdraw_initialize(id);
    const auto ended = take(id);
    fail(id, *ended, failure);
    events_.request_ended(*ended);
  }
  return next;
}

void RequestsInFlight::give_up_all(const Failure& failure, bool keeps_jobs) {
  std::vector<UpstreamId> ids;
  for (const auto& [id, pending] : table_) ids.push_back(id);
  give_up(ids, failure, "the bridge is shutting down", keeps_jobs);
}

/// At the upstream they are cancelled for this reason, but for those of jobs if these are kept.
void RequestsInFlight::give_up(const std::vector<UpstreamId>& ids, const Failure& failure,
                               std::string_view reason, bool keeps_jobs) {
  for (const UpstreamId id : ids) {
    if (const PendingRequest& request = *table_.find(id); request.is_upstream) {
      if (!keeps_jobs || !is_job(id)) context_.upstream.cancel(id, request.side, reason);
      context_.session.abandon(id);
    }
    const auto ended = take(id);
    if (ended && context_.clients.find(ended->client)) fail(id, *ended, failure);
  }
}

bool RequestsInFlight::survives_upgrade(UpstreamId id) const {
  const PendingRequest* const request = table_.find(id);
  if (request == nullptr || request->is_own) return false;
  const Client* const client = context_.clients.find(request->client);
  const bool is_kept =
      client == nullptr || client->channel.survives_upgrade(request->client_request_id);
  // What waits for answers of clients is with the upstream no more.
  const bool waits_here = !request->is_upstream && (request->suspended || request->rounds);
  return is_kept && (waits_here || context_.session.survives_upgrade(id));
}

bool RequestsInFlight::survives_upgrade(const Client& client, std::string_view raw_id) const {
  return std::any_of(client.in_flight.begin(), client.in_flight.end(), [&](UpstreamId id) {
    return table_.find(id)->client_request_id == raw_id && survives_upgrade(id);
  });
}

std::size_t RequestsInFlight::left_behind() const {
  return static_cast<std::size_t>(
      std::count_if(table_.begin(), table_.end(), [this](const auto& entry) {
        return !entry.second.suspended && !survives_upgrade(entry.first);
      }));
}

void RequestsInFlight::give_up_left_behind(const Failure& failure, std::string_view reason) {
  std::vector<UpstreamId> ids;
  for (const auto& [id, request] : table_) {
    if (!survives_upgrade(id)) ids.push_back(id);
  }
  give_up(ids, failure, reason);
}

SavedRequests RequestsInFlight::save() const {
  SavedRequests all;
  for (const auto& [id, request] : table_) {
    if (survives_upgrade(id)) all.emplace_back(id, Archive::copy(request));
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return all;
}

void RequestsInFlight::restore(UpstreamId id, PendingRequest request, bool is_awaited) {
  is_awaited = is_awaited || !request.is_upstream;
  if (request.suspended) ++suspended_;
  Client* const client = context_.clients.find(request.client);
  if (client == nullptr) request.client.reset();
  if (client != nullptr) client->in_flight.push_back(id);
  table_.add(id, std::move(request));
  if (!is_awaited) {
    give_up(id, failure_of(ErrorKind::closed, Delivered::unknown,
                           "the bridge was upgraded, and the answer can come no more"));
  } else if (client != nullptr && client->channel.congested()) {
    context_.session.pause(id, true);
  }
}

}  // namespace bridge
