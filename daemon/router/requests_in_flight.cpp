#include "router/requests_in_flight.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/handshake.hpp"
#include "mcp/input_required.hpp"
#include "mcp/methods.hpp"

namespace bridge {

HeaderRetry::HeaderRetry(const RouterContext& context, const EraTranslator& translator,
                         Actions actions)
    : context_(context),
      translator_(translator),
      actions_(std::move(actions)),
      timer_(context.loop, [this] { go_on(); }) {}

bool HeaderRetry::take(PendingRequest& pending, Ending& ending) {
  if (!ending.failure || !ending.unanswered || pending.mirrored_again ||
      pending.method != "tools/call" || !context_.session.mirrors_headers(pending.side) ||
      find_member(ending.failure->error_object, "code") != "-32020")
    return false;
  pending.mirrored_again = true;
  waiting_.push_back(std::move(*ending.unanswered));
  if (waiting_.size() > 1) return true;
  pages_ = 0;
  timer_.set_after(longest_listing);
  actions_.list_tools({});
  return true;
}

void HeaderRetry::listed(const Frame& response) {
  if (waiting_.empty()) return;  // it came too late
  const auto cursor = find_member(response.text(response.result), "nextCursor");
  if (cursor && is_string(*cursor) && ++pages_ < max_pages) {
    actions_.list_tools(fmt::format(R"({{"cursor":{}}})", *cursor));
  } else {
    go_on();
  }
}

void HeaderRetry::go_on() {
  timer_.clear();
  for (Outgoing& message : std::exchange(waiting_, {})) {
    if (!actions_.is_in_flight(message.id)) continue;  // cancelled meanwhile
    if (context_.session.is_open(Era::modern)) {
      translator_.mirror_again(message);
      context_.session.send(std::move(message), Era::modern);
    } else {
      actions_.give_up(message.id, failure_of(ErrorKind::session, Delivered::no,
                                              "the session was lost while the tools were listed"));
    }
  }
}

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
    if (context_.audit != nullptr) context_.audit->left_behind_ended(id, {});
  }
}

void RequestsInFlight::suspend(UpstreamId id, std::string_view result) {
  PendingRequest& request = *table_.find(id);
  context_.request_log.ended(id, request, Outcome::ok);
  PendingRequest told;
  told.client = std::exchange(request.client, std::nullopt);
  told.user = request.user;
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

std::size_t RequestsInFlight::slots_used_by(const User& user) const {
  return static_cast<std::size_t>(
      std::count_if(table_.begin(), table_.end(), [&user](const auto& entry) {
        const PendingRequest& request = entry.second;
        return request.takes_slot && !request.is_own && request.user == user;
      }));
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

// How requests in flight are sent: for the first time, again, and under another id.

void RequestsInFlight::start(Client& client, WaitingFrame&& waiting) {
  const UpstreamId id = context_.ids.next();
  if (client.is_job) {
    const std::string_view raw_id = waiting.frame.text(waiting.frame.id);
    if (const auto place = client.channel.resume_point(raw_id)) {
      take_up(client, waiting, *place);
      return;
    }
    client.channel.request_starting(raw_id, id);
  }
  PendingRequest& request = take_in(client, waiting, id, true);
  const std::string unsendable = send(id, request, std::move(waiting.frame), &client);
  if (!unsendable.empty()) {
    refuse_unsendable(id, unsendable);
    return;
  }
  request.sent = context_.loop.now();
}

/// Awaits the answer to a request that another daemon has sent.
void RequestsInFlight::take_up(Client& client, const WaitingFrame& waiting,
                               const ResumePoint& place) {
  const std::string raw_id(waiting.frame.text(waiting.frame.id));
  if (place.session != context_.session.number() || table_.find(place.id) != nullptr) {
    context_.request_log.answer_with(
        client, waiting.frame.method, raw_id,
        failure_of(ErrorKind::closed, Delivered::unknown,
                   "the session in which it was sent is over: its answer cannot be had any more"));
    return;
  }
  client.channel.request_starting(raw_id, place.id);
  Outgoing message;
  message.id = place.id;
  message.endless = true;
  message.resumes_after = place.event_id;
  PendingRequest& request = take_in(client, waiting, place.id, true);
  request.sent = context_.loop.now();
  request.side = Era::legacy;  // only a session's streams are resumed
  context_.session.send(std::move(message), Era::legacy);
}

void RequestsInFlight::open_session(Client& client, WaitingFrame initialize) {
  std::string params = params_to_save(initialize.frame);
  const UpstreamId id = context_.ids.next();
  PendingRequest& request = take_in(client, initialize, id, false);
  request.sent = context_.loop.now();
  request.side = Era::legacy;
  std::string body = std::move(initialize.frame.bytes);
  const std::string number = std::to_string(value_of(id));
  splice(body, {initialize.frame.id, number}, {initialize.frame.progress_token, number});
  context_.session.open_with(id, std::move(body), std::move(params));
}

void RequestsInFlight::start_own(std::string_view method, std::string_view params, Era side) {
  const UpstreamId id = context_.ids.next();
  PendingRequest request;
  request.method = std::string(method);
  request.is_own = true;
  request.side = side;
  request.takes_slot = false;
  request.received = request.sent = context_.loop.now();
  auto frame = parse_frame(own_request(id, method, params));
  request.subject = RestorableState::subject_of(std::get<Frame>(frame));
  table_.add(id, std::move(request));
  Outgoing message;
  message.id = id;
  message.may_repeat = true;
  translator_.make_for_upstream(std::move(std::get<Frame>(frame)), nullptr, side, message);
  context_.session.send(std::move(message), side);
}

void RequestsInFlight::remake(Outgoing& message, Era side, bool under_new_id) {
  PendingRequest* pending = table_.find(message.id);
  if (pending == nullptr) return;
  auto parsed = parse_frame(std::move(message.body));
  Frame& frame = std::get<Frame>(parsed);
  if (under_new_id) {
    const UpstreamId former = message.id;
    message.id = *set_aside(former);
    pending = table_.find(message.id);
    if (std::exchange(pending->suspended, false)) --suspended_;
    events_.request_ending(former);  // whatever was asked about it
  }
  pending->side = side;
  if (pending->era == Era::legacy && !frame.is_modern()) translator_.note(frame, *pending);
  translator_.make_for_upstream(std::move(frame), context_.clients.find(pending->client), side,
                                message);
}

void RequestsInFlight::retry(UpstreamId id, Frame request) {
  PendingRequest& pending = *table_.find(id);
  pending.is_upstream = true;
  Client* const client = context_.clients.find(pending.client);
  if (client != nullptr && client->is_job)
    client->channel.request_starting(pending.client_request_id, id);
  const std::string unsendable = send(id, pending, std::move(request), client);
  if (!unsendable.empty()) refuse_unsendable(id, unsendable);
}

/// Returns which header cannot say what stands in it; then it was not sent.
std::string RequestsInFlight::send(UpstreamId id, const PendingRequest& request, Frame&& frame,
                                   const Client* client) {
  Outgoing message;
  message.id = id;
  message.may_repeat = only_reads(request.method);
  message.stays_open = is_stream(request.method);
  message.endless = client != nullptr && client->is_job &&
                    !client->channel.acts_for_client(request.client_request_id);
  std::string unsendable =
      translator_.make_for_upstream(std::move(frame), client, request.side, message);
  if (!unsendable.empty()) return unsendable;
  context_.session.send(std::move(message), request.side);
  if (client != nullptr && client->channel.congested()) context_.session.pause(id, true);
  return {};
}

/// A header cannot say what stands in the request.
void RequestsInFlight::refuse_unsendable(UpstreamId id, std::string_view header) {
  const auto ended = take(id);
  fail(id, *ended,
       failure_of(ErrorKind::too_large, Delivered::no,
                  fmt::format("the request cannot be sent: its header {} would be too long, or "
                              "stands for what the request has twice",
                              printable(header, 140))));
  events_.request_ended(*ended);
}

}  // namespace bridge
