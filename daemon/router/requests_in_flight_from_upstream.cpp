// What the upstream says of requests in flight: their answers, what comes before these, and that
// nothing more comes.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/methods.hpp"
#include "mcp/modern_result.hpp"
#include "router/requests_in_flight.hpp"

namespace bridge {

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
  context_.request_log.ended(id, *ended,
                             client == nullptr          ? Outcome::left
                             : response.error.present() ? Outcome::error
                                                        : Outcome::ok);
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

}  // namespace bridge
