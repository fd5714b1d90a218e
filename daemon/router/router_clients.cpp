// Clients, and their frames.
#include <fmt/format.h>

#include <utility>
#include <variant>

#include "json/json_scanner.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/methods.hpp"
#include "router/router.hpp"

namespace bridge {

using namespace std::string_view_literals;
namespace {

/// What of an `initialize` goes with each of its client's requests to a modern upstream: not what
/// is long, nor what would be nested beyond the limit where it stands then. Empty: nothing.
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
  Client& client = clients_.add(channel, context_.session.tap(), budget_);
  if (client.is_job) client.declared.everything();
  const ClientIdentity& identity = channel.identity();
  context_.log.event(LogLevel::debug, "client connected", {.client = identity.id},
                     "a client has connected: {}, pid {}, uid {}", identity.kind, identity.pid,
                     identity.uid);
  frames_.client_connected(client);
}

void Router::client_half_closed(ClientId id) {
  Client* const client = clients_.find(id);
  if (client == nullptr) return;
  client->half_closed = true;
  server_requests_.client_half_closed(*client);
  control_.client_half_closed(*client);
  clients_.finish_if_done(*client);
}

void Router::client_left(ClientId id) {
  Client* const client = clients_.find(id);
  if (client == nullptr) return;
  context_.log.event(LogLevel::debug, "client left", {.client = id},
                     "a client has left, with {} requests in flight", client->in_flight.size());
  drop(*client);
}

/// It is gone, or done: what it leaves behind is settled, then the next one is served.
void Router::drop(Client& client) {
  const std::unique_ptr<Client> until_the_end = clients_.take(client);
  restorable_.subscriptions().client_left(client.id());
  listens_.client_left(client);
  frames_.client_left(client);
  in_flight_.client_left(client);
  server_requests_.client_left(client);
  control_.client_left(client);
  frames_.choose_served();
}

void Router::client_congestion(ClientId id, bool congested) {
  Client* const client = clients_.find(id);
  if (client == nullptr) return;
  in_flight_.pause(*client, congested);
  if (!congested) listens_.go_on(*client);
  if (!congested) control_.answer_waiting(*client);
}

void Router::set_waits_for_answer(ClientId id, std::string_view raw_id, bool waits) {
  Client* const client = clients_.find(id);
  if (client == nullptr) return;
  in_flight_.set_waits_for_answer(*client, raw_id, waits);
  if (waits) frames_.slot_freed(*client);
}

void Router::client_can_be_asked(ClientId id) {
  server_requests_.offer_parked();
  if (const Client* const client = clients_.find(id)) control_.client_can_be_asked(*client);
}

std::size_t Router::waiting_bytes(ClientId id) const {
  const Client* const client = clients_.find(id);
  return client == nullptr ? 0 : client->waiting.held() + client->control.held();
}

const HeadersOfTools& Router::headers_of_tools() const { return translator_.tools().annotations(); }

void Router::client_line(ClientId id, ReceivedText line) {
  Client* const client = clients_.find(id);
  if (client == nullptr) return;
  context_.log.body("from a client", {.client = id}, line.bytes);
  const auto fault = each_frame(
      std::move(line), [&](ParsedFrame&& parsed) { take_parsed(*client, std::move(parsed)); });
  if (fault) reply_invalid(*client, fault->code, fault->reason);
}

void Router::client_message(ClientId id, Frame message) {
  Client* const client = clients_.find(id);
  if (client == nullptr) return;
  context_.log.body("from a client", {.client = id}, message.bytes);
  take_message(*client, std::move(message));
}

std::string Router::client_request_for_later(ClientId id, Frame request) {
  Client* const client = clients_.find(id);
  if (client == nullptr) return {};
  context_.log.body("from a client", {.client = id}, request.bytes);
  const bool can_be_kept = options_.control && !is_control(request) && !request.is_modern() &&
                           wrong_kind(request) == nullptr && !asks_more_than_jobs(*client);
  std::string name = can_be_kept ? control_.keep_for_later(*client, request) : std::string();
  if (name.empty()) {
    take_message(*client, std::move(request));
  } else {
    note_kind(*client, request);
  }
  return name;
}

/// Whether a modern upstream may ask this client what no job says that it answers.
bool Router::asks_more_than_jobs(const Client& client) const {
  return context_.session.side_for(Era::legacy) == Era::modern &&
         (client.declared.covers("sampling/createMessage",
                                 asked_for("sampling/createMessage", {})) ||
          client.declared.covers("roots/list", asked_for("roots/list", {})));
}

void Router::client_oversized_line(ClientId id) {
  Client* const client = clients_.find(id);
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

void Router::take_parsed(Client& client, ParsedFrame&& parsed) {
  if (const auto* fault = std::get_if<FrameFault>(&parsed)) {
    reply_invalid(client, fault->code, fault->reason);
    return;
  }
  Frame& frame = std::get<Frame>(parsed);
  if (frame.id_is_null) {
    reply_invalid(client, json_rpc::invalid_request, "Invalid Request: id is null");
    return;
  }
  take_message(client, std::move(frame));
}

void Router::take_message(Client& client, Frame&& frame) {
  if (const MessageTap& tap = context_.session.tap(); tap.is_watched()) [[unlikely]] {
    const bool confidential = is_control(frame) && control_.facts_of(frame.method).is_confidential;
    tap.passed(Passage::from_client, client.id(), frame.bytes, confidential);
  }
  if (const char* reason = wrong_kind(frame)) {
    refuse_kind(client, frame, reason);
    return;
  }
  note_kind(client, frame);
  switch (frame.kind) {
    case FrameKind::request: client_request(client, std::move(frame)); break;
    case FrameKind::notification: client_notification(client, std::move(frame)); break;
    case FrameKind::response:
      if (!control_.take_response(client, frame)) server_requests_.answer(client, std::move(frame));
      break;
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

// What a connection sends tells whether it is there for the notifications (BEHAVIOUR, "Ring: what
// takes nothing").
void Router::note_kind(Client& client, const Frame& frame) {
  const bool ordinary = !is_control(frame) && frame.method != "server/discover"sv;
  const bool first_ordinary = ordinary && !client.seen_ordinary_frame;
  const bool first = !client.seen_frame;
  if (frame.is_modern()) {
    // It is told what it asks for: of the ring, by subscriptions/listen.
    if (client.era == Era::legacy) client.channel.give_back_feed();
    client.era = Era::modern;
    client.seen_frame = true;
    client.seen_ordinary_frame = client.seen_ordinary_frame || ordinary;
    if (first || first_ordinary) frames_.choose_served();
    return;
  }
  client.seen_frame = true;
  client.seen_ordinary_frame = client.seen_ordinary_frame || ordinary;
  const bool turns = client.era == Era::modern && frame.is_request() && ordinary;
  if (turns) client.era = Era::legacy;
  if (!first && !first_ordinary && !turns) return;
  frames_.choose_served();  // not one that only looks on, but perhaps one that has begun to speak
  if (client.era == Era::modern) return;
  if (!client.peeks && frames_.is_served(client))
    client.channel.set_feed(client.is_observer() ? RingFeed::reads : RingFeed::takes);
}

void Router::client_request(Client& client, Frame&& frame) {
  if (is_control(frame)) {
    control_.add(client, std::move(frame));
    return;
  }
  if (!client.is_bridge) ++statistics_.requests;
  if (frame.is_modern() && refuse_modern(client, frame)) return;
  if (frame.method == "initialize"sv) note_initialize(client, frame);
  frames_.add(client, std::move(frame));
}

/// Answers what no server of its revision could (EraTranslator::refusal_of).
bool Router::refuse_modern(Client& client, const Frame& request) {
  const std::string error = EraTranslator::refusal_of(request);
  if (error.empty()) return false;
  statistics_.end(class_of(request.method), Outcome::error);
  const std::string_view id = request.text(request.id);
  client.channel.answer(id, fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{}}})", id, error),
                        AnswerOrder::in_order);
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
    server_requests_.offer_parked();
  } else if (frame.method == "notifications/cancelled") {
    const std::string_view wanted = frame.text(frame.request_id);
    if (!wanted.empty() && !frames_.cancel(client, wanted) && !listens_.cancel(client, wanted) &&
        !control_.cancel(client, wanted))
      in_flight_.cancel(client, std::move(frame));
  } else {
    frames_.add(client, std::move(frame));
  }
}

void Router::control_notification(Client& client, const Frame& frame) {
  if (frame.method == "bridge/peek") {
    client.peeks = true;
    client.channel.set_feed(RingFeed::none);
  } else if (frame.method != "bridge/answers") {
    return;
  } else if (client.declared.name_methods(frame.text(frame.params))) {
    server_requests_.offer_parked();
  } else {
    context_.log.peer(
        LogLevel::warning, "declaration ignored", {.client = client.id()},
        "bridge/answers needs params {{\"methods\": [NAME, ...]}} with at most {} names",
        DeclaredAnswers::max_methods);
  }
}

}  // namespace bridge
