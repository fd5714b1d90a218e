#include "router/router.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "base/clock.hpp"
#include "json/json_object.hpp"
#include "json/json_scanner.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/handshake.hpp"
#include "mcp/methods.hpp"
#include "mcp/request_meta.hpp"
#include "router/permissions.hpp"

namespace bridge {

using namespace std::string_view_literals;

namespace {

Failure shutdown_failure(Delivered delivered) {
  return failure_of(ErrorKind::shutdown, delivered, "the bridge is shutting down");
}

}  // namespace

Router::Router(EventLoop& loop, UpstreamIdSource& ids, Session& session, NotificationFeed& feed,
               ByteBudget& budget, Log& log, RouterOptions options)
    : options_(std::move(options)),
      feed_(feed),
      budget_(budget),
      request_log_(loop, log, statistics_),
      permissions_(loop),
      clients_(loop,
               [this](Client& client) {
                 ClientChannel& channel = client.channel.transport();
                 context_.log.event(LogLevel::debug, "client done", {.client = client.id()},
                                    "a client has had all its answers");
                 drop(client);
                 channel.finish();
               }),
      upstream_(ids, session),
      context_{loop,     ids,         session,      upstream_,    log,    options_,
               clients_, statistics_, request_log_, permissions_, audit_, jobs_},
      tools_(context_),
      in_flight_(context_, restorable_, tools_, questions_, crossings_, *this, budget),
      own_subscriptions_(context_, budget, in_flight_),
      listens_(context_, feed, restorable_, in_flight_, own_subscriptions_),
      questions_(context_, in_flight_, crossings_),
      crossings_(context_, budget, in_flight_, questions_),
      control_(context_),
      checks_(context_, tools_),
      frames_(context_, budget, restorable_, tools_, checks_, in_flight_, listens_, crossings_,
              control_) {
  session.set_events(*this);
  feed_.ring().on_dropped([this](std::uint64_t dropped) {
    context_.log.peer(LogLevel::warning, "notification dropped",
                      "a notification left the ring before any client had read it ({} so far)",
                      dropped);
  });
}

void Router::start() {
  listens_.update();
  if (options_.handshake == Handshake::eager) context_.session.require();
}

void Router::reconfigure(const RouterOptions& options) {
  options_.orphans = options.orphans;
  options_.connect_wait = options.connect_wait;
  options_.park_requests = options.park_requests;
  options_.input_wait = options.input_wait;
}

void Router::take_policy(std::shared_ptr<const PolicyFile> policy, bool tells) {
  permissions_.take_policy(std::move(policy));
  for (const auto& [id, client] : clients_) take_rule(*client);
  questions_.policy_changed();
  control_.policy_changed();
  frames_.policy_changed();
  if (!tells) return;
  for (const Era era : {Era::legacy, Era::modern}) {
    const ServerDescription* const server = context_.session.server_for(era);
    if (server == nullptr) continue;
    for (const std::string& method : server->declared_list_changes()) {
      if (era == Era::modern) {
        auto changed = parse_frame(own_notification(method));
        listens_.tell(std::get<Frame>(changed));
      }
      if (era == context_.session.ring_source()) publish_changes({method}, {});
    }
  }
}

void Router::begin_shutdown() {
  shutting_down_ = true;
  const Failure failure = shutdown_failure(Delivered::no);
  frames_.shut_down(failure);
  context_.session.give_up_held(failure);
  crossings_.fail_waiting(failure);
  crossings_.end_suspended();
  listens_.end_all();
  clients_.finish_done();
}

void Router::end_shutdown(bool keeps_jobs) {
  in_flight_.give_up_all(shutdown_failure(Delivered::unknown), keeps_jobs);
  clients_.finish_done();
}

void Router::request_ended(const Call& call) {
  frames_.request_ended(call);
  if (shutting_down_ && in_flight_.calls().size() == 0 && on_idle_) on_idle_();
}

// Callers other than clients.

void Router::request(Caller& caller, Frame request, std::unique_ptr<JobRequest> job) {
  if (caller.acts_for_user()) ++statistics_.requests;
  if (audit_ != nullptr && job != nullptr) audit_->came(caller.user, *job, request);
  frames_.queue_frame(caller, std::move(request), std::move(job));
}

void Router::resume_asked(Caller& caller, JobRequest job, Frame request, std::string_view result,
                          const std::vector<std::string>& answers) {
  ++statistics_.requests;
  if (audit_ != nullptr) audit_->came(caller.user, job, request);
  const bool needs_tools = permissions_.needs_tools(caller, &job, request, tools());
  ResumedJob resumed{&caller, std::move(job), std::move(request), std::string(result), answers};
  if (!needs_tools) {
    resume_judged(std::move(resumed), {});
    return;
  }
  resumed_later_.push_back(std::move(resumed));
  if (resumed_later_.size() > 1 ||
      control_.list_tools([this](const std::string& listed) { resume_waiting_jobs(listed); }))
    return;
  resume_waiting_jobs({});
}

void Router::resume_waiting_jobs(const std::string& listed) {
  for (ResumedJob& one : std::exchange(resumed_later_, {})) resume_judged(std::move(one), listed);
}

/// `listed`: the response to the request for the tools that it needed; empty: none.
void Router::resume_judged(ResumedJob&& resumed, const std::string& listed) {
  auto& [caller, job, request, result, answers] = resumed;
  auto refusal = permissions_.refusal(*caller, &job, request, tools());
  if (refusal && find_member(listed, "error")) refusal = permissions_.refusal_without_tools(listed);
  if (refusal) {
    request_log_.deny(*caller, request.method, request.text(request.id), *refusal);
    return;
  }
  const UpstreamId id = context_.ids.next();
  WaitingFrame waiting{std::move(request), context_.loop.now(),
                       std::make_unique<JobRequest>(std::move(job))};
  crossings_.server_asks(id, in_flight_.add_asked(*caller, std::move(waiting), id), result,
                         answers);
}

void Router::cancel(Caller& caller, std::string_view raw_id, std::string_view reason) {
  const bool waits = std::erase_if(resumed_later_, [&](const ResumedJob& one) {
                       return one.caller == &caller && one.job.id() == raw_id;
                     }) > 0;
  if (!waits && !frames_.cancel(caller, raw_id)) in_flight_.cancel(caller, raw_id, reason);
}

void Router::cancel_all(Caller& caller) {
  frames_.drop_waiting(caller);
  while (!caller.in_flight.empty()) {
    const Call& call = *in_flight_.find_call(caller.in_flight.back());
    in_flight_.cancel(caller, std::string(call.client_request_id), "its answer is not needed");
  }
}

void Router::leave(Caller& caller) {
  frames_.drop_waiting(caller);
  std::erase_if(resumed_later_, [&](const ResumedJob& one) { return one.caller == &caller; });
  for (const UpstreamId id : caller.in_flight) in_flight_.find_call(id)->caller = nullptr;
  clients_.leave(caller);
}

void Router::set_asked(Caller& caller, std::string_view raw_id, bool is_asked) {
  if (in_flight_.set_asked(caller, raw_id, is_asked) && is_asked) frames_.slot_freed(caller);
}

std::optional<UpstreamId> Router::message_received(Era side, std::optional<UpstreamId> origin,
                                                   Frame&& frame) {
  context_.log.body("from the upstream", {.upstream = origin}, frame.bytes);
  if (const char* reason = wrong_kind(frame)) {
    malformed_received(origin, reason);
    if (frame.is_request())
      questions_.refuse(frame.text(frame.id), json_rpc::invalid_request, reason);
    return std::nullopt;
  }
  switch (frame.kind) {
    case FrameKind::response: return in_flight_.answer(origin, std::move(frame));
    case FrameKind::notification: upstream_notification(side, origin, std::move(frame)); break;
    case FrameKind::request:
      if (side == Era::modern) {
        malformed_received(origin, "a server of MCP 2026-07-28 sends no requests");
      } else {
        questions_.take_question(origin, std::move(frame));
      }
      break;
  }
  return std::nullopt;
}

void Router::listen_notified(Frame&& notification) {
  if (notification.method == "notifications/tools/list_changed"sv) tools_.forget();
  if (!listens_.tell(notification))
    message_received(Era::modern, std::nullopt, std::move(notification));
}

void Router::upstream_notification(Era side, std::optional<UpstreamId> origin, Frame frame) {
  if (frame.method == "notifications/progress"sv) {
    in_flight_.progress(std::move(frame));
    return;
  }
  if (frame.method == "notifications/cancelled"sv) {
    questions_.cancel(std::move(frame));
    return;
  }
  if (!origin && frame.subscription_id.present()) {
    origin = in_flight_.calls().named_by(frame.text(frame.subscription_id));
    if (!origin) {  // on a stream that was given up
      ++statistics_.dropped_notifications;
      return;
    }
  }
  if (!origin && frame.method == "notifications/message"sv &&
      in_flight_.pass_log_message_on(frame, side) && side == Era::modern)
    return;
  if (origin && !is_session_notification(frame.method)) {
    if (in_flight_.deliver(*origin, frame)) return;
    // Its client has disconnected: it is the session's unless --orphans cancel, or its job's.
    if (options_.orphans == Orphans::cancel && !in_flight_.calls().owner(*origin).is_job) {
      ++statistics_.dropped_notifications;
      return;
    }
  }
  if (frame.method == "notifications/tools/list_changed"sv) tools_.forget();
  if (is_second_copy(side, frame)) return;
  std::string key = coalesce_key(frame);
  feed_.publish(std::move(frame.bytes), frame.method, std::move(key));
}

/// While the first legacy session is being opened, the server may send a change in it, in the
/// modern one, or in both: the n-th copy in one is the n-th in the other, and the earlier of the
/// two fills the ring.
bool Router::is_second_copy(Era side, const Frame& notification) {
  const EraSession& legacy = context_.session.side(Era::legacy);
  if (context_.session.ring_source() == Era::legacy || !legacy.is_trying()) return false;
  const auto* const stream = context_.session.side(Era::modern).listen().stream();
  const std::string key = coalesce_key(notification);
  if (key.empty() || stream == nullptr || !stream->asked.matches(notification)) return false;
  const std::uint64_t opening = legacy.record().counts.failed_tries;
  if (std::exchange(overlap_in_, opening) != opening) {
    overlap_ = {};
    for (const Era era : {Era::legacy, Era::modern}) overlap_.begin(era);
  }
  return !overlap_.is_news(side, key);
}

void Router::malformed_received(std::optional<UpstreamId> origin, std::string_view reason) {
  ++statistics_.malformed_messages;
  if (origin) in_flight_.note_malformed(*origin, reason);
  context_.log.peer(LogLevel::warning, "malformed message",
                    "a message from upstream ({}) was dropped: {}",
                    origin ? "on a request's stream" : "on the server stream", reason);
}

void Router::message_ended(UpstreamId id, Ending ending) {
  if (in_flight_.end_request(id, ending)) return;
  if (ending.failure) {
    context_.log.peer(LogLevel::warning, "notification failed",
                      "a notification or an answer did not reach the upstream: {}",
                      log_text(*ending.failure));
    session_failed(*ending.failure);
  }
  frames_.message_ended(id);
}

/// The sides may have changed since the last call: serves the listens and fills the ring
/// accordingly.
void Router::note_sides() {
  if (const Era now = context_.session.ring_source(); std::exchange(ring_source_, now) != now)
    tools_.forget();
  listens_.sides_changed();
}

void Router::session_open() {
  note_sides();
  crossings_.session_open();
  frames_.session_open();
}

void Router::session_closed(Era side) {
  frames_.session_closed(side);
  crossings_.session_closed();
}

void Router::session_away(Era side) { frames_.session_away(side); }

void Router::session_refused(Era side, const Failure& failure) {
  Failure refusal = failure;
  refusal.delivered = Delivered::no;
  frames_.fail_all(refusal, side);
  if (side == Era::modern) crossings_.fail_waiting(refusal);
}

void Router::session_failed(const Failure& failure) {
  statistics_.failed(context_.loop.wall_time(), failure.kind, failure.message);
}

bool Router::frames_wait(Era side) const {
  return frames_.has_request_for(side) || (side == Era::modern && crossings_.wait_for_session());
}

SessionSettings Router::settings() const {
  SessionSettings settings = restorable_.settings();
  if (!listens_.are_native()) settings.subscriptions = subscriptions();
  return settings;
}

/// The resources that clients of both eras have subscribed.
std::vector<std::string> Router::subscriptions() const {
  const Subscriptions& subscriptions = restorable_.subscriptions();
  std::vector<std::string> all = subscriptions.uris();
  subscriptions.each_listened([&](const std::string& uri, const auto&) {
    if (!subscriptions.contains(uri)) all.push_back(uri);
  });
  return all;
}

std::vector<UpstreamId> Router::unanswered() const {
  return in_flight_.calls().all([](const Call& call) {
    return call.awaits_upstream() && call.kind != Call::Kind::opens_session;
  });
}

void Router::subscription_unrestored(const std::string& uri) {
  own_subscriptions_.request_later(nullptr, uri, true);
}

void Router::take_settings(const SessionSettings& settings) { restorable_.take_settings(settings); }

void Router::session_replaced(Era side, const Reopening& reopening,
                              const std::vector<std::string>& list_changes) {
  tools_.forget();
  if (side == Era::modern && context_.session.ring_source() == Era::legacy) {
    listens_.tell_changed();  // nothing has changed for other clients
    return;
  }
  questions_.session_replaced();
  const std::string_view method = "notifications/bridge/session_reopened";
  feed_.publish(own_notification(method, JsonObject()
                                             .add("reason", name_of(reopening.reason))
                                             .add("at", timestamp(reopening.at))
                                             .text()),
                method);
  publish_changes(list_changes,
                  listens_.bypass_ring() ? settings().subscriptions : subscriptions());
}

void Router::listen_resumed(const SubscriptionFilter& filter) {
  tools_.forget();
  if (listens_.tell_changed()) return;
  publish_changes(context_.session.server_for(Era::modern)->declared_list_changes(),
                  {filter.resources.begin(), filter.resources.end()});
}

/// Announces what may have changed while there was no session.
void Router::publish_changes(const std::vector<std::string>& lists,
                             const std::vector<std::string>& uris) {
  for (const std::string& method : lists) feed_.publish(own_notification(method), method, method);
  for (const std::string& uri : uris) {
    const std::string_view method = "notifications/resources/updated";
    feed_.publish(own_notification(method, JsonObject().add("uri", uri).text()), method,
                  fmt::format("{} {}", method, uri));
  }
}

// Clients and their frames.

namespace {

/// The part of an `initialize` that each of its client's requests carries to a modern upstream;
/// empty if it is too long or would be nested too deeply.
std::string for_each_request(std::string_view object) {
  constexpr std::size_t nested_in = 16;
  JsonScanner scanner(object, nested_in);
  Slice value;
  const bool fits =
      object.size() <= longest_capabilities && is_object(object) && scanner.value(value);
  return std::string(fits ? object : std::string_view());
}

}  // namespace

void Router::client_connected(ClientChannel& channel) {
  Client& client = clients_.add_client(channel, context_.session.tap(), budget_);
  take_rule(client);
  const ClientIdentity& identity = channel.identity();
  context_.log.event(LogLevel::debug, "client connected", {.client = identity.id},
                     "a client has connected: {}, pid {}, uid {}", identity.kind, identity.pid,
                     identity.uid);
  frames_.client_connected(client);
}

/// Looks up the client's rule.
void Router::take_rule(Client& client) {
  client.rule = permissions_.rule_for(client);
  if (permissions_.is_on())
    client.channel.show_only(client.rule != nullptr ? ring_filter_of(*client.rule) : nullptr);
}

void Router::client_half_closed(ClientId id) {
  Client* const client = clients_.find_client(id);
  if (client == nullptr) return;
  client->half_closed = true;
  questions_.client_half_closed(*client);
  control_.client_half_closed(*client);
  clients_.finish_if_done(*client);
}

void Router::client_left(ClientId id) {
  Client* const client = clients_.find_client(id);
  if (client == nullptr) return;
  context_.log.event(LogLevel::debug, "client left", {.client = id},
                     "a client has left, with {} requests in flight", client->in_flight.size());
  drop(*client);
}

/// The client is gone or done: settles what it leaves behind, then serves the next one.
void Router::drop(Client& client) {
  const std::unique_ptr<Client> until_the_end = clients_.take_client(client);
  restorable_.subscriptions().client_left(client.id());
  listens_.client_left(client);
  frames_.client_left(client);
  in_flight_.client_left(client);
  questions_.client_left(client);
  control_.client_left(client);
  if (audit_ != nullptr) audit_->client_left(client.id());
  frames_.choose_served();
}

void Router::client_congestion(ClientId id, bool congested) {
  Client* const client = clients_.find_client(id);
  if (client == nullptr) return;
  in_flight_.pause_answers(*client, congested);
  if (!congested) listens_.proceed(*client);
  if (!congested) frames_.client_proceeds(*client);
  if (!congested) control_.answer_waiting(*client);
}

void Router::client_can_be_asked(ClientId id) {
  questions_.offer_parked();
  if (const Client* const client = clients_.find_client(id)) control_.client_can_be_asked(*client);
}

std::size_t Router::waiting_bytes(ClientId id) const {
  const Client* const client = clients_.find_client(id);
  return client == nullptr ? 0 : client->waiting.held() + client->control.held();
}

bool Router::http_callers_may_look() const {
  const PolicyRule* const rule = permissions_.rule_for_http();
  return rule == nullptr || !rule->is_none();
}

const HeadersOfTools& Router::headers_of_tools() const { return tools_.annotations(); }

void Router::client_line(ClientId id, ReceivedText line) {
  Client* const client = clients_.find_client(id);
  if (client == nullptr) return;
  context_.log.body("from a client", {.client = id}, line.bytes);
  if (is_batch(line.bytes)) {
    client_batch(*client, line.bytes);
  } else {
    client_frame(*client, parse_received(std::move(line)));
  }
}

void Router::client_batch(Client& client, std::string_view line) {
  auto batch = parse_batch(line);
  if (const auto* fault = std::get_if<FrameFault>(&batch)) {
    reply_invalid(client, fault->code, fault->reason);
    return;
  }
  for (ParsedFrame& parsed : std::get<0>(batch)) client_frame(client, std::move(parsed));
}

void Router::client_message(ClientId id, Frame message) {
  Client* const client = clients_.find_client(id);
  if (client == nullptr) return;
  context_.log.body("from a client", {.client = id}, message.bytes);
  client_frame(*client, std::move(message));
}

std::string Router::client_request_for_later(ClientId id, Frame request) {
  Client* const client = clients_.find_client(id);
  if (client == nullptr) return {};
  context_.log.body("from a client", {.client = id}, request.bytes);
  const bool can_be_kept =
      options_.control && !is_control(request) && !request.is_modern() &&
      wrong_kind(request) == nullptr && !asks_more_than_jobs(*client) &&
      (client->rule == nullptr || permissions_.allows(*client, request, tools()));
  std::string name = can_be_kept ? control_.keep_for_later(*client, request) : std::string();
  if (name.empty()) {
    client_frame(*client, std::move(request));
  } else {
    note_kind(*client, request);
    if (audit_ != nullptr) audit_->kept_as_job(*client, request, name);
  }
  return name;
}

/// Whether a modern upstream may ask this client questions that no job answers.
bool Router::asks_more_than_jobs(const Client& client) const {
  return context_.session.side_for(Era::legacy) == Era::modern &&
         (client.declared.covers("sampling/createMessage",
                                 asked_for("sampling/createMessage", {})) ||
          client.declared.covers("roots/list", asked_for("roots/list", {})));
}

void Router::client_oversized_line(ClientId id) {
  Client* const client = clients_.find_client(id);
  if (client == nullptr) return;
  reply_invalid(*client, json_rpc::invalid_request,
                fmt::format("Invalid Request: the line is over the limit of {} bytes (--max-frame)",
                            options_.max_frame));
}

void Router::reply_invalid(Client& client, int code, std::string_view reason) {
  ++statistics_.invalid_frames;
  if (client.channel.congested() && !client.channel.pause_input()) {
    context_.log.peer(LogLevel::warning, "invalid frame unanswered", {.client = client.id()},
                      "an invalid frame was not answered: its client's queue is full");
    return;
  }
  client.channel.send(error_reply("null", code, reason));
}

/// What a client's frame is, and which part handles it.
void Router::client_frame(Client& client, ParsedFrame&& parsed) {
  if (const auto* fault = std::get_if<FrameFault>(&parsed)) {
    reply_invalid(client, fault->code, fault->reason);
    return;
  }
  Frame& frame = std::get<Frame>(parsed);
  if (frame.id_is_null) {
    reply_invalid(client, json_rpc::invalid_request, "Invalid Request: id is null");
    return;
  }
  if (const MessageTap& tap = context_.session.tap(); tap.is_watched()) [[unlikely]] {
    const bool confidential = is_control(frame) && control_.facts_of(frame.method).is_confidential;
    tap.passed(Passage::from_client, client.id(), frame.bytes, confidential);
  }
  if (audit_ != nullptr && frame.is_request()) audit_->came(client, frame);
  if (const char* reason = wrong_kind(frame)) {
    refuse_kind(client, frame, reason);
    return;
  }
  note_kind(client, frame);
  if (frame.is_response()) {
    questions_.answer(client, std::move(frame));
  } else if (!frame.is_request()) {
    client_notification(client, std::move(frame));
  } else if (is_control(frame)) {
    if (client.rule == nullptr || !refuse_control(client, frame))
      control_.queue_request(client, std::move(frame));
  } else {
    ++statistics_.requests;
    if (frame.is_modern() && refuse_modern(client, frame)) return;
    const bool is_judged_later = permissions_.needs_tools(client, nullptr, frame, tools());
    if (client.rule != nullptr && !is_judged_later && refuse_by_policy(client, frame)) return;
    if (frame.method == "initialize"sv) note_initialize(client, frame);
    frames_.queue_frame(client, std::move(frame));
  }
}

void Router::refuse_kind(Client& client, const Frame& frame, std::string_view reason) {
  if (!frame.is_request()) {
    reply_invalid(client, json_rpc::invalid_request, reason);
    return;
  }
  ++statistics_.invalid_frames;
  const std::string_view id = frame.text(frame.id);
  client.channel.answer(id, error_reply(id, json_rpc::invalid_request, reason),
                        AnswerOrder::in_order);
}

bool Router::is_control(const Frame& frame) const {
  return options_.control && frame.method.starts_with("bridge/");
}

// The first frames of a connection show whether it takes notifications (BEHAVIOUR, "Ring: what
// takes nothing").
void Router::note_kind(Client& client, const Frame& frame) {
  const bool ordinary = !is_control(frame) && frame.method != "server/discover"sv;
  const ClientFacts::Sent sent = ordinary ? ClientFacts::Sent::ordinary : ClientFacts::Sent::looks;
  const bool is_news = client.sent < sent;
  if (is_news) client.sent = sent;
  if (ordinary) {
    const bool is_modern = frame.is_modern() || (client.era == Era::modern && !frame.is_request());
    (is_modern ? served_modern_ : served_legacy_) = true;
  }
  if (frame.is_modern()) {
    // A modern client gets ring entries only through subscriptions/listen.
    if (client.era == Era::legacy) client.channel.give_back_feed();
    client.era = Era::modern;
    if (is_news) frames_.choose_served();
    return;
  }
  const bool turns = client.era == Era::modern && frame.is_request() && ordinary;
  if (turns) client.era = Era::legacy;
  if (!is_news && !turns) return;
  frames_.choose_served();  // it no longer only looks on
  if (client.era == Era::modern) return;
  if (!client.peeks && frames_.is_served(client))
    client.channel.set_feed(client.is_observer() ? RingFeed::reads : RingFeed::takes);
}

/// Answers requests that no server of the client's revision could serve.
bool Router::refuse_modern(Client& client, const Frame& request) {
  const std::string error = modern_request_error(request);
  if (error.empty()) return false;
  request_log_.answer_error(client, request, error);
  return true;
}

/// Answers what the policy does not allow; false if it is allowed.
bool Router::refuse_by_policy(Client& client, const Frame& request) {
  const auto refusal = permissions_.refusal(client, request, tools());
  if (!refusal) return false;
  request_log_.deny(client, request.method, request.text(request.id), *refusal);
  return true;
}

/// The same for a submission; ControlRequests denies what clients without a rule ask.
bool Router::refuse_control(Client& client, const Frame& request) {
  if (!client.may_take_part() || request.method != "bridge/submit"sv ||
      permissions_.needs_tools(client, nullptr, request, tools()))
    return false;
  const auto refusal = permissions_.refusal(client, request, tools());
  if (!refusal) return false;
  ++statistics_.control_requests;
  const std::string_view id = request.text(request.id);
  client.channel.answer(id, error_reply(id, *refusal), AnswerOrder::in_order);
  return true;
}

void Router::note_initialize(Client& client, const Frame& initialize) {
  const std::string_view params = initialize.text(initialize.params);
  client.capabilities = for_each_request(find_member(params, "capabilities").value_or(""));
  client.info = for_each_request(find_member(params, "clientInfo").value_or(""));
  client.declared.initialize(find_member(params, "capabilities").value_or(""));
}

void Router::client_notification(Client& client, Frame frame) {
  if (is_control(frame)) {
    control_notification(client, frame);
  } else if (frame.method == "notifications/initialized") {
    client.declared.initialized();  // the bridge has sent its own, once
    questions_.offer_parked();
  } else if (frame.method == "notifications/cancelled") {
    const std::string_view wanted = frame.text(frame.request_id);
    if (!wanted.empty() && !frames_.cancel(client, wanted) && !listens_.cancel(client, wanted) &&
        !control_.cancel(client, wanted))
      in_flight_.cancel(client, std::string(wanted), {}, std::move(frame));
  } else if (checks_.is_denied(client, frame)) {
    ++statistics_.dropped_notifications;
  } else {
    if (frame.method == "notifications/tasks/status")
      questions_.answerers().told_of_task(client, frame);
    frames_.queue_frame(client, std::move(frame));
  }
}

std::optional<Failure> Router::refusal_to_ask(const Client& client, std::string_view raw_id) {
  if (audit_ != nullptr && !audit_->may_send(client.id(), raw_id))
    return failure_of(ErrorKind::audit, Delivered::no, std::string(unrecorded_refusal));
  return permissions_.take_token(client);
}

void Router::control_notification(Client& client, const Frame& frame) {
  if (frame.method == "bridge/peek") {
    client.peeks = true;
    client.channel.set_feed(RingFeed::none);
  } else if (frame.method != "bridge/answers") {
    return;
  } else if (client.declared.name_methods(frame.text(frame.params))) {
    questions_.offer_parked();
  } else {
    context_.log.peer(
        LogLevel::warning, "declaration ignored", {.client = client.id()},
        "bridge/answers needs params {{\"methods\": [NAME, ...]}} with at most {} names",
        DeclaredAnswers::max_methods);
  }
}

}  // namespace bridge
