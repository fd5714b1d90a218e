#include "router/requests_in_flight.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/methods.hpp"
#include "mcp/modern_result.hpp"

namespace bridge {

RequestsInFlight::RequestsInFlight(const RouterContext& context, RestorableState& restorable,
                                   EraTranslator& translator, RequestEvents& events)
    : context_(context),
      restorable_(restorable),
      translator_(translator),
      events_(events),
      header_retry_(
          context, translator,
          {[this](std::string_view params) { start_own("tools/list", params, Era::modern); },
           [this](UpstreamId id) { return table_.find(id) != nullptr; },
           [this](UpstreamId id, const Failure& failure) { give_up(id, failure); }}) {}

/// Whose it is, as this message of its client says.
void RequestsInFlight::describe(PendingRequest& request, const Client& client,
                                const WaitingFrame& waiting) const {
  const Frame& frame = waiting.frame;
  request.client = client.id();
  request.user = client.user;
  request.client_request_id = frame.text(frame.id);
  request.progress_token = frame.text(frame.progress_token);
  request.received = waiting.since;
  request.era = frame.is_modern() ? Era::modern : Era::legacy;
  request.side = context_.session.side_for(request.era);
  translator_.note(frame, request);
}

PendingRequest& RequestsInFlight::take_in(Client& client, const WaitingFrame& waiting,
                                          UpstreamId id, bool takes_slot) {
  PendingRequest& request = table_.add(id, takes_slot);
  describe(request, client, waiting);
  request.subject = RestorableState::subject_of(waiting.frame);
  request.method = waiting.frame.method;
  context_.request_log.started(id, request, waiting.frame);
  client.in_flight.push_back(id);
  return request;
}

TakenRequest RequestsInFlight::take(UpstreamId id) {
  TakenRequest ended = table_.take(id);
  if (!ended) return ended;
  if (ended->suspended) --suspended_;
  if (Client* client = context_.clients.find(ended->client)) {
    std::erase(client->in_flight, id);
    if (ended->waits_for_answer) --client->waiting_for_answers;
  }
  events_.request_ending(id);
  return ended;
}

/// Gives it another id; what still comes of the former one is about it no more.
std::optional<UpstreamId> RequestsInFlight::set_aside(UpstreamId id) {
  const PendingRequest* const request = table_.find(id);
  if (request == nullptr) return std::nullopt;
  const UpstreamId next = context_.ids.next();
  if (Client* client = context_.clients.find(request->client))
    std::replace(client->in_flight.begin(), client->in_flight.end(), id, next);
  table_.rename(id, next);
  return next;
}

void RequestsInFlight::end_unanswered(UpstreamId id, Outcome outcome) {
  const auto ended = take(id);
  if (!ended) return;
  context_.request_log.ended(id, *ended, outcome);
  if (Client* client = context_.clients.find(ended->client))
    client->channel.no_answer(ended->client_request_id);
  events_.request_ended(*ended);
}

/// Tells its client, if that is still there.
void RequestsInFlight::fail(UpstreamId id, const PendingRequest& ended, const Failure& failure) {
  if (Client* client = context_.clients.find(ended.client)) {
    context_.request_log.answer_with(*client, ended.method, ended.client_request_id, failure);
  } else {
    context_.request_log.ended(id, ended, Outcome::left);
  }
}

void RequestsInFlight::suspend(UpstreamId id, std::string_view result) {
  PendingRequest& request = *table_.find(id);
  context_.request_log.ended(id, request, Outcome::ok);
  PendingRequest told;
  told.client = std::exchange(request.client, std::nullopt);
  request.suspended = true;
  ++suspended_;
  table_.set_takes_slot(request, false);
  context_.session.pause(id, false);
  if (Client* client = context_.clients.find(told.client)) {
    std::erase(client->in_flight, id);
    client->channel.answer(request.client_request_id,
                           result_reply(request.client_request_id, result), AnswerOrder::in_order);
  }
  events_.request_ended(told);
}

void RequestsInFlight::resume(UpstreamId id, Client& client, const WaitingFrame& waiting) {
  PendingRequest& request = *table_.find(id);
  const Era side = request.side;
  describe(request, client, waiting);
  request.side = side;
  request.sent = context_.loop.now();
  request.suspended = false;
  --suspended_;
  table_.set_takes_slot(request, true);
  context_.request_log.started(id, request, waiting.frame);
  client.in_flight.push_back(id);
  if (client.channel.congested()) context_.session.pause(id, true);
}

void RequestsInFlight::drop_suspended(UpstreamId id, std::string_view reason) {
  if (const PendingRequest& request = *table_.find(id); request.is_upstream) {
    context_.upstream.cancel(id, request.side, reason);
    context_.session.abandon(id);
  }
  const auto ended = take(id);
  events_.request_ended(*ended);
}

bool RequestsInFlight::is_suspended(UpstreamId id) const {
  if (suspended_ == 0) return false;
  const PendingRequest* const request = table_.find(id);
  return request != nullptr && request->suspended;
}

std::optional<UpstreamId> RequestsInFlight::named_by(std::string_view raw_id) const {
  const auto number = to_unsigned(raw_id);
  const bool is_one = number && table_.find(static_cast<UpstreamId>(*number)) != nullptr;
  return is_one ? std::optional(static_cast<UpstreamId>(*number)) : std::nullopt;
}

bool RequestsInFlight::has(const Client& client, std::string_view raw_id) const {
  return std::any_of(client.in_flight.begin(), client.in_flight.end(), [&](UpstreamId id) {
    return same_id(table_.find(id)->client_request_id, raw_id);
  });
}

bool RequestsInFlight::is_modern_call(const PendingRequest& request) {
  return request.modern && request.is_upstream && request.side == Era::legacy &&
         may_require_input(request.method);
}

bool RequestsInFlight::has_modern_call() const {
  return std::any_of(table_.begin(), table_.end(),
                     [](const auto& entry) { return is_modern_call(entry.second); });
}

bool RequestsInFlight::is_job(UpstreamId id) const {
  const Client* const client = context_.clients.find(table_.owner(id));
  return client != nullptr && client->is_job;
}

}  // namespace bridge
