#include "router/requests_in_flight.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "jsonrpc/reply.hpp"
#include "mcp/handshake.hpp"
#include "mcp/methods.hpp"
#include "mcp/modern_result.hpp"
#include "text/json_text.hpp"

namespace bridge {

using namespace std::string_view_literals;
namespace {

/// One that is being asked has a deadline of its own for the answer.
constexpr std::chrono::milliseconds look_again{500};

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

RequestsInFlight::RequestsInFlight(const RouterContext& context, RestorableState& restorable,
                                   EraTranslator& translator, RequestEvents& events)
    : context_(context),
      restorable_(restorable),
      translator_(translator),
      events_(events),
      header_retry_(context, translator,
                    {[this](std::string_view params) { start_own("tools/list", params); },
                     [this](UpstreamId id) { return table_.find(id) != nullptr; },
                     [this](UpstreamId id, const Failure& failure) { give_up(id, failure); }}) {}

/// Whose it is, as this message of its client says.
void RequestsInFlight::describe(PendingRequest& request, const Client& client,
                                const WaitingFrame& waiting) const {
  const Frame& frame = waiting.frame;
  request.client = client.id();
  request.user = client.user;
  request.client_request_id = std::string(frame.text(frame.id));
  request.progress_token = std::string(frame.text(frame.progress_token));
  request.received = waiting.since;
  translator_.note(frame, request);
}

RequestsInFlight::Taken RequestsInFlight::take_in(Client& client, WaitingFrame waiting,
                                                  UpstreamId id, bool takes_slot) {
  Frame& frame = waiting.frame;
  PendingRequest request;
  describe(request, client, waiting);
  request.subject = RestorableState::subject_of(frame);
  request.takes_slot = takes_slot;
  request.method = frame.method;
  context_.request_log.started(id, request, frame);
  client.in_flight.push_back(id);
  return {id, table_.add(id, std::move(request)), std::move(frame)};
}

void RequestsInFlight::start(Client& client, WaitingFrame waiting) {
  const UpstreamId id = context_.ids.next();
  if (!client.is_connection) {
    const std::string_view raw_id = waiting.frame.text(waiting.frame.id);
    if (const auto place = client.channel.answer_place(raw_id)) {
      take_up(client, std::move(waiting), *place);
      return;
    }
    client.channel.request_starting(raw_id, id);
  }
  Taken taken = take_in(client, std::move(waiting), id, true);
  const std::string unsendable = send(taken.id, taken.request, std::move(taken.frame), &client);
  if (!unsendable.empty()) {
    refuse_unsendable(taken.id, unsendable);
    return;
  }
  taken.request.sent = context_.loop.now();
}

/// Awaits the answer to a request that another daemon has sent.
void RequestsInFlight::take_up(Client& client, WaitingFrame waiting, const AnswerPlace& place) {
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
  take_in(client, std::move(waiting), place.id, true).request.sent = context_.loop.now();
  context_.session.send(std::move(message));
}

/// Returns which header cannot say what stands in it; then it was not sent.
std::string RequestsInFlight::send(UpstreamId id, const PendingRequest& request, Frame frame,
                                   const Client* client) {
  Outgoing message;
  message.id = id;
  message.may_repeat = only_reads(request.method);
  message.stays_open = is_stream(request.method);
  message.endless = client != nullptr && !client->is_connection;
  std::string unsendable = translator_.make_for_upstream(std::move(frame), client, message);
  if (!unsendable.empty()) return unsendable;
  context_.session.send(std::move(message));
  if (client != nullptr && client->channel.congested()) context_.session.pause(id, true);
  return {};
}

void RequestsInFlight::open_session(Client& client, WaitingFrame initialize) {
  std::string params = params_to_keep(initialize.frame);
  Taken taken = take_in(client, std::move(initialize), context_.ids.next(), false);
  taken.request.sent = context_.loop.now();
  std::string body = std::move(taken.frame.bytes);
  const std::string number = std::to_string(value_of(taken.id));
  splice(body, {taken.frame.id, number}, {taken.frame.progress_token, number});
  context_.session.open_with(taken.id, std::move(body), std::move(params));
}

void RequestsInFlight::start_own(std::string_view method, std::string_view params) {
  const UpstreamId id = context_.ids.next();
  PendingRequest request;
  request.method = std::string(method);
  request.is_own = true;
  request.takes_slot = false;
  request.received = request.sent = context_.loop.now();
  auto frame = parse_frame(own_request(id, method, params));
  request.subject = RestorableState::subject_of(std::get<Frame>(frame));
  table_.add(id, std::move(request));
  Outgoing message;
  message.id = id;
  message.may_repeat = true;
  translator_.make_for_upstream(std::move(std::get<Frame>(frame)), nullptr, message);
  context_.session.send(std::move(message));
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

void RequestsInFlight::remake(Outgoing& message, bool under_new_id) {
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
  if (pending->era == Era::legacy && !frame.is_modern()) translator_.note(frame, *pending);
  translator_.make_for_upstream(std::move(frame), context_.clients.find(pending->client), message);
}

/// Gives it another id; what still comes of the former one is about it no more.
std::optional<UpstreamId> RequestsInFlight::set_aside(UpstreamId id) {
  auto request = table_.take(id);
  if (!request) return std::nullopt;
  const UpstreamId next = context_.ids.next();
  if (Client* client = context_.clients.find(request->client))
    std::replace(client->in_flight.begin(), client->in_flight.end(), id, next);
  table_.add(next, std::move(*request));
  return next;
}

void RequestsInFlight::retry(UpstreamId id, Frame request) {
  PendingRequest& pending = *table_.find(id);
  pending.is_upstream = true;
  Client* const client = context_.clients.find(pending.client);
  if (client != nullptr && !client->is_connection)
    client->channel.request_starting(pending.client_request_id, id);
  const std::string unsendable = send(id, pending, std::move(request), client);
  if (!unsendable.empty()) refuse_unsendable(id, unsendable);
}

void RequestsInFlight::give_up(UpstreamId id, const Failure& failure) {
  const auto ended = take(id);
  if (!ended) return;
  if (context_.clients.find(ended->client) != nullptr)
    context_.request_log.failed(id, *ended, failure);
  fail(id, *ended, failure);
  events_.request_ended(*ended);
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
  describe(request, client, waiting);
  request.sent = context_.loop.now();
  request.suspended = false;
  --suspended_;
  table_.set_takes_slot(request, true);
  context_.request_log.started(id, request, waiting.frame);
  client.in_flight.push_back(id);
  if (client.channel.congested()) context_.session.pause(id, true);
}

void RequestsInFlight::drop_suspended(UpstreamId id, std::string_view reason) {
  if (table_.find(id)->is_upstream) {
    context_.upstream.cancel(id, reason);
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

std::optional<PendingRequest> RequestsInFlight::take(UpstreamId id) {
  auto ended = table_.take(id);
  if (!ended) return std::nullopt;
  if (ended->suspended) --suspended_;
  if (Client* client = context_.clients.find(ended->client)) {
    std::erase(client->in_flight, id);
    if (ended->placeless) --client->placeless;
  }
  events_.request_ending(id);
  return ended;
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

std::optional<UpstreamId> RequestsInFlight::answer(std::optional<UpstreamId> origin,
                                                   Frame response) {
  const SteadyTime arrived = context_.loop.now();
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
    const Frame answer = translator_.toward_client(std::move(response), *ended);
    if (ended->method == "tools/list"sv) header_retry_.listed(answer);
    return id;
  }
  if (response.result.present()) restorable_.accepted(*ended);
  response = translator_.toward_client(std::move(response), *ended);
  Client* const client = context_.clients.find(ended->client);
  context_.request_log.ended(id, *ended,
                             client == nullptr          ? Outcome::left
                             : response.error.present() ? Outcome::error
                                                        : Outcome::ok);
  if (client != nullptr) {
    std::string bytes = std::move(response.bytes);
    splice(bytes, {response.id, ended->client_request_id});
    client->channel.answer(ended->client_request_id, std::move(bytes), AnswerOrder::in_order);
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
  if (client == nullptr || !client->is_connection) return false;
  if (const PendingRequest* pending = table_.find(origin)) {
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

std::optional<UpstreamId> RequestsInFlight::named_by(std::string_view raw_id) const {
  const auto number = to_unsigned(raw_id);
  const bool is_one = number && table_.find(static_cast<UpstreamId>(*number)) != nullptr;
  return is_one ? std::optional(static_cast<UpstreamId>(*number)) : std::nullopt;
}

std::optional<UpstreamId> RequestsInFlight::only_modern_call() const {
  std::optional<UpstreamId> only;
  for (const auto& [id, request] : table_) {
    if (request.is_own || !request.is_upstream) continue;
    if (only || !request.modern || !may_require_input(request.method)) return std::nullopt;
    only = id;
  }
  return only;
}

bool RequestsInFlight::pass_log_message_on(const Frame& message) {
  bool somebody_sees_it = false;
  for (const auto& [id, pending] : table_) {
    if (pending.suspended) events_.suspended_told(id, message);
    if (pending.era == Era::legacy || !translator_.reaches(message, pending)) continue;
    Client* const client = context_.clients.find(pending.client);
    if (client == nullptr) continue;
    client->channel.send_about(pending.client_request_id, message.bytes);
    somebody_sees_it = true;
  }
  return somebody_sees_it;
}

void RequestsInFlight::note_undeclared(UpstreamId id, std::string_view method, AskedFor asked) {
  PendingRequest* const request = table_.find(id);
  if (request == nullptr || !request->modern || asked == AskedFor::anything) return;
  if (!request->modern->declared.covers(method, asked))
    request->modern->undeclared = capabilities_for(asked);
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
    context_.upstream.cancel(id, "timeout");
  }
  if (context_.clients.find(ended->client) != nullptr)
    context_.request_log.failed(id, *ended, failure);
  fail(id, *ended, failure);
  events_.request_ended(*ended);
  return true;
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
  if (context_.session.is_open() && !context_.session.cancels_by_closing()) {
    std::string body = std::move(notification.bytes);
    const std::string number = std::to_string(value_of(id));
    splice(body, {notification.request_id, number});
    context_.upstream.notify(std::move(body));
  }
  context_.session.abandon(id);
  end_unanswered(id, Outcome::cancelled);
}

void RequestsInFlight::pause(const Client& client, bool paused) {
  for (const UpstreamId id : client.in_flight) context_.session.pause(id, paused);
}

void RequestsInFlight::set_placeless(Client& client, std::string_view raw_id, bool placeless) {
  for (const UpstreamId id : client.in_flight) {
    PendingRequest& request = *table_.find(id);
    if (request.client_request_id != raw_id || request.placeless == placeless) continue;
    request.placeless = placeless;
    table_.set_takes_slot(request, !placeless);
    client.placeless += placeless ? 1 : 0;
    client.placeless -= placeless ? 0 : 1;
    return;
  }
}

bool RequestsInFlight::is_job(UpstreamId id) const {
  const Client* const client = context_.clients.find(table_.owner(id));
  return client != nullptr && !client->is_connection;
}

/// The one whose it becomes ends it in time.
bool RequestsInFlight::keep_orphan(UpstreamId id, PendingRequest& request, const Client& former) {
  if (orphan_keeper_ == nullptr) return false;
  Client* const keeper = orphan_keeper_->adopt(former, id, request);
  if (keeper == nullptr) return false;
  request.client = keeper->id();
  keeper->in_flight.push_back(id);
  context_.session.pause(id, false);
  context_.session.lift_deadline(id);
  return true;
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
      request.client.reset();
      context_.session.pause(id, false);
      continue;
    } else {
      context_.upstream.cancel(id, "the client has left");
      context_.session.abandon(id);
    }
    end_unanswered(id, Outcome::left);
  }
}

std::optional<SteadyTime> RequestsInFlight::expire_initialize(const Failure& failure) {
  if (context_.session.server() != nullptr) return std::nullopt;
  const SteadyTime now = context_.loop.now();
  std::optional<SteadyTime> next;
  std::vector<UpstreamId> initializing;
  for (const auto& [id, pending] : table_) {
    if (pending.method == "initialize"sv && pending.client) initializing.push_back(id);
  }
  for (const UpstreamId id : initializing) {
    SteadyTime due = table_.find(id)->received + context_.options.connect_wait;
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
    if (table_.find(id)->is_upstream) {
      if (!keeps_jobs || !is_job(id)) context_.upstream.cancel(id, reason);
      context_.session.abandon(id);
    }
    const auto ended = take(id);
    if (ended && context_.clients.find(ended->client)) fail(id, *ended, failure);
  }
}

}  // namespace bridge
