#include "router/requests_in_flight.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/handshake.hpp"
#include "mcp/input_required.hpp"
#include "mcp/methods.hpp"
#include "router/crossing/forms.hpp"
#include "router/questions.hpp"
#include "router/router_parts.hpp"

namespace bridge {

HeaderRetry::HeaderRetry(const RouterContext& context, const KnownTools& tools,
                         RequestsInFlight& requests, ByteBudget& budget)
    : OwnCaller(budget),
      context_(context),
      tools_(tools),
      in_flight_(requests),
      timer_(context.loop, [this] { proceed(); }) {}

bool HeaderRetry::retry_call(Call& call, Ending& ending) {
  if (!ending.failure || !ending.unanswered || call.mirrored_again || call.method != "tools/call" ||
      !context_.session.side(call.side).sender().mirrors_headers() ||
      find_member(ending.failure->error_object, "code") != "-32020")
    return false;
  call.mirrored_again = true;
  waiting_.push_back(std::move(*ending.unanswered));
  if (waiting_.size() > 1) return true;
  pages_ = 0;
  cursors_ = {};
  timer_.set_after(longest_listing);
  list_tools({});
  return true;
}

void HeaderRetry::list_tools(std::string_view params) {
  in_flight_.start_at_once(*this, {}, "tools/list", params, context_.session.stateless());
}

void HeaderRetry::answer(std::string_view, Frame&& response) {
  if (waiting_.empty()) return;  // the list arrived too late
  const auto cursor = find_member(response.text(response.result), "nextCursor");
  if (cursor && is_string(*cursor) && ++pages_ < max_pages && cursors_.is_new(*cursor)) {
    list_tools(JsonObject().add("cursor", RawJson{*cursor}).text());
  } else {
    proceed();
  }
}

/// Sends the calls by what is known of the list.
void HeaderRetry::proceed() {
  timer_.clear();
  EraSession& session = context_.session.stateless();
  for (Outgoing& message : std::exchange(waiting_, {})) {
    if (in_flight_.find_call(message.id) == nullptr) continue;  // cancelled meanwhile
    if (session.is_open()) {
      tools_.mirror_again(message);
      session.sender().send(std::move(message));
    } else {
      in_flight_.give_up(message.id,
                         failure_of(ErrorKind::session, Delivered::no,
                                    "the session was lost while the tools were listed"));
    }
  }
}

RequestsInFlight::RequestsInFlight(const RouterContext& context, RestorableState& restorable,
                                   KnownTools& tools, Questions& questions, Crossings& crossings,
                                   RouterParts& owner, ByteBudget& budget)
    : context_(context),
      restorable_(restorable),
      tools_(tools),
      questions_(questions),
      crossings_(crossings),
      owner_(owner),
      kept_subjects_(budget),
      header_retry_(context, tools, *this, budget) {}

/// Sets the owner's data from this message.
void RequestsInFlight::describe(Call& call, Caller& caller, const WaitingFrame& waiting) const {
  const Frame& frame = waiting.frame;
  call.caller = &caller;
  call.user = caller.user;
  if (const Client* const client = caller.client(); client != nullptr && client->grant) {
    call.grant = client->grant->id();
  } else if (call.job != nullptr && call.job->grant) {
    call.grant = call.job->grant->id();
  }
  call.client_request_id = frame.text(frame.id);
  call.progress_token = frame.text(frame.progress_token);
  call.received = waiting.since;
  set_sides(call, frame, context_.session);
}

Call& RequestsInFlight::add_call(Caller& caller, WaitingFrame& waiting, UpstreamId id,
                                 Call::Kind kind) {
  Call& call = table_.add_call(id, kind);
  call.job = std::move(waiting.job);
  describe(call, caller, waiting);
  call.subject = RestorableState::subject_of(waiting.frame);
  kept_subjects_.add(call.subject.size());
  call.method = waiting.frame.method;
  if (caller.acts_for_user()) context_.request_log.started(id, call, waiting.frame);
  caller.in_flight.push_back(id);
  return call;
}

TakenCall RequestsInFlight::take_call(UpstreamId id) {
  TakenCall ended = table_.take_call(id);
  if (!ended) return ended;
  kept_subjects_.remove(ended->subject.size());
  if (ended->caller != nullptr) std::erase(ended->caller->in_flight, id);
  questions_.call_ending(id);
  return ended;
}

/// Changes the id before the call is sent again: late messages of the former id no longer belong to
/// it. Null: not in flight.
Call* RequestsInFlight::rename(UpstreamId former, UpstreamId next) {
  const Call* const call = table_.find_call(former);
  if (call == nullptr) return nullptr;
  if (call->caller != nullptr)
    std::replace(call->caller->in_flight.begin(), call->caller->in_flight.end(), former, next);
  if (context_.audit != nullptr) context_.audit->left_behind_renamed(former, next);
  return &table_.rename(former, next);
}

void RequestsInFlight::end_unanswered(UpstreamId id, Outcome outcome) {
  const auto ended = take_call(id);
  if (!ended) return;
  if (ended->acts_for_user()) context_.request_log.request_ended(id, *ended, outcome);
  if (ended->caller != nullptr) ended->caller->no_answer(ended->client_request_id);
  owner_.request_ended(*ended);
}

/// Answers the client, if it is still connected.
void RequestsInFlight::fail(UpstreamId id, const Call& ended, const Failure& failure) {
  if (ended.caller != nullptr) {
    context_.request_log.answer_with(*ended.caller, ended.method, ended.client_request_id, failure);
  } else {
    context_.request_log.request_ended(id, ended, Outcome::left);
    if (context_.audit != nullptr) context_.audit->left_behind_ended(id, {});
  }
}

void RequestsInFlight::suspend(UpstreamId id, SteadyTime until,
                               const std::vector<InputRequest>& questions) {
  Call& call = *table_.find_call(id);
  context_.request_log.request_ended(id, call, Outcome::ok);
  std::string state;
  table_.change(call, [&] { state = call.to_legacy->suspend(until); });
  Call told;
  told.caller = std::exchange(call.caller, nullptr);
  told.user = call.user;
  context_.session.pause(id, false);
  if (Client* const client = told.client()) {
    std::erase(client->in_flight, id);
    client->channel.answer(
        call.client_request_id,
        result_reply(call.client_request_id, input_required_result(questions, state)),
        AnswerOrder::in_order);
  }
  owner_.request_ended(told);
}

ModernToLegacy::Kept RequestsInFlight::resume(UpstreamId id, Client& client,
                                              const WaitingFrame& waiting) {
  Call& call = *table_.find_call(id);
  describe(call, client, waiting);
  call.sent = context_.loop.now();
  ModernToLegacy::Kept kept;
  table_.change(call, [&] { kept = call.to_legacy->take_over(); });
  context_.request_log.started(id, call, waiting.frame);
  client.in_flight.push_back(id);
  if (client.channel.congested()) context_.session.pause(id, true);
  return kept;
}

void RequestsInFlight::drop_suspended(UpstreamId id, std::string_view reason) {
  if (const Call& call = *table_.find_call(id); call.awaits_upstream()) {
    context_.upstream.cancel(id, call, reason);
    context_.session.abandon(id);
  }
  const auto ended = take_call(id);
  owner_.request_ended(*ended);
}

// Sending: the first time, again, and under another id.

void RequestsInFlight::start_call(Caller& caller, WaitingFrame&& waiting) {
  if (waiting.job != nullptr && waiting.job->resume_point) {
    await_resumed(caller, std::move(waiting));
    return;
  }
  const UpstreamId id = context_.ids.next();
  Call& call = add_call(caller, waiting, id, Call::Kind::forwarded);
  if (send_call(id, call, std::move(waiting.frame))) call.sent = context_.loop.now();
}

/// Awaits the answer to a request that an earlier daemon sent.
void RequestsInFlight::await_resumed(Caller& caller, WaitingFrame&& waiting) {
  const ResumePoint point = *waiting.job->resume_point;
  if (point.session != context_.session.number() || table_.find_call(point.id) != nullptr) {
    context_.request_log.answer_with(caller, waiting.frame.method, waiting.job->id(),
                                     failure_of(ErrorKind::closed, Delivered::unknown,
                                                "its session has ended, and the answer was lost"));
    return;
  }
  Call& call = add_call(caller, waiting, point.id, Call::Kind::forwarded);
  EraSession& session = context_.session.stateful();  // only its streams are resumed
  call.side = session.era();
  caller.starting(point.id, call);
  call.sent = context_.loop.now();
  Outgoing message;
  message.id = point.id;
  message.endless = true;
  message.resumes_after = point.event_id;
  session.sender().send(std::move(message));
}

Call& RequestsInFlight::add_asked(Caller& caller, WaitingFrame&& waiting, UpstreamId id) {
  Call& call = add_call(caller, waiting, id, Call::Kind::forwarded);
  table_.change(call, [&] {
    call.side = context_.session.stateless().era();
    call.to_modern = std::make_unique<LegacyToModern>(std::move(waiting.frame.bytes));
    call.to_modern->wait(LegacyToModern::Waits::for_answers, SteadyTime::max());
  });
  return call;
}

void RequestsInFlight::open_session(Client& client, WaitingFrame initialize) {
  std::string params = params_to_save(initialize.frame);
  const UpstreamId id = context_.ids.next();
  Call& call = add_call(client, initialize, id, Call::Kind::opens_session);
  call.sent = context_.loop.now();
  call.side = context_.session.stateful().era();
  std::string body = std::move(initialize.frame.bytes);
  const std::string number = std::to_string(value_of(id));
  splice(body, {initialize.frame.id, number}, {initialize.frame.progress_token, number});
  context_.session.open_with(id, std::move(body), std::move(params));
}

UpstreamId RequestsInFlight::start_at_once(OwnCaller& caller, const User& user,
                                           std::string_view method, std::string_view params,
                                           EraSession& session) {
  const UpstreamId id = context_.ids.next();
  auto frame = parse_frame(own_request(id, method, params));
  WaitingFrame request{std::move(std::get<Frame>(frame)), context_.loop.now()};
  Call& call = add_call(caller, request, id, Call::Kind::forwarded);
  call.user = user;
  call.side = session.era();
  if (send_call(id, call, std::move(request.frame))) call.sent = call.received;
  return id;
}

void RequestsInFlight::remake(Outgoing& message, EraSession& session, bool under_new_id) {
  Call* call = table_.find_call(message.id);
  if (call == nullptr) return;
  auto parsed = parse_frame(std::move(message.body));
  Frame& frame = std::get<Frame>(parsed);
  if (under_new_id) {
    const UpstreamId former = message.id;
    message.id = context_.ids.next();
    call = rename(former, message.id);
    table_.change(*call, [&] {
      call->job_asked = false;
      if (call->to_legacy != nullptr) call->to_legacy->start_again();
    });
    questions_.call_ending(former);
  }
  table_.change(*call, [&] {
    call->side = session.era();
    set_crossing(*call, frame);
  });
  make(message, std::move(frame), call->caller, session);
}

void RequestsInFlight::send_again(UpstreamId id, Frame request) {
  Call& call = *table_.find_call(id);
  table_.change(call, [&] { call.to_modern->back_at_server(); });
  send_call(id, call, std::move(request));
}

/// Rewrites the request for this session, with the message's id and the mirrored
/// headers. Returns the header that cannot be sent; empty: none.
std::string RequestsInFlight::make(Outgoing& message, Frame&& request, const Caller* caller,
                                   EraSession& session) const {
  if (caller != nullptr && caller->client() == nullptr && caller->acts_for_user())
    request = tools_.as_task(std::move(request), session);
  if (!has_form_for(session, request))
    request = in_other_form(std::move(request), caller, context_, restorable_);
  std::string unsendable = tools_.mirror(request, message, session);
  message.body = std::move(request.bytes);
  const std::string number = std::to_string(value_of(message.id));
  splice(message.body, {request.id, number}, {request.progress_token, number});
  return unsendable;
}

/// False: it has ended, because a header cannot hold a value of the request.
bool RequestsInFlight::send_call(UpstreamId id, const Call& call, Frame&& frame) {
  Caller* const caller = call.caller;
  EraSession& session = context_.session.side(call.side);
  if (caller != nullptr) caller->starting(id, call);
  Outgoing message;
  message.id = id;
  message.may_repeat = only_reads(call.method) || !call.acts_for_user();
  message.stays_open = is_stream(call.method);
  message.endless = call.job != nullptr && !call.job->for_client;
  const std::string header = make(message, std::move(frame), caller, session);
  if (!header.empty()) {
    give_up(id, failure_of(ErrorKind::too_large, Delivered::no,
                           fmt::format("the request cannot be sent: its header {} would be too "
                                       "long or not ASCII, or mirrors a duplicate member",
                                       printable(header, 140))));
    return false;
  }
  session.sender().send(std::move(message));
  if (caller != nullptr && caller->congested()) context_.session.pause(id, true);
  return true;
}

}  // namespace bridge
