#include "router/client_receiver.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>
#include <variant>

#include "json/json_scanner.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/methods.hpp"
#include "mcp/request_meta.hpp"

namespace bridge {

using namespace std::string_view_literals;

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

void ClientReceiver::client_connected(ClientChannel& channel) {
  Client& client = parts_.clients.add_client(channel, context_.session.tap(), parts_.budget);
  if (channel.identity().grant) {
    ++parts_.permissions.grants().counts.used;
    set_grant(client, *channel.identity().grant);
  }
  take_rule(client);
  const ClientIdentity& identity = channel.identity();
  context_.log.event(LogLevel::debug, "client connected", {.client = identity.id},
                     "a client has connected: {}, pid {}, uid {}", identity.kind, identity.pid,
                     identity.uid);
  parts_.frames.client_connected(client);
}

void ClientReceiver::take_rule(Client& client) {
  parts_.permissions.take_rule(client);
  if (!parts_.permissions.is_on()) return;
  client.channel.show_only(client.rule != nullptr ? ring_filter_of(*client.rule) : nullptr);
}

void ClientReceiver::set_grant(Client& client, GrantHold hold) {
  parts_.permissions.grant_is_used();
  if (!hold.is_refused()) client.user = user_of(hold.first_issuer);
  client.grant = std::move(hold);
}

void ClientReceiver::use_grant(Client& client, GrantHold hold) {
  set_grant(client, std::move(hold));
  take_rule(client);
  if (parts_.audit != nullptr) {
    std::set<std::string_view> sent;
    for (const UpstreamId id : client.in_flight) {
      if (const Call* const call = parts_.in_flight.find_call(id))
        sent.insert(call->client_request_id);
    }
    parts_.audit->grant_changed(client, sent);
  }
  parts_.questions.policy_changed();
  parts_.frames.policy_changed(&client);
}

std::variant<GrantHold, GrantEnd> ClientReceiver::verify_grant(std::string_view string) {
  Grants& grants = parts_.permissions.grants();
  auto verified = grants.verify(string, parts_.permissions.now());
  if (const auto* const end = std::get_if<GrantEnd>(&verified))
    ++grants.counts.refused[static_cast<std::size_t>(*end)];
  return verified;
}

void ClientReceiver::client_half_closed(ClientId id) {
  Client* const client = parts_.clients.find_client(id);
  if (client == nullptr) return;
  client->half_closed = true;
  parts_.questions.client_half_closed(*client);
  parts_.control.client_half_closed(*client);
  parts_.clients.finish_if_done(*client);
}

void ClientReceiver::client_left(ClientId id) {
  Client* const client = parts_.clients.find_client(id);
  if (client == nullptr) return;
  context_.log.event(LogLevel::debug, "client left", {.client = id},
                     "a client has left, with {} requests in flight", client->in_flight.size());
  drop_client(*client);
}

void ClientReceiver::client_done(Client& client) {
  ClientChannel& channel = client.channel.transport();
  context_.log.event(LogLevel::debug, "client done", {.client = client.id()},
                     "a client has had all its answers");
  drop_client(client);
  channel.finish();
}

/// The client is gone or done: settles what it leaves behind, then serves the next one.
void ClientReceiver::drop_client(Client& client) {
  const std::unique_ptr<Client> until_the_end = parts_.clients.take_client(client);
  parts_.restorable.subscriptions().client_left(client.id());
  parts_.listens.client_left(client);
  parts_.frames.client_left(client);
  parts_.in_flight.client_left(client);
  parts_.questions.client_left(client);
  parts_.control.client_left(client);
  if (parts_.audit != nullptr) parts_.audit->client_left(client.id());
  parts_.frames.choose_served();
}

void ClientReceiver::client_congestion(ClientId id, bool congested) {
  Client* const client = parts_.clients.find_client(id);
  if (client == nullptr) return;
  parts_.in_flight.pause_answers(*client, congested);
  if (!congested) parts_.listens.proceed(*client);
  if (!congested) parts_.frames.client_proceeds(*client);
  if (!congested) parts_.control.answer_waiting(*client);
}

void ClientReceiver::client_can_be_asked(ClientId id) {
  parts_.questions.offer_parked();
  if (const Client* const client = parts_.clients.find_client(id))
    parts_.control.client_can_be_asked(*client);
}

std::size_t ClientReceiver::waiting_bytes(ClientId id) const {
  const Client* const client = parts_.clients.find_client(id);
  return client == nullptr ? 0 : client->waiting.held() + client->control.held();
}

bool ClientReceiver::http_callers_may_look() const {
  const PolicyRule* const rule = parts_.permissions.rule_for_http();
  return rule == nullptr || !rule->is_none();
}

bool ClientReceiver::may_look(const ClientIdentity& caller) const {
  const PolicyRule* const rule = parts_.permissions.rule_for(caller.peer(), caller.grant);
  return rule == nullptr || !rule->is_none();
}

void ClientReceiver::client_line(ClientId id, ReceivedText line) {
  Client* const client = parts_.clients.find_client(id);
  if (client == nullptr) return;
  context_.log.body("from a client", {.client = id}, line.bytes);
  if (is_batch(line.bytes)) {
    client_batch(*client, line.bytes);
  } else {
    client_frame(*client, parse_received(std::move(line)));
  }
}

void ClientReceiver::client_batch(Client& client, std::string_view line) {
  auto batch = parse_batch(line);
  if (const auto* fault = std::get_if<FrameFault>(&batch)) {
    reply_invalid(client, fault->code, fault->reason);
    return;
  }
  for (ParsedFrame& parsed : std::get<0>(batch)) client_frame(client, std::move(parsed));
}

void ClientReceiver::client_message(ClientId id, Frame message) {
  Client* const client = parts_.clients.find_client(id);
  if (client == nullptr) return;
  context_.log.body("from a client", {.client = id}, message.bytes);
  client_frame(*client, std::move(message));
}

std::string ClientReceiver::client_request_for_later(ClientId id, Frame request) {
  Client* const client = parts_.clients.find_client(id);
  if (client == nullptr) return {};
  context_.log.body("from a client", {.client = id}, request.bytes);
  const bool can_be_kept =
      parts_.options.control && !is_control(request) && !request.is_modern() &&
      wrong_kind(request) == nullptr && !asks_more_than_jobs(*client) &&
      (client->rule == nullptr || parts_.permissions.allows(*client, request, parts_.tools.list()));
  std::string name = can_be_kept ? parts_.control.keep_for_later(*client, request) : std::string();
  if (name.empty()) {
    client_frame(*client, std::move(request));
  } else {
    note_kind(*client, request);
    if (parts_.audit != nullptr) parts_.audit->kept_as_job(*client, request, name);
  }
  return name;
}

/// Whether a modern upstream may ask this client questions that no job answers.
bool ClientReceiver::asks_more_than_jobs(const Client& client) const {
  return !context_.session.serving_initialize().sender().is_stateful() &&
         (client.declared.covers("sampling/createMessage",
                                 asked_for("sampling/createMessage", {})) ||
          client.declared.covers("roots/list", asked_for("roots/list", {})));
}

void ClientReceiver::client_oversized_line(ClientId id) {
  Client* const client = parts_.clients.find_client(id);
  if (client == nullptr) return;
  reply_invalid(*client, json_rpc::invalid_request,
                fmt::format("Invalid Request: the line is over the limit of {} bytes (--max-frame)",
                            parts_.options.max_frame));
}

void ClientReceiver::reply_invalid(Client& client, int code, std::string_view reason) {
  ++parts_.statistics.invalid_frames;
  if (client.channel.congested() && !client.channel.pause_input()) {
    context_.log.peer(LogLevel::warning, "invalid frame unanswered", {.client = client.id()},
                      "an invalid frame was not answered: its client's queue is full");
    return;
  }
  client.channel.send(error_reply("null", code, reason));
}

/// What a client's frame is, and which part handles it.
void ClientReceiver::client_frame(Client& client, ParsedFrame&& parsed) {
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
    const bool confidential =
        is_control(frame) && parts_.control.facts_of(frame.method).is_confidential;
    tap.passed(Passage::from_client, client.id(), frame.bytes, confidential);
  }
  if (client.grant && parts_.permissions.has_just_expired(*client.grant))
    parts_.permissions.expire_grants();
  if (parts_.audit != nullptr && frame.is_request()) parts_.audit->came(client, frame);
  if (const char* reason = wrong_kind(frame)) {
    refuse_kind(client, frame, reason);
    return;
  }
  note_kind(client, frame);
  if (frame.method == "bridge/use"sv && !is_control(frame)) {
    refuse_grant(client, frame);
  } else if (frame.is_response()) {
    parts_.questions.answer(client, std::move(frame));
  } else if (!frame.is_request()) {
    client_notification(client, std::move(frame));
  } else if (is_control(frame)) {
    if (client.rule == nullptr || !refuse_control(client, frame))
      parts_.control.queue_request(client, std::move(frame));
  } else {
    ++parts_.statistics.requests;
    if (frame.is_modern() && refuse_modern(client, frame)) return;
    const bool is_judged_later =
        parts_.permissions.needs_tools(client, nullptr, frame, parts_.tools.list());
    if (client.rule != nullptr && !is_judged_later && refuse_by_policy(client, frame)) return;
    if (frame.method == "initialize"sv) note_initialize(client, frame);
    parts_.frames.queue_frame(client, std::move(frame));
  }
}

/// With --no-control: the upstream gets no string, and what follows was meant for the grant.
void ClientReceiver::refuse_grant(Client& client, const Frame& frame) {
  if (!client.channel.identity().is_http()) use_grant(client, {});
  ++parts_.permissions.grants().counts.refused[static_cast<std::size_t>(GrantEnd::invalid)];
  if (!frame.is_request()) return;
  const std::string_view id = frame.text(frame.id);
  client.channel.answer(
      id,
      error_reply(id, definitive_failure_of(ErrorKind::denied,
                                            "this daemon takes no grants here (--no-control)")),
      AnswerOrder::in_order);
}

void ClientReceiver::refuse_kind(Client& client, const Frame& frame, std::string_view reason) {
  if (!frame.is_request()) {
    reply_invalid(client, json_rpc::invalid_request, reason);
    return;
  }
  ++parts_.statistics.invalid_frames;
  const std::string_view id = frame.text(frame.id);
  client.channel.answer(id, error_reply(id, json_rpc::invalid_request, reason),
                        AnswerOrder::in_order);
}

bool ClientReceiver::is_control(const Frame& frame) const {
  return parts_.options.control && frame.method.starts_with("bridge/");
}

// The first frames of a connection show whether it takes notifications (BEHAVIOUR, "Ring: what
// takes nothing").
void ClientReceiver::note_kind(Client& client, const Frame& frame) {
  if (frame.method == "bridge/use"sv) return;  // it comes before all others, whatever they are
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
    if (is_news) parts_.frames.choose_served();
    return;
  }
  const bool turns = client.era == Era::modern && frame.is_request() && ordinary;
  if (turns) client.era = Era::legacy;
  if (!is_news && !turns) return;
  parts_.frames.choose_served();  // it no longer only looks on
  if (client.takes_from_ring() && parts_.frames.is_served(client))
    client.channel.set_feed(client.is_observer() ? RingFeed::reads : RingFeed::takes);
}

/// Answers requests that no server of the client's revision could serve.
bool ClientReceiver::refuse_modern(Client& client, const Frame& request) {
  const std::string error = modern_request_error(request);
  if (error.empty()) return false;
  parts_.request_log.answer_error(client, request, error);
  return true;
}

/// Answers what the policy does not allow; false if it is allowed.
bool ClientReceiver::refuse_by_policy(Client& client, const Frame& request) {
  const auto refusal = parts_.permissions.refusal(client, request, parts_.tools.list());
  if (!refusal) return false;
  parts_.request_log.deny(client, request.method, request.text(request.id), *refusal);
  return true;
}

/// The same for a submission; ControlRequests denies what clients without a rule ask.
bool ClientReceiver::refuse_control(Client& client, const Frame& request) {
  if (!client.may_take_part() || request.method != "bridge/submit"sv ||
      parts_.permissions.needs_tools(client, nullptr, request, parts_.tools.list()))
    return false;
  const auto refusal = parts_.permissions.refusal(client, request, parts_.tools.list());
  if (!refusal) return false;
  ++parts_.statistics.control_requests;
  const std::string_view id = request.text(request.id);
  client.channel.answer(id, error_reply(id, *refusal), AnswerOrder::in_order);
  return true;
}

void ClientReceiver::note_initialize(Client& client, const Frame& initialize) {
  const std::string_view params = initialize.text(initialize.params);
  client.capabilities = for_each_request(find_member(params, "capabilities").value_or(""));
  client.info = for_each_request(find_member(params, "clientInfo").value_or(""));
  client.declared.initialize(find_member(params, "capabilities").value_or(""));
}

void ClientReceiver::client_notification(Client& client, Frame frame) {
  if (is_control(frame)) {
    control_notification(client, frame);
  } else if (frame.method == "notifications/initialized") {
    client.declared.initialized();  // the bridge has sent its own, once
    parts_.questions.offer_parked();
  } else if (frame.method == "notifications/cancelled") {
    const std::string_view wanted = frame.text(frame.request_id);
    if (!wanted.empty() && !parts_.frames.cancel(client, wanted) &&
        !parts_.listens.cancel(client, wanted) && !parts_.control.cancel(client, wanted))
      parts_.in_flight.cancel(client, std::string(wanted), {}, std::move(frame));
  } else if (parts_.checks.is_denied(client, frame)) {
    ++parts_.statistics.dropped_notifications;
  } else {
    if (frame.method == "notifications/tasks/status")
      parts_.questions.answerers().told_of_task(client, frame);
    parts_.frames.queue_frame(client, std::move(frame));
  }
}

std::optional<Failure> ClientReceiver::refusal_to_ask(const Client& client, std::string_view raw_id,
                                                      std::uint64_t calls) {
  if (parts_.audit != nullptr && !parts_.audit->may_send(client.id(), raw_id))
    return failure_of(ErrorKind::audit, Delivered::no, std::string(unrecorded_refusal));
  return parts_.permissions.take_token(client, 1, calls);
}

void ClientReceiver::control_notification(Client& client, const Frame& frame) {
  if (frame.method == "bridge/peek") {
    client.peeks = true;
    client.channel.set_feed(RingFeed::none);
  } else if (frame.method != "bridge/answers") {
    return;
  } else if (client.declared.name_methods(frame.text(frame.params))) {
    parts_.questions.offer_parked();
  } else {
    context_.log.peer(
        LogLevel::warning, "declaration ignored", {.client = client.id()},
        "bridge/answers needs params {{\"methods\": [NAME, ...]}} with at most {} names",
        DeclaredAnswers::max_methods);
  }
}

}  // namespace bridge
